package nspawn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"snens/internal/cgroup"
	"snens/internal/testneed"
)

const (
	bootLimit = 60 * time.Second // two seconds, as a rule
	stepLimit = 40 * time.Second // of one command inside
	downLimit = 20 * time.Second
)

// start is run in a mount namespace of the machine's own. The words after it:
// the folder to mount on, the lower layers, options of nspawn. Its standard input is a pipe of the
// test's: when the test dies, whatever the way, the pipe ends and the machine
// with it.
const start = `
set -eu
at=$1 lower=$2
shift 2
# nspawn keeps things in /run, and would register what it does there.
mount -t tmpfs -o mode=0755 tmpfs /run
# One hierarchy, as Debian has it, also where the host has several.
[ "$(stat -f -c %T /sys/fs/cgroup)" = cgroup2fs ] || mount -t cgroup2 cgroup2 /sys/fs/cgroup
group=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
mount -t tmpfs -o mode=0755 tmpfs "$at"
mkdir "$at/upper" "$at/work" "$at/root"
mount -t overlay -o "lowerdir=$lower,upperdir=$at/upper,workdir=$at/work" overlay "$at/root"
cat <&0 >/dev/null &
systemd-nspawn --quiet --boot --directory="$at/root" --machine=machine --hostname=machine \
	--register=no --keep-unit --private-network --link-journal=no --resolv-conf=off --timezone=off \
	--notify-ready=yes --console=pipe "$@" </dev/null &
wait -n || true
# The machine's processes outlive nspawn; nobody outlives the group, we neither.
echo 1 >"$group/cgroup.kill"
`

// machine is a booted Debian.
type machine struct {
	t      *testing.T
	leader int // the machine's first process, as the host counts
}

var machines atomic.Uint64

// boot starts a fresh machine, with everything installed, and waits until it has
// started.
func boot(t *testing.T) *machine {
	t.Helper()
	return bootWith(t, func(base string) ([]string, error) {
		top, err := staged()
		return []string{top + ":" + base}, err
	})
}

// bootBare starts a machine with nothing installed. The checkout, built, is in
// /usr/src/snens, read-only.
func bootBare(t *testing.T) *machine {
	t.Helper()
	return bootWith(t, func(base string) ([]string, error) {
		from, err := source()
		return []string{base, "--bind-ro=" + from + ":/usr/src/snens"}, err
	})
}

// bootWith starts a machine; parts gives its lower layers and further options of
// nspawn.
func bootWith(t *testing.T, parts func(base string) ([]string, error)) *machine {
	t.Helper()
	testneed.Root(t)
	for program, pkg := range map[string]string{"debootstrap": "debootstrap", "systemd-nspawn": "systemd-container", "unshare": "util-linux", "nsenter": "util-linux", "make": "make"} {
		testneed.Program(t, program, pkg)
	}
	testneed.CgroupV2(t)
	base, err := tree()
	must(t, err)
	words, err := parts(base)
	must(t, err)
	groups, err := cgroup.Detect()
	must(t, err)
	must(t, groups.Probe())
	group, err := groups.New(fmt.Sprintf("nspawn-%d-%d", os.Getpid(), machines.Add(1)), cgroup.Limits{})
	must(t, err)

	dir, err := os.MkdirTemp(scratch, "m")
	must(t, err)
	notify, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	must(t, err)
	defer notify.Close()
	at := filepath.Join(dir, "at")
	must(t, os.Mkdir(at, 0o755))
	console, err := os.Create(filepath.Join(dir, "console"))
	must(t, err)
	defer console.Close()

	cmd := exec.Command("bash", append([]string{"-c", start, "bash", at}, words...)...)
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "NOTIFY_SOCKET=" + notify.LocalAddr().String(), "LC_ALL=C"}
	cmd.Stdout, cmd.Stderr = console, console
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, UseCgroupFD: true, CgroupFD: group.FD(), Setsid: true}
	alive, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	m := &machine{t: t}
	t.Cleanup(func() { m.down(cmd, alive, group, console.Name()) })

	m.leader, err = untilReady(notify)
	if err != nil {
		t.Fatalf("the machine does not come up: %v", err)
	}
	return m
}

// untilReady reads what nspawn tells (sd_notify) and gives the leader's pid.
func untilReady(notify *net.UnixConn) (int, error) {
	if err := notify.SetReadDeadline(time.Now().Add(bootLimit)); err != nil {
		return 0, err
	}
	leader, buf := 0, make([]byte, 4096)
	for {
		n, err := notify.Read(buf)
		if err != nil {
			return 0, err
		}
		for line := range strings.Lines(string(buf[:n])) {
			if pid, ok := strings.CutPrefix(strings.TrimSpace(line), "X_NSPAWN_LEADER_PID="); ok {
				if leader, err = strconv.Atoi(pid); err != nil {
					return 0, err
				}
			}
			if strings.TrimSpace(line) == "READY=1" && leader != 0 {
				return leader, nil
			}
		}
	}
}

// down ends the machine and shows what it printed when the test failed. Its
// mounts and its memory go with its last process.
func (m *machine) down(cmd *exec.Cmd, alive io.Closer, group *cgroup.Group, console string) {
	if m.t.Failed() && m.leader != 0 {
		m.t.Logf("the machine's journal:\n%s", m.shell("root", "journalctl --no-pager --quiet --lines 60 --output short-monotonic").all)
	}
	_ = alive.Close()
	if err := group.Kill(); err != nil {
		m.t.Errorf("cannot end the machine: %v", err)
	}
	_ = cmd.Wait() // killed, as it should be
	if empty, err := group.WaitEmpty(downLimit); err != nil || !empty {
		pids, _ := group.PIDs()
		m.t.Errorf("the machine has not ended: %v, processes %v", err, pids)
		return
	}
	if err := group.Remove(); err != nil {
		m.t.Errorf("the machine has left something: %v", err)
	}
	if text, err := os.ReadFile(console); m.t.Failed() && err == nil {
		m.t.Logf("the machine's console:\n%s", bytes.TrimSpace(text[max(0, len(text)-3000):]))
	}
}

// outcome is how a command inside ended.
type outcome struct {
	stdout, stderr string
	all            string // both, as they came
	status         int    // -1 when it did not end by itself
}

// inside makes the command that runs script as a user, by the machine's systemd.
func (m *machine) inside(ctx context.Context, user, script string, options ...string) *exec.Cmd {
	home := "/home/" + user
	if user == "root" {
		home = "/root"
	}
	args := []string{
		"--target", strconv.Itoa(m.leader), "--mount", "--uts", "--ipc", "--net", "--pid", "--wdns=/",
		"systemd-run", "--quiet", "--wait", "--collect", "--service-type=exec", "--uid=" + user, "--working-directory=" + home,
	}
	args = append(append(args, options...), "bash", "-c", script)
	cmd := exec.CommandContext(ctx, "nsenter", args...)
	// nsenter has a child in the machine, and the child has our pipes.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TERM=dumb", "LC_ALL=C"}
	return cmd
}

// shell runs a script as a user, without standard input, and waits for its end.
func (m *machine) shell(user, script string) outcome {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), stepLimit)
	defer cancel()
	var stdout, stderr, all bytes.Buffer
	var both locked
	both.to = &all
	cmd := m.inside(ctx, user, script, "--pipe")
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&stdout, &both), io.MultiWriter(&stderr, &both)
	err := cmd.Run()
	var exit *exec.ExitError
	if ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		m.t.Fatalf("%s: %s: does not end: %v\n%s", user, script, err, both.String())
	}
	return outcome{stdout: stdout.String(), stderr: stderr.String(), all: all.String(), status: cmd.ProcessState.ExitCode()}
}

// as runs a script as a user; it must succeed.
func (m *machine) as(user, script string) string {
	m.t.Helper()
	o := m.shell(user, script)
	if o.status != 0 {
		m.t.Fatalf("%s: %s: exit status %d\n%s", user, script, o.status, o.all)
	}
	return o.stdout
}

// root runs a script as root; it must succeed.
func (m *machine) root(script string) string {
	m.t.Helper()
	return m.as("root", script)
}

// write puts a file into the machine, root's.
func (m *machine) write(path, text string, mode os.FileMode) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), stepLimit)
	defer cancel()
	cmd := m.inside(ctx, "root", fmt.Sprintf("umask 022 && mkdir -p %[3]s && umask 077 && cat >%[1]s && chmod %[2]o %[1]s", path, mode, filepath.Dir(path)), "--pipe")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("cannot write %s: %v\n%s", path, err, out)
	}
}
