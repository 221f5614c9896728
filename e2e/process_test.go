package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// eventually waits until cond holds, looking again and again; the deadline is
// only there to end a test that would hang.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(deadline / 3)
	for !cond() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("it never happened that %s", what)
		}
	}
}

// waitFile waits for a file with something in it and returns that.
func waitFile(t testing.TB, path string) string {
	t.Helper()
	var text []byte
	eventually(t, path+" is written", func() bool {
		text, _ = os.ReadFile(path)
		return strings.HasSuffix(string(text), "\n")
	})
	return strings.TrimSpace(string(text))
}

// process is one live process of a world.
type process struct {
	pid  int
	what string // its name and arguments
}

// processes are the live processes of the world: those that carry its folder
// for state in their environment, or work or lie in its folder. Zombies have
// neither.
func (w *world) processes() []process {
	w.t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	must(w.t, err)
	var found []process
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if pid == os.Getpid() || !w.owns(dir) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if len(line) == 0 { // it has died meanwhile
			continue
		}
		found = append(found, process{pid, strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))})
	}
	return found
}

func (w *world) owns(dir string) bool {
	for _, link := range []string{"cwd", "exe"} {
		if at, err := os.Readlink(filepath.Join(dir, link)); err == nil && strings.HasPrefix(at, w.root+"/") {
			return true
		}
	}
	env, err := os.ReadFile(filepath.Join(dir, "environ"))
	return err == nil && strings.Contains("\x00"+string(env), "\x00XDG_STATE_HOME="+w.state+"\x00")
}

// nothingLeft fails the test when a process of the world lives.
func (w *world) nothingLeft() {
	w.t.Helper()
	if left := w.processes(); len(left) > 0 {
		w.t.Errorf("processes are left: %v", left)
	}
}

// endWhatIsLeft is the end of every test: nothing may be there any more, and
// what is there all the same does not stay.
func (w *world) endWhatIsLeft() {
	w.t.Helper()
	w.nothingLeft()
	for _, p := range w.processes() {
		fd, err := unix.PidfdOpen(p.pid, 0)
		if err != nil {
			continue
		}
		if w.owns(fmt.Sprintf("/proc/%d", p.pid)) { // still the one that was meant
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		}
		_ = unix.Close(fd)
	}
}

// stateOf is the state of a process in /proc: R, S, T (stopped), Z; "" when it is gone.
func stateOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	text := string(stat)
	return strings.Fields(text[strings.LastIndexByte(text, ')')+1:])[0]
}

func parentOf(t testing.TB, pid int) int {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	must(t, err)
	text := string(stat)
	return number(t, strings.Fields(text[strings.LastIndexByte(text, ')')+1:])[1])
}

func alive(pid int) bool { s := stateOf(pid); return s != "" && s != "Z" }

// held says that a process is stopped, by a signal or by the freezer of its group.
func held(pid int) bool {
	if stateOf(pid) == "T" {
		return true
	}
	own, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(own)) {
		path, ok := strings.CutPrefix(line, "0::")
		if !ok {
			continue
		}
		for _, mount := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
			events, err := os.ReadFile(filepath.Join(mount, strings.TrimSpace(path), "cgroup.events"))
			if err == nil && strings.Contains(string(events), "frozen 1") {
				return true
			}
		}
	}
	return false
}

func number(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(text))
	must(t, err)
	return n
}

// fifo makes a named pipe in the world's folder.
func (w *world) fifo(name string) string {
	w.t.Helper()
	path := filepath.Join(w.root, name)
	must(w.t, unix.Mkfifo(path, 0o666))
	must(w.t, os.Chmod(path, 0o666))
	return path
}

// reader waits until somebody reads the named pipe and returns its other end.
func reader(t testing.TB, path string) *os.File {
	t.Helper()
	var file *os.File
	eventually(t, path+" is read", func() bool {
		var err error
		file, err = os.OpenFile(path, os.O_WRONLY|unix.O_NONBLOCK, 0)
		return err == nil
	})
	return file
}

// say writes a line to whoever reads the named pipe and closes it.
func say(t testing.TB, path, line string) {
	t.Helper()
	file := reader(t, path)
	_, err := file.WriteString(line + "\n")
	must(t, err)
	must(t, file.Close())
}

// What the other tests rely on: a process is known by its environment, its
// folder or its program, and by none of them it is a stranger's.
func TestAWorldKnowsItsProcesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sleep := systemProgram(t, "sleep")
	copied := w.file("sleep", w.shell("cat "+sleep), 0o755)
	for name, c := range map[string]struct {
		cmd *exec.Cmd
		own bool
	}{
		"environment": {&exec.Cmd{Path: sleep, Env: w.env, Dir: "/"}, true},
		"folder":      {&exec.Cmd{Path: sleep, Env: []string{"A=b"}, Dir: w.work}, true},
		"program":     {&exec.Cmd{Path: copied, Env: []string{"A=b"}, Dir: "/"}, true},
		"stranger":    {&exec.Cmd{Path: sleep, Env: []string{"A=b"}, Dir: "/"}, false},
	} {
		c.cmd.Args = []string{"sleep", "1000"}
		must(t, c.cmd.Start())
		found := w.processes()
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		if c.own != (len(found) == 1 && found[0].pid == c.cmd.Process.Pid && found[0].what == "sleep 1000") {
			t.Errorf("%s: found %v", name, found)
		}
	}
}
