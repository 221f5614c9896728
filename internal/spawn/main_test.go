package spawn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"snens/internal/cgroup"
	"snens/internal/spawn"
	"snens/internal/testneed"
)

// The names under which the test binary plays the action.
const (
	reporter = "spawn-test-report"
	injector = "spawn-test-inject"
	private  = "spawn-test-private"
)

func TestMain(m *testing.M) {
	switch os.Args[0] {
	case reporter:
		if err := json.NewEncoder(os.Stdout).Encode(lookAtSelf()); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	case private:
		fmt.Println(actPrivately(os.Args[1]))
		os.Exit(0)
	case injector:
		inject()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// report is what a child finds itself to be.
type report struct {
	Args         []string
	Environ      []byte
	Status       map[string]string
	Stat         string // of its main thread, behind the name
	Dir          string
	Descriptors  []string // number, blank, what it leads to
	TTY          string   // what opening /dev/tty says
	Limits       string
	Exe, CmdLine string
}

func lookAtSelf() report {
	r := report{Args: os.Args, Status: map[string]string{}}
	text := func(name string) string {
		b, _ := os.ReadFile("/proc/self/" + name)
		return string(b)
	}
	// First of all: the runtime opens some for itself when it first needs them.
	r.Descriptors = descriptors()
	r.Environ, r.Limits, r.CmdLine = []byte(text("environ")), text("limits"), text("cmdline")
	for line := range strings.Lines(text("status")) {
		if k, v, ok := strings.Cut(line, ":"); ok {
			r.Status[k] = strings.Join(strings.Fields(v), " ")
		}
	}
	stat := text("stat")
	r.Stat = stat[strings.LastIndexByte(stat, ')')+2:]
	r.Dir, _ = unix.Getwd()
	r.Exe, _ = os.Readlink("/proc/self/exe")
	if f, err := os.Open("/dev/tty"); err != nil {
		r.TTY = err.Error()
	} else {
		r.TTY = "opened"
		f.Close()
	}
	return r
}

func descriptors() (list []string) {
	fd, err := unix.Open("/proc/self/fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return []string{err.Error()}
	}
	defer unix.Close(fd)
	buf := make([]byte, 1<<16)
	n, _ := unix.ReadDirent(fd, buf)
	_, _, names := unix.ParseDirent(buf[:n], -1, nil)
	for _, name := range names {
		if name != fmt.Sprint(fd) {
			link := make([]byte, 4096)
			k, _ := unix.Readlink("/proc/self/fd/"+name, link)
			if to := string(link[:k]); !strings.Contains(to, "/cpu.") { // Go's own, since 1.25
				list = append(list, name+" "+to)
			}
		}
	}
	return list
}

// both runs f with control groups and with the fallback.
func both(t *testing.T, f func(*testing.T, *spawn.Runner)) {
	t.Run("group", func(t *testing.T) { f(t, groupRunner(t)) })
	t.Run("fallback", func(t *testing.T) { f(t, fallbackRunner(t)) })
}

func groupRunner(t *testing.T) *spawn.Runner {
	t.Helper()
	testneed.CgroupV2(t)
	tree, err := cgroup.Detect()
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Probe(); err != nil {
		t.Fatal(err)
	}
	return newRunner(t, tree)
}

func fallbackRunner(t *testing.T) *spawn.Runner { return newRunner(t, nil) }

func newRunner(t *testing.T, tree *cgroup.Tree) *spawn.Runner {
	t.Helper()
	r, err := spawn.NewRunner(tree)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func open(t *testing.T, path string) *spawn.Program {
	t.Helper()
	p, err := spawn.NewOpener(os.Geteuid()).Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

var names atomic.Int64

// spec runs the program as ourselves.
func spec(p *spawn.Program, argv ...string) spawn.Spec {
	own, _ := os.Getgroups()
	var groups []uint32
	for _, g := range own {
		groups = append(groups, uint32(g))
	}
	return spawn.Spec{
		Name: fmt.Sprintf("test-spawn-%d-%d", os.Getpid(), names.Add(1)), Program: p, Argv: argv,
		Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "GORACE=atexit_sleep_ms=0"}, Dir: "/",
		UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), Groups: groups, Umask: 0o022,
		Files:   []int{spawn.NullFile, spawn.NullFile, spawn.NullFile},
		Timeout: time.Minute, Grace: 20 * time.Second,
	}
}

// sh runs a shell script in a folder of its own.
func sh(t *testing.T, script string) spawn.Spec {
	t.Helper()
	s := spec(open(t, "/bin/sh"), "sh", "-c", script)
	s.Dir = t.TempDir()
	return s
}

// self runs this binary under a name that makes it play a part.
func self(t *testing.T, name string, args ...string) spawn.Spec {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return spec(open(t, exe), append([]string{name}, args...)...)
}

func start(t *testing.T, r *spawn.Runner, s spawn.Spec) *spawn.Process {
	t.Helper()
	p, err := r.Start(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Cancel()
		<-p.Gone()
		if p.Group() != "" {
			if _, err := os.Stat(p.Group()); !os.IsNotExist(err) {
				t.Errorf("the group %s is left: %v", p.Group(), err)
			}
		}
	})
	return p
}

// output runs s to its end and gives what it wrote to descriptor 1.
func output(t *testing.T, r *spawn.Runner, s spawn.Spec) (string, spawn.Result) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	s.Files = append([]int{s.Files[0], int(write.Fd())}, s.Files[2:]...)
	p, err := r.Start(context.Background(), s)
	write.Close()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := io.Copy(&b, read); err != nil {
		t.Fatal(err)
	}
	res := p.Result()
	<-p.Gone()
	return b.String(), res
}

func reportOf(t *testing.T, r *spawn.Runner, s spawn.Spec) report {
	t.Helper()
	text, res := output(t, r, s)
	if res.Outcome != spawn.Exited || res.ExitCode != 0 {
		t.Fatalf("%+v: %s", res, text)
	}
	var rep report
	if err := json.Unmarshal([]byte(text), &rep); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return rep
}

// until waits for something to become true.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(30 * time.Second)
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func exists(path ...string) bool {
	info, err := os.Stat(filepath.Join(path...))
	return err == nil && info.Size() > 0
}

// alive says that the process exists and is no zombie.
func alive(pid string) bool {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	after := string(b[bytes.LastIndexByte(b, ')')+1:])
	return !strings.HasPrefix(after, " Z") && !strings.HasPrefix(after, " X")
}

func write(t *testing.T, path, content string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func copyFile(t *testing.T, from, to string) string {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	return write(t, to, string(b), 0o755)
}

func contains(t *testing.T, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("got %v, want an error with %q", err, words)
	}
}
