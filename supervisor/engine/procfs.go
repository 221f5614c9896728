package engine

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// process is what /proc/PID/stat says of a process, taken at one moment.
type process struct {
	pid, ppid, sid int
	start          uint64 // clock ticks since boot: with pid, the identity
	state          byte
	comm           string
	uid            uint32
}

// lookAt reads one process; ok is false when there is none.
func lookAt(pid int) (p process, ok bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	b, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return p, false
	}
	// The name is in parentheses and may hold any byte, parentheses too.
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return p, false
	}
	f := strings.Fields(string(b[end+1:]))
	if len(f) < 20 {
		return p, false
	}
	p = process{pid: pid, state: f[0][0], comm: string(b[open+1 : end])}
	p.ppid, _ = strconv.Atoi(f[1])
	p.sid, _ = strconv.Atoi(f[3])
	if p.start, err = strconv.ParseUint(f[19], 10, 64); err != nil {
		return p, false
	}
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return p, false
	}
	p.uid = st.Uid
	return p, true
}

func (p process) dead() bool { return p.state == 'Z' || p.state == 'X' }

// allProcesses takes a picture of every process that can be seen.
func allProcesses() map[int]process {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	all := make(map[int]process, len(names))
	for _, n := range names {
		pid, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		if p, ok := lookAt(pid); ok {
			all[pid] = p
		}
	}
	return all
}

// hasCallID says that the process was started with SNENS_CALL_ID=id. Only the
// owner's processes can be asked.
func hasCallID(pid int, id string) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || id == "" {
		return false
	}
	want := "SNENS_CALL_ID=" + id
	for v := range bytes.SplitSeq(b, []byte{0}) {
		if string(v) == want {
			return true
		}
	}
	return false
}

// sendTo signals exactly the process that was looked at: the pidfd is opened
// first, then pid, start time and uid are compared, and the signal goes through
// the descriptor. A process of another uid is left alone.
func (p process) sendTo(sig syscall.Signal) error {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	now, ok := lookAt(p.pid)
	if !ok || now.start != p.start {
		return unix.ESRCH
	}
	if now.uid != uint32(os.Geteuid()) {
		return unix.EPERM
	}
	return unix.PidfdSendSignal(fd, sig, nil, 0)
}

// reap collects p if it is a dead child of ours. It is used for orphans that a
// subreaper adopted, never for a child that a call waits for.
func (p process) reap() {
	if p.dead() && p.ppid == os.Getpid() {
		_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil)
	}
}
