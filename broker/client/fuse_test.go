package client_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"snens/broker/client"
	"snens/internal/wire"
)

// The broker gets pipes instead of files whose file system is a program, and
// the command reads and writes those files all the same.
func TestFilesOfAProgramsFileSystem(t *testing.T) {
	folder := t.TempDir()
	in, err := os.Create(filepath.Join(folder, "in"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(filepath.Join(folder, "out"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := in.WriteString("hello"); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	_ = client.OfProgram(int(in.Fd())) // of whatever is below the test: it answers
	t.Cleanup(client.SetOfProgram(func(int) bool { return true }))
	path := fake(t, runs(t, func(r *running) {
		for slot := range 3 {
			info, err := wire.Inspect(r.files.FD(slot))
			if err != nil || info.Kind != wire.Pipe {
				t.Errorf("descriptor %d is %+v, %v", slot, info, err)
			}
		}
		stdin, stdout, stderr := r.file(t, 0), r.file(t, 1), r.file(t, 2)
		r.files.Close()
		got, err := io.ReadAll(stdin)
		if string(got) != "hello" || err != nil {
			t.Errorf("the command read %q, %v", got, err)
		}
		for _, w := range []struct {
			to   *os.File
			text string
		}{{stdout, "one "}, {stderr, "two "}, {stdout, "three"}} {
			if _, err := w.to.WriteString(w.text); err != nil {
				t.Error(err)
			}
		}
		stdin.Close()
		stdout.Close()
		stderr.Close()
		r.ends(exited(0))
	}))
	q := client.Request{Command: client.Command{Rule: "web"}, Files: [3]*os.File{in, out, out}}
	if _, err := dial(t, path).Run(context.Background(), q, nil); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(out.Name()); string(got) != "one two three" || err != nil {
		t.Errorf("written %q, %v", got, err)
	}
	if flags, err := unix.FcntlInt(out.Fd(), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK != 0 {
		t.Errorf("the mode of the file was changed: %o, %v", flags, err)
	}
}
