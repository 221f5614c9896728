package spawn

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/cgroup"
	"snens/internal/rlimit"
	"snens/internal/safefile"
)

const (
	// startLimit bounds fork and exec, which are a matter of milliseconds.
	startLimit = 10 * time.Second
	// lastWait is how long what got KILL may take to be gone.
	lastWait = 5 * time.Second
	// roomAbove keeps the program's descriptor clear of the numbers that
	// syscall.ForkExec uses in the child: the highest of the given ones and the
	// few above it.
	roomAbove = 16
)

// Runner starts actions. Its methods may be called from several goroutines.
type Runner struct {
	groups   *cgroup.Tree // nil: the fallback
	orphans  orphans
	limit    time.Duration // startLimit, lastWait
	lastWait time.Duration
}

// NewRunner makes a Runner whose actions get a control group of their own; the
// tree was probed. Without a tree the fallback holds actions together by their
// sessions and makes this process the parent of what they leave behind: good
// against forgotten processes, weaker against those that hide.
//
// What this process inherited above descriptor 2 is marked to be closed at an
// exec. A child that would get a stray descriptor all the same does not run.
func NewRunner(groups *cgroup.Tree) (*Runner, error) {
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return nil, fmt.Errorf("cannot keep inherited descriptors from children (Linux 5.11 or later is needed): %w", err)
	}
	r := &Runner{groups: groups, limit: startLimit, lastWait: lastWait}
	if groups == nil {
		if err := r.orphans.adopt(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// launch is one start under way.
type launch struct {
	spec  *Spec
	tree  tree
	path  string // what is executed
	high  int    // the program's descriptor behind path, -1 for a script
	null  int    // the null file, -1 when not needed
	files []int  // of the child
	state atomic.Int32
	pid   int
	pidfd int
	err   error
	done  chan struct{} // closed when pid, pidfd and err are set
}

// The states of a launch: who changes it from waiting decides whether the child
// runs.
const (
	waiting int32 = iota
	released
	abandoned
)

// Start runs the action. Without an error the program's exec has happened, with
// everything as the Spec says; with one (a *StartError) nothing of it has run.
// The Program and the Files may be closed afterwards, see StartError.Released.
// The end of ctx ends only a start that is under way.
func (r *Runner) Start(ctx context.Context, s Spec) (*Process, error) {
	if err := s.check(); err != nil {
		return nil, refuse("%w", err)
	}
	if err := checkRights(&s); err != nil {
		return nil, refuse("%w", err)
	}
	if err := s.Program.recheck(); err != nil {
		return nil, refuse("%w", err)
	}
	if err := checkSetID(&s); err != nil {
		return nil, refuse("%w", err)
	}
	l, err := r.prepare(&s)
	if err != nil {
		return nil, refuse("%w", err)
	}
	return r.launch(ctx, l)
}

func (r *Runner) launch(ctx context.Context, l *launch) (*Process, error) {
	go onOwnThread(l.run)
	if err := r.await(ctx, l); err != nil {
		return nil, err
	}
	if l.err != nil {
		l.tidy()
		if l.state.Load() == abandoned {
			return nil, &StartError{Words: "it was given up before it ran", Err: context.Cause(ctx)}
		}
		return nil, l.err
	}
	l.closeOurs()
	return newProcess(r, l), nil
}

// checkRights: without root there is one identity to run as.
func checkRights(s *Spec) error {
	if os.Geteuid() == 0 {
		return nil
	}
	own, err := os.Getgroups()
	if err != nil {
		return fmt.Errorf("cannot learn our own groups: %w", err)
	}
	var groups []uint32
	for _, g := range own {
		groups = append(groups, uint32(g))
	}
	if int(s.UID) != os.Geteuid() || int(s.GID) != os.Getegid() || !slices.Equal(sorted(groups), sorted(s.Groups)) {
		return fmt.Errorf("it is to run as uid %d, gid %d, groups %v, and only root can become that", s.UID, s.GID, s.Groups)
	}
	return nil
}

// checkSetID refuses what would quietly run without the rights that its file
// gives: the kernel honours them at a traced exec only when the child itself may
// trace everybody (PTRACE_TRACEME counts with the child's rights).
func checkSetID(s *Spec) error {
	if f := s.Program.image(); s.UID != 0 && (f.setID != 0 || f.caps) {
		return fmt.Errorf("%s has a set-id bit or capabilities, which have no effect when it is started directly for uid %d; start it from a script", f.Path, s.UID)
	}
	return nil
}

func (r *Runner) prepare(s *Spec) (*launch, error) {
	l := &launch{spec: s, high: -1, null: -1, pidfd: -1, done: make(chan struct{}), path: s.Program.files[0].Path}
	for _, fd := range s.Files {
		if fd == NullFile {
			if l.null < 0 {
				var err error
				if l.null, err = unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
					return nil, fmt.Errorf("cannot open the null file: %w", err)
				}
			}
			fd = l.null
		}
		l.files = append(l.files, fd)
	}
	if !s.Program.script() {
		high, err := unix.FcntlInt(uintptr(s.Program.files[0].fd), unix.F_DUPFD_CLOEXEC, slices.Max(l.files)+roomAbove)
		if err != nil {
			l.closeOurs()
			return nil, fmt.Errorf("cannot keep the program open: %w", err)
		}
		l.high, l.path = high, fmt.Sprintf("/proc/self/fd/%d", high)
	}
	t, err := r.newTree(s)
	if err != nil {
		l.closeOurs()
		return nil, err
	}
	l.tree = t
	return l, nil
}

// run is called on a thread that is not used for anything else and dies
// afterwards: it takes umask, folder and filter along.
func (l *launch) run() {
	defer close(l.done)
	if l.err = l.prepareThread(); l.err != nil {
		return
	}
	sys := &syscall.SysProcAttr{Setsid: true, PidFD: &l.pidfd}
	if os.Geteuid() == 0 {
		// In the child: setgroups, then setgid, then setuid.
		sys.Credential = &syscall.Credential{Uid: l.spec.UID, Gid: l.spec.GID, Groups: l.spec.Groups}
	}
	attr := &syscall.ProcAttr{Env: l.spec.Env, Sys: sys} // the folder is the thread's
	if attr.Env == nil {
		attr.Env = []string{} // nil would be our own environment
	}
	for _, fd := range l.files {
		attr.Files = append(attr.Files, uintptr(fd))
	}
	l.tree.attach(sys)
	lim := l.spec.Limits
	pid, err := rlimit.Start(l.path, l.spec.Argv, attr, rlimit.Limits{
		CPU: lim.CPU, OpenFiles: lim.OpenFiles, FileSize: lim.FileSize, Stopped: l.stopped,
	})
	runtime.KeepAlive(l.spec)
	if err != nil {
		l.err = l.explain(err)
		return
	}
	l.pid = pid
	l.tree.started(pid)
}

func (l *launch) explain(err error) error {
	switch err := err.(type) {
	case *StartError:
		return err
	case syscall.Errno: // of the fork, of the exec or of a step between
		return explain(l.spec, err)
	}
	return refuse("%w", err)
}

// stopped is called while the child stands at its exec.
func (l *launch) stopped(pid int) error {
	if err := l.tree.stopped(pid); err != nil {
		return refuse("%w", err)
	}
	if l.pidfd < 0 {
		return refuse("the kernel gives no pidfd; Linux 5.4 or later is needed")
	}
	if err := l.verify(pid); err != nil {
		return refuse("the child is not what it should be: %w", err)
	}
	if !l.state.CompareAndSwap(waiting, released) {
		return refuse("it was given up")
	}
	return nil
}

// await waits for the launch. After an error it is tidied up elsewhere.
func (r *Runner) await(ctx context.Context, l *launch) error {
	limit := time.NewTimer(r.limit)
	defer limit.Stop()
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
	case <-limit.C:
	}
	if !l.state.CompareAndSwap(waiting, abandoned) {
		<-l.done // it runs already, or has failed
		return nil
	}
	l.tree.send(unix.SIGKILL)
	last := time.NewTimer(r.lastWait)
	defer last.Stop()
	select {
	case <-l.done:
		return nil
	case <-last.C:
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		<-l.done
		l.tidy()
	}()
	return &StartError{Words: "it hangs in the kernel", Err: context.Cause(ctx), Released: gone}
}

// tidy gives back what a failed launch holds.
func (l *launch) tidy() {
	l.closeOurs()
	if l.pidfd >= 0 {
		unix.Close(l.pidfd)
		l.pidfd = -1
	}
	l.tree.send(unix.SIGKILL)
	l.tree.waitEmpty(lastWait)
	l.tree.close()
}

func (l *launch) closeOurs() {
	for _, fd := range []*int{&l.high, &l.null} {
		if *fd >= 0 {
			unix.Close(*fd)
			*fd = -1
		}
	}
}

// checkDir: a folder that is reached by a symlink is what was asked for only
// where nobody else can turn the symlink round.
func (l *launch) checkDir(is string) error {
	if is == l.spec.Dir {
		return nil
	}
	if err := safefile.CheckTrusted(l.spec.Dir, l.spec.Program.opener.owner); err != nil {
		return fmt.Errorf("its folder is %q, not %q, and others can change which: %w", is, l.spec.Dir, err)
	}
	return nil
}
