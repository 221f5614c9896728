package spawn

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lookAgain is how often the fallback looks whether a tree is empty.
const lookAgain = 10 * time.Millisecond

// orphans is what the fallback's trees share. An orphan is a child of this
// process that it did not start: one that an action left behind. It has another
// session than this process, because every action has.
type orphans struct {
	mu     sync.Mutex
	trees  int          // not closed; guarded by mu
	direct map[int]bool // children that were started here and not reaped; guarded by mu
	unborn int          // starts under way, whose child is in no list; guarded by mu
	marks  uint64       // given out; guarded by mu
	slack  uint64       // of our own timers; guarded by mu
}

// marksInUse bounds what is added to the slack of a child's timers: 0.1 ms.
const marksInUse = 100_000

// adopt makes this process the parent of what actions leave behind.
func (o *orphans) adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot take orphans in: %w", err)
	}
	return nil
}

func (o *orphans) newTree() tree {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.trees++
	if o.slack == 0 {
		if n, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err == nil {
			o.slack = uint64(n)
		}
	}
	o.marks++
	return &sessionTree{o: o, known: map[int]uint64{}, mark: o.slack + 1 + o.marks%marksInUse}
}

// sessionTree is an action's child, its session, their descendants, and
// everybody who was once seen to be one of these. An orphan that was never seen
// before is told by its mark: the slack of its timers, some nanoseconds that are
// inherited by forks and kept over an exec, and that a program can hardly notice.
// It takes CAP_SYS_NICE to read; an orphan without a mark belongs to the only
// action that is left.
type sessionTree struct {
	o    *orphans
	mark uint64

	pid     int            // of the child, 0 before the start; guarded by o.mu
	session bool           // pid is still its session's number; guarded by o.mu
	unborn  bool           // its start is under way; guarded by o.mu
	known   map[int]uint64 // pid to start time; guarded by o.mu
	killing bool           // KILL was sent: whoever is found gets it; guarded by o.mu
}

// attach is called on the thread that forks.
func (t *sessionTree) attach(*syscall.SysProcAttr) {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(t.mark), 0, 0, 0)
	t.o.mu.Lock()
	defer t.o.mu.Unlock()
	t.unborn = true
	t.o.unborn++
}

func (t *sessionTree) stopped(int) error { return nil }

func (t *sessionTree) started(pid int) {
	t.o.mu.Lock()
	defer t.o.mu.Unlock()
	t.born()
	if t.o.direct == nil {
		t.o.direct = map[int]bool{}
	}
	t.o.direct[pid] = true
	t.pid, t.session = pid, true
}

// born: caller holds o.mu.
func (t *sessionTree) born() {
	if t.unborn {
		t.unborn = false
		t.o.unborn--
	}
}

// reaping looks once more while the pid cannot be anybody else's: from then on
// the session counts only as long as somebody is in it.
func (t *sessionTree) reaping() {
	t.look()
	t.o.mu.Lock()
	defer t.o.mu.Unlock()
	delete(t.o.direct, t.pid)
}

// look takes a picture of all processes and gives the living members.
func (t *sessionTree) look() []process {
	t.o.mu.Lock()
	defer t.o.mu.Unlock()
	if t.pid == 0 {
		return nil
	}
	all := allProcesses()
	self, own := os.Getpid(), 0
	if me, ok := lookAt(self); ok {
		own = me.sid
	}
	last := t.o.trees == 1 && t.o.unborn == 0
	inSession := false
	member := map[int]bool{}
	for pid, p := range all {
		start, seen := t.known[pid]
		switch {
		case t.session && p.sid == t.pid:
			member[pid], inSession = true, true
		case seen && start == p.start:
			member[pid] = true
		case p.ppid == self && p.sid != own && !t.o.direct[pid]:
			mark := markOf(pid)
			if mark == t.mark || (last && (mark <= t.o.slack || mark > t.o.slack+marksInUse)) {
				member[pid] = true
			}
		}
	}
	t.session = inSession
	for grown := true; grown; {
		grown = false
		for pid, p := range all {
			if !member[pid] && member[p.ppid] && pid != self {
				member[pid], grown = true, true
			}
		}
	}
	var living []process
	clear(t.known)
	for pid := range member {
		p := all[pid]
		t.known[pid] = p.start
		switch {
		case !p.dead():
			living = append(living, p)
		case p.ppid == self && !t.o.direct[pid]:
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
	}
	return living
}

// markOf is 0 where there is none or it may not be read.
func markOf(pid int) uint64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/timerslack_ns")
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
	return n
}

func (t *sessionTree) send(sig syscall.Signal) {
	t.o.mu.Lock()
	t.killing = t.killing || sig == unix.SIGKILL
	t.o.mu.Unlock()
	for _, p := range t.look() {
		p.send(sig)
	}
}

func (t *sessionTree) waitEmpty(d time.Duration) bool {
	end := time.NewTimer(d)
	defer end.Stop()
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for {
		living := t.look()
		if len(living) == 0 {
			return true
		}
		t.o.mu.Lock()
		killing := t.killing
		t.o.mu.Unlock()
		if killing {
			for _, p := range living {
				p.send(unix.SIGKILL)
			}
		}
		select {
		case <-end.C:
			return false
		case <-again.C:
		}
	}
}

func (t *sessionTree) members() []int {
	var pids []int
	for _, p := range t.look() {
		pids = append(pids, p.pid)
	}
	return pids
}

func (t *sessionTree) oom() bool     { return false }
func (t *sessionTree) group() string { return "" }

func (t *sessionTree) close() {
	t.o.mu.Lock()
	defer t.o.mu.Unlock()
	t.born()
	delete(t.o.direct, t.pid)
	t.o.trees--
}
