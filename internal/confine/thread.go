package confine

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Thread is an OS thread under rules that starts one child after the other:
// for many children under the same rules, each of which then costs nothing but
// its start. They share one Landlock domain.
type Thread struct {
	jobs  chan func() error
	done  chan error    // the answer to each job
	ended chan struct{} // closed when the goroutine has ended
}

// NewThread puts the rules in force on a fresh thread. The errors are those of
// Run. The caller calls Close.
func NewThread(r Rules) (*Thread, error) {
	s := Supported()
	if !s.OK() {
		return nil, &UnsupportedError{Missing: s.Missing}
	}
	set, err := newRuleset(r, s)
	if err != nil {
		return nil, &SetupError{err}
	}
	defer unix.Close(set)
	prog := filter(r, s.Landlock)
	t := &Thread{jobs: make(chan func() error), done: make(chan error), ended: make(chan struct{})}
	go t.serve(func() error { return restrictThread(set, prog) }, make(chan struct{}))
	if err := <-t.done; err != nil {
		<-t.ended
		return nil, &SetupError{err}
	}
	return t, nil
}

// Run runs f on the thread, waits for it and returns its error. One f runs at a
// time. It must not be called after Close.
func (t *Thread) Run(f func() error) error {
	t.jobs <- f
	return <-t.done
}

// Close ends the thread.
func (t *Thread) Close() {
	close(t.jobs)
	<-t.ended
}

// serve answers once for the restriction, then for each job. The thread ends
// with the goroutine, since that stays locked to it.
func (t *Thread) serve(restrict func() error, settled chan struct{}) {
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		// The main thread cannot end. Held locked until the second attempt has
		// a thread, it cannot be handed out again.
		go t.serve(restrict, settled)
		<-settled
		runtime.UnlockOSThread()
		return
	}
	close(settled)
	defer close(t.ended)
	err := restrict()
	t.done <- err
	if err != nil {
		return
	}
	for f := range t.jobs {
		t.done <- f()
	}
}
