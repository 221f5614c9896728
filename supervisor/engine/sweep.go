package engine

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"snens/supervisor/call"
)

// orphanage knows which of our children belong to calls in progress, so that a
// sweep can tell an adopted orphan from another call's process.
type orphanage struct {
	// forking is held for reading from before a fork until the child is in
	// calls, and for writing while children are looked at: a child that nobody
	// knows yet, and that may be dead already, must not pass for an orphan.
	forking sync.RWMutex
	mu      sync.Mutex  // guards calls
	calls   map[int]int // pid of each call's child; counted, since pids come again
	// before holds the children this process had when the engine was made (a
	// shell that started some and then became snens by exec): never ours.
	before map[int]uint64
	once   sync.Once
	active atomic.Bool // this process is a subreaper, before is complete
}

// remember takes note, once, of the children there are before any call.
func (o *orphanage) remember() { o.once.Do(o.lookForChildren) }

func (o *orphanage) lookForChildren() {
	o.before = map[int]uint64{}
	for _, pid := range childrenOfOurs() {
		if p, ok := lookAt(pid); ok {
			o.before[pid] = p.start
		}
	}
	o.active.Store(true)
}

func (o *orphanage) add(pid int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.calls == nil {
		o.calls = map[int]int{}
	}
	o.calls[pid]++
}

// drop ends a call and collects the dead it left.
func (o *orphanage) drop(pid int) {
	o.mu.Lock()
	if o.calls[pid]--; o.calls[pid] <= 0 {
		delete(o.calls, pid)
	}
	o.mu.Unlock()
	o.collect()
}

// collect reaps what a subreaper adopted and what has died since. Every process
// of a call is in another session than ours, since a call's child leads one:
// that tells them from children that other code of this process waits for.
func (o *orphanage) collect() {
	if !o.active.Load() {
		return
	}
	us, ok := lookAt(os.Getpid())
	if !ok {
		return
	}
	o.forking.Lock()
	defer o.forking.Unlock()
	calls := o.snapshot()
	for _, pid := range childrenOfOurs() {
		p, ok := lookAt(pid)
		if ok && p.dead() && !calls[pid] && p.sid != us.sid && o.before[pid] != p.start {
			p.reap()
		}
	}
}

// childrenOfOurs lists the pids of our children, dead ones too.
func childrenOfOurs() (pids []int) {
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, f := range tasks {
		b, _ := os.ReadFile(f) // a thread that ended meanwhile has none
		for _, f := range strings.Fields(string(b)) {
			if pid, err := strconv.Atoi(f); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// snapshot returns the pids of calls in progress.
func (o *orphanage) snapshot() map[int]bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	m := make(map[int]bool, len(o.calls))
	for pid := range o.calls {
		m[pid] = true
	}
	return m
}

// sessionTree is the fallback: the call's child leads a session, orphans come
// to the supervisor (a subreaper), and members are found by looking through
// /proc. What belongs to the call: the child, its session, what carries the
// call's id in its environment, and all their descendants. An adopted orphan
// that shows none of these belongs to the call if no other call is in progress.
// A process that changes its uid, or wipes its environment while other calls
// run, escapes: best effort, and doctor says so.
type sessionTree struct {
	id     string
	orph   *orphanage
	pid    int
	pidfd  int    // of our own child, the loop's; valid from started to exited
	start  uint64 // of pid, where the call was another supervisor's
	reaped bool
	// foreign: the call was another supervisor's, adopted orphans are not its.
	foreign bool
	known   map[int]uint64 // every member seen, pid to start time: descendants stay ours when their parent dies
}

func (t *sessionTree) attach(*syscall.SysProcAttr) {}
func (t *sessionTree) cgroup() string              { return "" }
func (t *sessionTree) oom() bool                   { return false }

func (t *sessionTree) started(pid, pidfd int) {
	t.pid, t.pidfd = pid, pidfd
	t.orph.add(pid)
}

func (t *sessionTree) exited() { t.reaped = true }

func (t *sessionTree) close() {
	if t.pid != 0 && !t.foreign {
		t.orph.drop(t.pid)
	}
}

// find takes a picture and returns the live members in it.
func (t *sessionTree) find() []process {
	if t.pid == 0 && !t.foreign {
		return nil // nothing was started
	}
	t.orph.forking.Lock()
	all := allProcesses()
	calls := t.orph.snapshot()
	t.orph.forking.Unlock()
	if t.foreign && (t.start == 0 || all[t.pid].start != t.start) {
		t.pid = 0 // gone: number and session may be somebody else's by now
	}
	member := map[int]bool{}
	for pid, p := range all {
		member[pid] = t.marked(p, calls)
	}
	// Descendants: a child of a member is one, however many steps away, unless
	// it is another call's child.
	for grew := true; grew; {
		grew = false
		for pid, p := range all {
			if !member[pid] && member[p.ppid] && (!calls[pid] || pid == t.pid) {
				member[pid], grew = true, true
			}
		}
	}
	var live []process
	for pid, is := range member {
		p := all[pid]
		switch {
		case !is || pid == os.Getpid() || p.dead():
		default:
			if t.known == nil {
				t.known = map[int]uint64{}
			}
			t.known[pid] = p.start
			live = append(live, p)
		}
	}
	return live
}

func (t *sessionTree) marked(p process, calls map[int]bool) bool {
	us := os.Getpid()
	switch {
	case p.pid == us:
		return false
	case p.pid == t.pid:
		return !t.reaped && t.pid != 0
	case calls[p.pid]:
		return false
	case t.known[p.pid] == p.start && t.known[p.pid] != 0:
		return true
	case p.sid == t.pid && t.pid != 0:
		return true
	case hasCallID(p.pid, t.id):
		return true
	case p.ppid == us && !t.foreign:
		return len(calls) == 1 && calls[t.pid] && t.orph.before[p.pid] != p.start
	}
	return false
}

func (t *sessionTree) members() []call.Survivor { return survivors(t.find()) }

func survivors(ps []process) []call.Survivor {
	out := make([]call.Survivor, 0, len(ps))
	for _, p := range ps {
		out = append(out, call.Survivor{PID: p.pid, Name: strings.ToValidUTF8(p.comm, "\uFFFD")})
	}
	return out
}

// signal does not need to find the call's own child, nor does that child's uid
// matter: its pidfd is nobody else's. Without it a program that changed its uid
// would outlive every time limit.
func (t *sessionTree) signal(sig syscall.Signal) {
	ours := t.pid != 0 && !t.reaped && !t.foreign
	if ours {
		_ = unix.PidfdSendSignal(t.pidfd, sig, nil, 0)
	}
	for _, p := range t.find() {
		if ours && p.pid == t.pid {
			continue
		}
		_ = p.sendTo(sig) // gone meanwhile, or another uid's: both are left alone
	}
}

// kill stops what it finds before it kills, so that a tree that keeps forking
// stands still; the loop calls it again until the tree is empty.
func (t *sessionTree) kill() {
	t.signal(syscall.SIGSTOP)
	t.signal(syscall.SIGKILL)
}

func (t *sessionTree) freeze(stop bool) {
	if stop {
		t.signal(syscall.SIGSTOP)
		return
	}
	t.signal(syscall.SIGCONT)
}

// empty does not count what may not be signalled: waiting for it would be in vain.
func (t *sessionTree) empty() bool {
	us := uint32(os.Geteuid())
	return !slices.ContainsFunc(t.find(), func(p process) bool { return p.uid == us })
}
