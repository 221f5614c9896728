package spawn

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// process is what /proc/PID/stat says of a process, taken at one moment.
type process struct {
	pid, ppid, sid, tty int
	start               uint64 // clock ticks since boot: with pid, the identity
	state               byte
}

// lookAt reads one process; ok is false when there is none.
func lookAt(pid int) (p process, ok bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return p, false
	}
	p, ok = parseStat(b)
	p.pid = pid
	return p, ok
}

// parseStat: the name is in parentheses and may hold any byte, these too.
func parseStat(b []byte) (p process, ok bool) {
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 20 {
		return p, false
	}
	var errs [4]error
	p.state = f[0][0]
	p.ppid, errs[0] = strconv.Atoi(f[1])
	p.sid, errs[1] = strconv.Atoi(f[3])
	p.tty, errs[2] = strconv.Atoi(f[4])
	p.start, errs[3] = strconv.ParseUint(f[19], 10, 64)
	return p, errs == [4]error{}
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
		if pid, err := strconv.Atoi(n); err == nil {
			if p, ok := lookAt(pid); ok {
				all[pid] = p
			}
		}
	}
	return all
}

// send signals exactly the process that was looked at: the pidfd is opened
// first, then the start time compared, and the signal goes through the
// descriptor.
func (p process) send(sig syscall.Signal) {
	if p.pid <= 1 || p.pid == os.Getpid() {
		return
	}
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if now, ok := lookAt(p.pid); ok && now.start == p.start {
		_ = unix.PidfdSendSignal(fd, sig, nil, 0)
	}
}
