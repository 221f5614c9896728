package main

import (
	"fmt"
	"sync"
	"time"
)

// progress is the line on a terminal's stderr that says how far a long
// discovery has come. It appears after a second, and vanishes at the end.
type progress struct {
	app   *app
	since time.Time

	mu    sync.Mutex
	shown bool // guarded by mu
	ended bool // guarded by mu
}

// newProgress begins to count the second. The caller calls end.
func (a *app) newProgress() *progress { return &progress{app: a, since: time.Now()} }

// report may be called from several goroutines.
func (p *progress) report(done, total int) {
	if time.Since(p.since) < time.Second || !isTerminal(p.app.stderr) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.shown = true
	fmt.Fprintf(p.app.stderr, "\r\x1b[Kasking tools what they do: %d of %d", done, total)
}

// end takes the line away.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown && !p.ended {
		fmt.Fprint(p.app.stderr, "\r\x1b[K")
	}
	p.ended = true
}
