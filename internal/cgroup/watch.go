package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	killPause = 10 * time.Millisecond
	// A poll is cut short now and then, should the group vanish under it.
	pollSlice = time.Second
)

// OpenEvents opens cgroup.events. A poll for POLLPRI on it returns when the
// group becomes empty or populated (or frozen) after the last read.
func (g *Group) OpenEvents() (*os.File, error) {
	f, err := os.Open(filepath.Join(g.path, "cgroup.events"))
	if err != nil {
		return nil, fmt.Errorf("cannot watch the group: %w", err)
	}
	return f, nil
}

// Populated reports whether the group or one below it has a living process.
// One that is gone has none.
func (g *Group) Populated() (bool, error) {
	text, err := readControl(filepath.Join(g.path, "cgroup.events"))
	if gone(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot read the state of the group: %w", err)
	}
	return populated(text), nil
}

func populated(events string) bool {
	v, _ := keyed(events, "populated")
	return v != 0
}

// WaitEmpty waits up to d (without end when negative) until no process lives in
// the group and below; true means that it is empty or gone.
func (g *Group) WaitEmpty(d time.Duration) (bool, error) {
	f, err := g.OpenEvents()
	if gone(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	end := time.Now().Add(d)
	buf := make([]byte, 256)
	for {
		n, err := f.ReadAt(buf, 0)
		if gone(err) {
			return true, nil
		}
		if err != nil && n == 0 {
			return false, fmt.Errorf("cannot read the state of the group: %w", err)
		}
		if !populated(string(buf[:n])) {
			return true, nil
		}
		wait := pollSlice
		if d >= 0 {
			wait = min(wait, time.Until(end))
			if wait <= 0 {
				return false, nil
			}
		}
		// Rounded up, or the last millisecond would be spent spinning.
		ms := int((wait + time.Millisecond - 1) / time.Millisecond)
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLPRI}}, ms); err != nil && err != unix.EINTR {
			return false, fmt.Errorf("cannot wait for the group to become empty: %w", err)
		}
	}
}

// Usage is what the group's tree has used so far.
type Usage struct {
	CPU, User, System time.Duration
	MemoryPeak        int64 // bytes, -1 = not known (no memory controller, or before Linux 5.19)
}

// Usage reads the counters; what cannot be read is zero, or -1.
func (g *Group) Usage() Usage {
	cpu := readWord(g.path, "cpu.stat")
	u := Usage{MemoryPeak: -1}
	for key, to := range map[string]*time.Duration{"usage_usec": &u.CPU, "user_usec": &u.User, "system_usec": &u.System} {
		if v, ok := keyed(cpu, key); ok {
			*to = time.Duration(v) * time.Microsecond
		}
	}
	if v, ok := number(readWord(g.path, "memory.peak")); ok {
		u.MemoryPeak = v
	}
	return u
}

// OOMKilled reports whether the kernel killed a process of the tree because
// the group's memory limit was reached. Without a memory controller: false.
func (g *Group) OOMKilled() bool {
	v, _ := keyed(readWord(g.path, "memory.events"), "oom_kill")
	return v > 0
}

// keyed is the number behind key in a file of "key number" lines.
func keyed(text, key string) (int64, bool) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, key+" "); ok {
			return number(strings.TrimSpace(rest))
		}
	}
	return 0, false
}

func number(s string) (int64, bool) {
	v, err := strconv.ParseInt(s, 10, 64)
	return v, err == nil
}
