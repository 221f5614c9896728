package nspawn

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// locked is a buffer that one goroutine fills while another looks, and that
// tells when something was added.
type locked struct {
	mu    sync.Mutex
	to    *bytes.Buffer // guarded by mu
	added chan struct{} // closed and made anew at each write; guarded by mu
}

func newLocked() *locked { return &locked{to: new(bytes.Buffer), added: make(chan struct{})} }

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.added != nil {
		close(l.added)
		l.added = make(chan struct{})
	}
	return l.to.Write(p)
}

func (l *locked) String() string {
	s, _ := l.look()
	return s
}

func (l *locked) look() (string, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.String(), l.added
}

// running is a command that goes on while the test does other things.
type running struct {
	t      *testing.T
	script string
	out    *locked // both streams
	stdin  io.WriteCloser
	ended  chan struct{}
	status int // after ended
	cancel context.CancelFunc
}

// begin starts a script as a user. It is ended with the test at the latest.
func (m *machine) begin(user, script string) *running {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*stepLimit)
	cmd := m.inside(ctx, user, script, "--pipe")
	return m.launch(cmd, cancel, script)
}

func (m *machine) launch(cmd *exec.Cmd, cancel context.CancelFunc, script string) *running {
	m.t.Helper()
	r := &running{t: m.t, script: script, out: newLocked(), ended: make(chan struct{}), cancel: cancel}
	cmd.Stdout, cmd.Stderr = r.out, r.out
	var err error
	if cmd.Stdin == nil {
		r.stdin, err = cmd.StdinPipe()
		must(m.t, err)
	}
	must(m.t, cmd.Start())
	go func() {
		defer close(r.ended)
		err := cmd.Wait()
		var exit *exec.ExitError
		if r.status = cmd.ProcessState.ExitCode(); err != nil && !errors.As(err, &exit) {
			r.status = -1
		}
	}()
	m.t.Cleanup(func() { r.cancel(); <-r.ended })
	return r
}

// until waits for output that matches, and gives the groups of the match.
func (r *running) until(pattern string) []string {
	r.t.Helper()
	re := regexp.MustCompile(pattern)
	ended := false
	for {
		text, more := r.look()
		if found := re.FindStringSubmatch(text); found != nil {
			return found
		}
		if ended {
			r.t.Fatalf("%s: ended with %d and never printed %q:\n%s", r.script, r.status, pattern, text)
		}
		select {
		case <-more:
		case <-r.ended:
			ended = true // what it printed last is there by now
		}
	}
}

// wait gives all output and the exit status.
func (r *running) wait() (string, int) {
	r.t.Helper()
	<-r.ended
	return r.text(), r.status
}

// text is what was printed so far, with plain ends of lines (a terminal has
// others).
func (r *running) text() string {
	text, _ := r.look()
	return text
}

func (r *running) look() (string, <-chan struct{}) {
	text, more := r.out.look()
	return strings.ReplaceAll(text, "\r\n", "\n"), more
}
