package execute_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/internal/testneed"
)

func TestChildHasExactlyItsDescriptors(t *testing.T) {
	both(t, func(w *world) {
		r := w.report(nil, nil)
		if len(r.Descriptors) != 3 || r.Descriptors[0] != "0 /dev/null" || !strings.HasPrefix(r.Descriptors[1], "1 pipe:") || r.Descriptors[2] != "2 /dev/null" {
			t := w.t
			t.Errorf("descriptors %q", r.Descriptors)
		}
	})
}

func TestChildGetsTheOpenedFileAsThree(t *testing.T) {
	w := groups(t)
	path := filepath.Join(t.TempDir(), "opened")
	if err := os.WriteFile(path, []byte("its content"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, opened := openFile(t, path)
	r := w.report(func(q *action.Request) { q.Opened = []action.OpenedFile{opened} }, []*os.File{f}, "/proc/self/fd/3")
	if len(r.Descriptors) != 4 || r.Descriptors[3] != "3 "+path || string(r.Third) != "its content" {
		t.Errorf("descriptors %q, content %q", r.Descriptors, r.Third)
	}
}

func openFile(t *testing.T, path string) (*os.File, action.OpenedFile) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		t.Fatal(err)
	}
	return f, action.OpenedFile{Descriptor: 3, Path: path, Device: st.Dev, Inode: st.Ino}
}

func TestAnotherOpenedFileIsStale(t *testing.T) {
	w := groups(t)
	path := filepath.Join(t.TempDir(), "opened")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, opened := openFile(t, path)
	opened.Inode++
	p := w.open("/bin/true")
	q := w.request(p, "true")
	q.Opened = []action.OpenedFile{opened}
	j := w.keep(q, p, []*os.File{f})
	if e := j.run(context.Background()); e.Reason != action.ReasonStaleFile || j.ran() {
		t.Errorf("%+v", e)
	}
	// And none at all, or one that the request does not know.
	j = w.keep(q, w.open("/bin/true"), nil)
	if e := j.run(context.Background()); e.Reason != action.ReasonCannotStart || j.ran() {
		t.Errorf("%+v", e)
	}
	f, _ = openFile(t, path)
	q.Opened = nil
	j = w.keep(q, w.open("/bin/true"), []*os.File{f})
	if e := j.run(context.Background()); e.Reason != action.ReasonCannotStart || j.ran() {
		t.Errorf("%+v", e)
	}
}

// What this process has in its environment, the child has not.
func TestChildEnvironmentToTheByte(t *testing.T) {
	for _, name := range []string{"LD_PRELOAD", "BASH_ENV", "PYTHONPATH", "TZ", "SUDO_UID", "BASH_FUNC_ls%%"} {
		t.Setenv(name, "/evil")
	}
	w := groups(t)
	r := w.report(func(q *action.Request) {
		q.Env = []action.Var{{Name: "A", Value: ""}, {Name: "B", Value: "x=y \xff\n"}, {Name: "GORACE", Value: "atexit_sleep_ms=0"}}
	}, nil)
	if want := "A=\x00B=x=y \xff\n\x00GORACE=atexit_sleep_ms=0\x00"; string(r.Environ) != want {
		t.Errorf("environment %q, want %q", r.Environ, want)
	}
	if r = w.report(func(q *action.Request) { q.Env = nil }, nil); len(r.Environ) != 0 {
		t.Errorf("environment %q, want none", r.Environ)
	}
}

func TestChildIdentity(t *testing.T) {
	w := groups(t)
	dir, err := os.MkdirTemp("/", "snens-test-execute-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p := w.open("/bin/sh")
	q := w.request(p, "sh", "-c", "grep -E '^(Uid|Gid|Groups|Umask|NoNewPrivs):' /proc/self/status | tr '\\t' ' '; pwd; cat /proc/self/cgroup | grep ^0:")
	q.RunAs = action.RunAs{UID: 54321, User: "x", GID: 54322, Group: "y", Groups: []action.GID{7, 54323}}
	q.Umask, q.Cwd = 0o027, dir
	read, write := pipe(t)
	j := w.keep(q, p, nil, int(write.Fd()), int(write.Fd()))
	write.Close()
	out := drain(read)
	if e := j.run(context.Background()); e.Reason != action.ReasonExited || e.Code != 0 {
		t.Fatalf("%+v", e)
	}
	text := <-out
	for _, want := range []string{
		"Umask: 0027", "Uid: 54321 54321 54321 54321", "Gid: 54322 54322 54322 54322", "Groups: 7 54323", "\n" + dir + "\n",
		"/snens-" + w.GroupName(j.id) + "\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

func TestArgumentsArriveLiterally(t *testing.T) {
	both(t, func(w *world) {
		args := []string{"*", "$HOME", "true ", "`id`", "; id", "", "-x", "\n", "\xff"}
		if r := w.report(nil, nil, args...); !slices.Equal(r.Args, append([]string{reporter}, args...)) && !sameButBytes(r.Args[1:], args) {
			w.t.Errorf("arguments %q", r.Args)
		}
	})
	w := groups(t)
	j := w.sh("exit 3", func(q *action.Request) { q.Argv = []string{"true "} })
	if e := j.run(context.Background()); e.Reason != action.ReasonExited || e.Code != 0 { // sh reads its (null) input
		t.Errorf("%+v", e)
	}
}

// sameButBytes: JSON puts U+FFFD for what is no UTF-8.
func sameButBytes(got, want []string) bool {
	return slices.EqualFunc(got, want, func(a, b string) bool { return a == strings.ToValidUTF8(b, "\ufffd") })
}

func TestSealedInput(t *testing.T) {
	w := groups(t)
	for _, content := range []string{"", "one line\n", "a\x01b\xff\n\n", strings.Repeat("0123456789abcde ", 60<<6)} {
		r := w.report(func(q *action.Request) {
			q.Stdin = action.Stdin{Mode: action.StdinSealed, Content: content}
		}, nil)
		if string(r.Input) != content || r.Offset != 0 || r.CanWrite {
			t.Errorf("input of %d bytes at %d, writable %t; want %d bytes", len(r.Input), r.Offset, r.CanWrite, len(content))
		}
		if len(r.Descriptors) != 3 || !strings.HasPrefix(r.Descriptors[0], "0 /memfd:input") {
			t.Errorf("descriptors %q", r.Descriptors)
		}
	}
}

// The sealed input cannot be changed by the action's own uid either, which
// could open it again.
func TestSealedInputIsSealed(t *testing.T) {
	w := groups(t)
	j := w.sh("echo x >>/proc/self/fd/0", func(q *action.Request) {
		q.Stdin = action.Stdin{Mode: action.StdinSealed, Content: "as approved\n"}
	})
	if e := j.run(context.Background()); e.Reason != action.ReasonExited || e.Code == 0 {
		t.Errorf("%+v", e)
	}
}

func TestPassedInput(t *testing.T) {
	w := groups(t)
	for _, mode := range []action.StdinMode{action.StdinPass, action.StdinNone} {
		in, send := pipe(t)
		read, write := pipe(t)
		p := w.open("/bin/cat")
		q := w.request(p, "cat")
		q.Stdin.Mode = mode
		j := w.keep(q, p, nil, int(in.Fd()), int(write.Fd()))
		write.Close()
		if _, err := send.WriteString("for the child"); err != nil {
			t.Fatal(err)
		}
		send.Close()
		out := drain(read)
		want := map[action.StdinMode]string{action.StdinPass: "for the child"}[mode]
		e := j.run(context.Background())
		if got := <-out; got != want || e.Reason != action.ReasonExited || e.Code != 0 {
			t.Errorf("%s: %q, %+v", mode, got, e)
		}
	}
	testneed.Root(t)
}
