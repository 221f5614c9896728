package spawn_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/spawn"
	"snens/internal/testneed"
)

// Whoever the child is to be, it is that and nothing else.
func TestChildIsWhoItShouldBe(t *testing.T) {
	testneed.Root(t)
	for _, c := range []struct {
		uid, gid uint32
		groups   []uint32
		umask    uint32
	}{
		{0, 0, nil, 0o022},
		{0, 42, []uint32{7}, 0o077},
		{65534, 65534, nil, 0},
		{4242, 4243, []uint32{4, 5000, 70000}, 0o777},
		{4000000000, 4000000001, []uint32{4294967294}, 0o027},
	} {
		t.Run(strconv.FormatUint(uint64(c.uid), 10), func(t *testing.T) {
			both(t, func(t *testing.T, r *spawn.Runner) {
				s := self(t, reporter)
				s.UID, s.GID, s.Groups, s.Umask = c.uid, c.gid, c.groups, c.umask
				rep := reportOf(t, r, s)
				four := func(id uint32) string { return strings.TrimSpace(strings.Repeat(fmt.Sprint(id, " "), 4)) }
				want := map[string]string{
					"Uid": four(c.uid), "Gid": four(c.gid), "Groups": strings.Trim(fmt.Sprint(c.groups), "[]"),
					"Umask": fmt.Sprintf("%04o", c.umask), "CapAmb": "0000000000000000",
				}
				if c.uid != 0 {
					want["CapPrm"], want["CapEff"] = "0000000000000000", "0000000000000000"
				}
				for k, v := range want {
					if rep.Status[k] != v {
						t.Errorf("%s is %q, want %q", k, rep.Status[k], v)
					}
				}
			})
		})
	}
	// What our own threads have is as it was.
	own, err := os.ReadFile("/proc/self/status")
	if err != nil || !strings.Contains(string(own), "\nSeccomp:\t0\n") {
		t.Errorf("this process has got a filter: %v", err)
	}
	before := unix.Umask(0o022)
	unix.Umask(before)
	if before == 0o777 || before == 0o027 {
		t.Errorf("this process has got a child's umask %04o", before)
	}
}

func TestChildsSurroundings(t *testing.T) {
	both(t, func(t *testing.T, r *spawn.Runner) {
		s := self(t, reporter, "*", "$HOME", "", "a\nb")
		s.Env = []string{"B=2", "GORACE=atexit_sleep_ms=0", "A=", "C=x=y", "LD_X=\x01\xff\n"}
		s.Dir = t.TempDir()
		rep := reportOf(t, r, s)
		if want := strings.Join(s.Env, "\x00") + "\x00"; string(rep.Environ) != want {
			t.Errorf("environment %q, want %q", rep.Environ, want)
		}
		if want := strings.Join(s.Argv, "\x00") + "\x00"; rep.CmdLine != want || !slices.Equal(rep.Args, s.Argv) {
			t.Errorf("argv %q %q, want %q", rep.CmdLine, rep.Args, want)
		}
		if rep.Dir != s.Dir {
			t.Errorf("folder %q, want %q", rep.Dir, s.Dir)
		}
		if exe, _ := os.Executable(); rep.Exe != exe {
			t.Errorf("exe %q, want %q", rep.Exe, exe)
		}
		// state ppid pgrp session tty_nr
		f := strings.Fields(rep.Stat)
		pid := rep.Status["Pid"]
		if f[2] != pid || f[3] != pid || f[4] != "0" || !strings.Contains(rep.TTY, "no such device") {
			t.Errorf("pid %s: group %s, session %s, terminal %s, /dev/tty: %s", pid, f[2], f[3], f[4], rep.TTY)
		}
		if rep.Status["NoNewPrivs"] != "0" || rep.Status["TracerPid"] != "0" {
			t.Errorf("status %v", rep.Status)
		}
	})
}

func TestAnEmptyEnvironmentIsEmpty(t *testing.T) {
	s := sh(t, "cat /proc/$$/environ")
	s.Env = nil
	if out, _ := output(t, fallbackRunner(t), s); out != "" {
		t.Errorf("environment %q, want nothing", out)
	}
}

// Sixty-four descriptors that a careless parent would pass on, and of those
// given the given ones.
func TestDescriptorsOfTheChild(t *testing.T) {
	dir := t.TempDir()
	var open []*os.File
	for i := range 64 {
		f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		open = append(open, f)
	}
	both(t, func(t *testing.T, r *spawn.Runner) {
		s := self(t, reporter)
		if rep := reportOf(t, r, s); len(rep.Descriptors) != 3 || rep.Descriptors[0] != "0 /dev/null" ||
			!strings.HasPrefix(rep.Descriptors[1], "1 pipe:") || rep.Descriptors[2] != "2 /dev/null" {
			t.Errorf("descriptors %q", rep.Descriptors)
		}
		s = self(t, reporter)
		s.Files = []int{int(open[63].Fd()), 0, int(open[0].Fd()), int(open[7].Fd())}
		rep := reportOf(t, r, s)
		if len(rep.Descriptors) != 4 || rep.Descriptors[0] != "0 "+open[63].Name() ||
			rep.Descriptors[2] != "2 "+open[0].Name() || rep.Descriptors[3] != "3 "+open[7].Name() {
			t.Errorf("descriptors %q", rep.Descriptors)
		}
	})
}

// A descriptor that would stay open at the exec keeps the child from running.
func TestAStrayDescriptorIsNoticed(t *testing.T) {
	both(t, func(t *testing.T, r *spawn.Runner) {
		stray, err := unix.Open("/dev/null", unix.O_RDONLY, 0) // without close-on-exec
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(stray)
		s := sh(t, "echo ran >ran")
		_, err = r.Start(context.Background(), s)
		contains(t, err, "its descriptors are")
		if exists(s.Dir, "ran") {
			t.Error("it ran")
		}
	})
}

func TestLimitsOfTheChild(t *testing.T) {
	both(t, func(t *testing.T, r *spawn.Runner) {
		s := self(t, reporter)
		s.Limits = spawn.Limits{CPU: 1500 * time.Millisecond, OpenFiles: 64, FileSize: 1 << 20}
		rep := reportOf(t, r, s)
		limits := strings.Join(strings.Fields(rep.Limits), " ")
		for _, want := range []string{"Max cpu time 2 3 seconds", "Max open files 64 64 files", "Max file size 1048576 1048576 bytes"} {
			if !strings.Contains(limits, want) {
				t.Errorf("limits %q lack %q", limits, want)
			}
		}
	})
}

// As another user they take CAP_SYS_RESOURCE; without it nothing runs.
func TestLimitsOfAnotherUsersChild(t *testing.T) {
	testneed.Root(t)
	both(t, func(t *testing.T, r *spawn.Runner) {
		s := self(t, reporter)
		s.UID, s.GID, s.Limits = 65534, 65534, spawn.Limits{OpenFiles: 64}
		if can(t, unix.CAP_SYS_RESOURCE) {
			if rep := reportOf(t, r, s); !strings.Contains(rep.Limits, " 64 ") {
				t.Errorf("limits %s", rep.Limits)
			}
			return
		}
		_, err := r.Start(context.Background(), s)
		contains(t, err, "CAP_SYS_RESOURCE")
	})
}

func can(t *testing.T, capability uint) bool {
	t.Helper()
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&head, &data[0]); err != nil {
		t.Fatal(err)
	}
	return data[capability/32].Effective&(1<<(capability%32)) != 0
}

// Limits of the whole tree hold or nothing runs.
func TestLimitsOfTheTree(t *testing.T) {
	s := sh(t, "i=0; while [ $i -lt 9 ]; do sleep 1000 & i=$((i+1)); done 2>/dev/null; echo all")
	s.Limits.Processes = 4
	_, err := fallbackRunner(t).Start(context.Background(), s)
	contains(t, err, "without control groups")
	r := groupRunner(t)
	p, err := r.Start(context.Background(), s)
	if err != nil {
		contains(t, err, "cannot limit the processes")
	} else if res := p.Result(); res.ExitCode == 0 {
		t.Errorf("nine processes under a limit of four: %+v", res)
	} else {
		<-p.Gone()
	}
	s = sh(t, "true")
	s.Limits.Memory = 64 << 20
	if p, err := r.Start(context.Background(), s); err != nil {
		contains(t, err, "cannot limit the memory")
	} else if res := p.Result(); res.ExitCode != 0 {
		t.Errorf("%+v", res)
	} else {
		<-p.Gone()
	}
}

func TestStartRefuses(t *testing.T) {
	for words, change := range map[string]func(*spawn.Spec){
		"no program is given":                  func(s *spawn.Spec) { s.Program = nil },
		"argv has no name":                     func(s *spawn.Spec) { s.Argv = nil },
		"argv has no name ":                    func(s *spawn.Spec) { s.Argv = []string{""} },
		"argument 1 contains a NUL":            func(s *spawn.Spec) { s.Argv = []string{"sh", "\x00"} },
		"is no absolute path":                  func(s *spawn.Spec) { s.Dir = "." },
		"the umask 01000":                      func(s *spawn.Spec) { s.Umask = 0o1000 },
		"the id 4294967295":                    func(s *spawn.Spec) { s.UID = math.MaxUint32 },
		"the id 4294967295 ":                   func(s *spawn.Spec) { s.GID = math.MaxUint32 },
		"group id 4294967295":                  func(s *spawn.Spec) { s.Groups = []uint32{math.MaxUint32} },
		"a time limit":                         func(s *spawn.Spec) { s.Timeout = 0 },
		"beyond what the kernel counts":        func(s *spawn.Spec) { s.Limits.Memory = math.MaxUint64 },
		`the variable "A" is given twice`:      func(s *spawn.Spec) { s.Env = []string{"A=1", "A=1"} },
		`the variable "A" is not`:              func(s *spawn.Spec) { s.Env = []string{"A"} },
		`the variable "=A" is not`:             func(s *spawn.Spec) { s.Env = []string{"=A"} },
		`the variable "A" contains`:            func(s *spawn.Spec) { s.Env = []string{"A=\x00"} },
		"2 descriptors are given":              func(s *spawn.Spec) { s.Files = s.Files[:2] },
		"5 descriptors are given":              func(s *spawn.Spec) { s.Files = []int{0, 0, 0, 0, 0} },
		"descriptor 3 cannot be -1":            func(s *spawn.Spec) { s.Files = append(s.Files, spawn.NullFile) },
		"descriptor 1 cannot be -2":            func(s *spawn.Spec) { s.Files = []int{0, -2, 0} },
		"cannot enter the folder \"/no/such\"": func(s *spawn.Spec) { s.Dir = "/no/such" },
		"are too long":                         func(s *spawn.Spec) { s.Argv = append(s.Argv, strings.Repeat("x", 200<<10)) },
		"a program that was closed":            func(s *spawn.Spec) { s.Program = &spawn.Program{} },
	} {
		t.Run(words, func(t *testing.T) {
			both(t, func(t *testing.T, r *spawn.Runner) {
				s := sh(t, "echo ran >ran")
				dir := s.Dir
				change(&s)
				_, err := r.Start(context.Background(), s)
				var e *spawn.StartError
				if !errors.As(err, &e) || e.Released != nil {
					t.Errorf("%v is no plain StartError", err)
				}
				contains(t, err, strings.TrimSpace(words))
				if exists(dir, "ran") {
					t.Error("it ran")
				}
			})
		})
	}
}

func TestProgramsThatCannotRun(t *testing.T) {
	dir := t.TempDir()
	r := fallbackRunner(t)
	for words, path := range map[string]string{
		"neither a program for this machine": write(t, dir+"/text", "hello", 0o755),
		"may not execute":                    write(t, dir+"/plain", "hello", 0o644),
	} {
		_, err := r.Start(context.Background(), spec(open(t, path), "x"))
		contains(t, err, words)
	}
	busy, err := os.OpenFile(copyFile(t, "/bin/true", dir+"/busy"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	_, err = r.Start(context.Background(), spec(open(t, busy.Name()), "x"))
	contains(t, err, "is being written to")
}

// The folder is entered with the rights of the child, its groups included, and
// with no more; our own folder stays.
func TestFolderOfTheChild(t *testing.T) {
	testneed.Root(t)
	dir := t.TempDir()
	for d := dir; d != os.TempDir(); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sub := func(name string, uid, gid int, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.Mkdir(path, 0o700), os.Chown(path, uid, gid), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	before, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	both(t, func(t *testing.T, r *spawn.Runner) {
		for path, ok := range map[string]bool{
			sub(filepath.Base(t.Name())+"root", 0, 0, 0o700):   false,
			sub(filepath.Base(t.Name())+"own", 4242, 0, 0o700): true,
			sub(filepath.Base(t.Name())+"gid", 0, 4243, 0o710): true,
			sub(filepath.Base(t.Name())+"sup", 0, 77, 0o710):   true,
			sub(filepath.Base(t.Name())+"no", 0, 78, 0o710):    false,
		} {
			s := sh(t, "stat -c %i /proc/self/cwd/.")
			s.UID, s.GID, s.Groups, s.Dir = 4242, 4243, []uint32{77}, path
			if !ok {
				_, err := r.Start(context.Background(), s)
				contains(t, err, "uid 4242 cannot enter the folder")
				continue
			}
			if _, res := output(t, r, s); res.Outcome != spawn.Exited {
				t.Errorf("%s: %+v", path, res)
			}
		}
	})
	if after, err := os.Getwd(); err != nil || after != before {
		t.Errorf("this process is in %q, was in %q: %v", after, before, err)
	}
}

// A folder that others can turn elsewhere by a symlink is not entered.
func TestAFolderBehindASymlink(t *testing.T) {
	testneed.Root(t)
	dir := t.TempDir()
	if err := os.Symlink("/usr", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	r := fallbackRunner(t)
	s := sh(t, "pwd -P")
	s.Dir = dir + "/link"
	if out, _ := output(t, r, s); out != "/usr\n" {
		t.Errorf("%q, want the link's target", out)
	}
	if err := os.Lchown(dir+"/link", 4242, 4242); err != nil {
		t.Fatal(err)
	}
	_, err := r.Start(context.Background(), s)
	contains(t, err, "others can change which")
}

// A start whose requester has left does not run.
func TestStartOfSomebodyWhoIsGone(t *testing.T) {
	both(t, func(t *testing.T, r *spawn.Runner) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		// Either it was given up in time, or it runs and is ended by Cancel.
		p, err := r.Start(ctx, sh(t, "sleep 1000"))
		if err != nil {
			contains(t, err, "given up")
			return
		}
		p.Cancel()
		if res := p.Result(); res.Outcome != spawn.Cancelled {
			t.Errorf("%+v", res)
		}
		<-p.Gone()
	})
}
