package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stopper is a running process tree, as the watch over the signals sees it.
type stopper interface {
	Stop()    // TERM, grace, KILL
	Kill()    // at once
	Suspend() // and back:
	Resume()
}

// watch passes the signals of the terminal and of the system on to what is
// being done: INT, TERM, HUP and QUIT end it in order, a second INT at once;
// TSTP and CONT act on the tree and on snens together. What was ignored when
// snens was started (nohup, a background job) stays ignored.
type watch struct {
	signals chan os.Signal
	done    chan struct{} // closed when the loop has ended
	cancel  context.CancelFunc
	suspend func()        // stops snens itself
	alone   func() bool   // nobody could continue us
	goOn    chan struct{} // one element: CONT came

	mu   sync.Mutex
	tree stopper        // guarded by mu; nil while nothing runs
	tty  *os.File       // guarded by mu; what the tree reads, when it asks for input
	got  syscall.Signal // guarded by mu; the first signal that asked for an end
}

// newWatch begins to watch. The context it returns ends with the first signal
// that asks for an end. The caller calls close.
func newWatch() (*watch, context.Context) {
	ctx, cancel := context.WithCancel(context.Background())
	w := &watch{
		signals: make(chan os.Signal, 16),
		done:    make(chan struct{}),
		cancel:  cancel,
		suspend: suspendSelf,
		alone:   orphaned,
		goOn:    make(chan struct{}, 1),
	}
	if wanted := wantedSignals(); len(wanted) > 0 {
		signal.Notify(w.signals, wanted...)
	}
	go w.loop()
	return w, ctx
}

// wantedSignals are those of ours that were not ignored at the start. The Go
// runtime takes QUIT over before anybody can ask; shells ignore it together
// with INT in background jobs, so it follows INT.
func wantedSignals() []os.Signal {
	var wanted []os.Signal
	for _, sig := range []syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGTSTP} {
		if !ignored(sig) {
			wanted = append(wanted, sig)
		}
	}
	if ignored(unix.SIGINT) {
		signal.Ignore(unix.SIGQUIT)
	} else {
		wanted = append(wanted, unix.SIGQUIT)
	}
	return append(wanted, unix.SIGTERM, unix.SIGCONT)
}

// ignored asks the kernel whether this process ignores a signal.
func ignored(sig syscall.Signal) bool {
	var action [8]uintptr // struct sigaction begins with the handler
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), 0,
		uintptr(unsafe.Pointer(&action)), 8, 0, 0)
	const ignore = 1
	return errno == 0 && action[0] == ignore
}

func (w *watch) loop() {
	defer close(w.done)
	for sig := range w.signals {
		switch sig := sig.(type) {
		case syscall.Signal:
			w.take(sig)
		case settled:
			close(sig)
		}
	}
}

// take acts on one signal.
func (w *watch) take(sig syscall.Signal) {
	w.mu.Lock()
	tree, tty, first := w.tree, w.tty, w.got == 0
	ends := sig != unix.SIGTSTP && sig != unix.SIGCONT
	if ends && first {
		w.got = sig
	}
	w.mu.Unlock()

	switch {
	case sig == unix.SIGTSTP && w.alone():
		// By the rules of job control TSTP has no effect here.
	case sig == unix.SIGTSTP:
		if tree != nil {
			tree.Suspend()
		}
		w.suspend()
	case sig == unix.SIGCONT:
		select {
		case w.goOn <- struct{}{}:
		default:
		}
		// Sent to the background (bg), a tool that reads would take what is typed
		// for the shell: the job stops again.
		if tree != nil && !(tty != nil && w.stopForInput(tty)) {
			tree.Resume()
		}
	case tree == nil:
		w.cancel()
	case sig == unix.SIGINT && !first:
		tree.Kill()
	default:
		tree.Stop()
	}
}

// runs tells the watch what now runs, and what terminal it asks for input (nil
// for none); a signal that came before ends it.
func (w *watch) runs(tree stopper, tty *os.File) {
	w.mu.Lock()
	w.tree, w.tty = tree, tty
	got := w.got
	w.mu.Unlock()
	if got != 0 {
		tree.Stop()
	}
}

// asked is the first signal that asked for an end, 0 when none did.
func (w *watch) asked() syscall.Signal {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.got
}

// close ends the watch. The signals have their usual effect again.
func (w *watch) close() {
	signal.Stop(w.signals)
	close(w.signals)
	<-w.done
	w.cancel()
}

// suspendSelf stops this process as Ctrl-Z does. STOP cannot be refused: the
// caller has seen that somebody can continue us.
func suspendSelf() { _ = unix.Kill(os.Getpid(), unix.SIGSTOP) }

// orphaned says whether no ancestor outside of our process group, but in our
// session, is there to continue us. The first process of a container counts as
// any other: its shell may be that. A real init has a session of its own.
func orphaned() bool {
	group, err := unix.Getpgid(0)
	if err != nil {
		return true
	}
	session, err := unix.Getsid(0)
	if err != nil {
		return true
	}
	for pid := os.Getppid(); pid > 0; pid = parent(pid) {
		if s, err := unix.Getsid(pid); err != nil || s != session {
			return true
		}
		if g, err := unix.Getpgid(pid); err != nil || g != group {
			return err != nil
		}
	}
	return true
}

// endBySignal lets this process die of INT, so that a shell's loop around it
// ends too. It returns when that is not possible.
func (a *app) endBySignal(sig syscall.Signal) {
	if sig != unix.SIGINT || ignored(sig) {
		return
	}
	_ = a.out.flush()
	signal.Reset(sig)
	// To this very thread: the kernel delivers it before the call returns, while
	// a signal to the process could come after our exit.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), sig)
}
