package main

import (
	"fmt"
	"sync"
	"time"
)

// progress is the line on a terminal's stderr that says how far a long
// discovery has come. It appears after a second, and vanishes at the end.
type progress struct {
	app *app

	mu          sync.Mutex // guards what follows
	timer       *time.Timer
	done, total int
	shown       bool
	ended       bool
}

// newProgress begins to count the second. The caller calls end.
func (a *app) newProgress() *progress {
	p := &progress{app: a}
	if isTerminal(a.stderr) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.timer = time.AfterFunc(time.Second, p.show)
	}
	return p
}

// report may be called from several goroutines.
func (p *progress) report(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.total = done, total
	if p.shown {
		p.print()
	}
}

// show is called when the second is over.
func (p *progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = true
	p.print()
}

// print writes the line; the caller holds mu.
func (p *progress) print() {
	if !p.ended && p.total > 0 {
		fmt.Fprintf(p.app.notes, "\r\x1b[Kasking tools what they do: %d of %d", p.done, p.total)
	}
}

// end takes the line away.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.shown && !p.ended {
		fmt.Fprint(p.app.notes, "\r\x1b[K")
	}
	p.ended = true
}
