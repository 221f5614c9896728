package client_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/broker/client"
)

// pair is a connected pair of sockets: the one that we are given, and the one
// whoever started us has.
func pair(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs = os.NewFile(uintptr(p[0]), "ours"), os.NewFile(uintptr(p[1]), "theirs")
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	return ours, theirs
}

// A program like node gives its children sockets: everything that the command
// wrote is there when Run returns, however slowly it is read.
func TestASocketAsStdout(t *testing.T) {
	ours, theirs := pair(t)
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB, more than any buffer
	path := fake(t, runs(t, func(r *running) {
		if err := r.files.CheckStdio(); err != nil {
			t.Error(err)
		}
		out, errs := r.file(t, 1), r.file(t, 2)
		r.files.Close()
		half := len(want) / 2
		// Both are one socket, so what is written keeps its order.
		for _, w := range []struct {
			to   *os.File
			data []byte
		}{{out, want[:half]}, {errs, want[half:]}} {
			if _, err := w.to.Write(w.data); err != nil {
				t.Error(err)
			}
		}
		r.ends(exited(0)) // while the pipe is still open, as with a survivor
		_, _ = r.ReadRequest(0)
		out.Close()
		errs.Close()
	}))
	var got []byte
	var wg sync.WaitGroup
	wg.Go(func() { got, _ = io.ReadAll(theirs) })
	c := dial(t, path)
	if _, err := c.Run(context.Background(), client.Request{Command: client.Command{Rule: "web"}, Files: [3]*os.File{1: ours, 2: ours}}, nil); err != nil {
		t.Error(err)
	}
	ours.Close()
	wg.Wait()
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes arrived, or others; %d were written", len(got), len(want))
	}
}

func TestASocketAsStdin(t *testing.T) {
	ours, theirs := pair(t)
	path := fake(t, runs(t, func(r *running) {
		in := r.file(t, 0)
		defer in.Close()
		r.files.Close()
		if got, err := io.ReadAll(in); string(got) != "hello" || err != nil {
			t.Errorf("the command read %q, %v", got, err)
		}
		r.ends(exited(0))
	}))
	if _, err := theirs.WriteString("hello"); err != nil {
		t.Fatal(err)
	}
	if err := unix.Shutdown(int(theirs.Fd()), unix.SHUT_WR); err != nil {
		t.Fatal(err)
	}
	if _, err := dial(t, path).Run(context.Background(), client.Request{Command: client.Command{Rule: "web"}, Files: [3]*os.File{0: ours}}, nil); err != nil {
		t.Error(err)
	}
}

// A command that does not read leaves what it did not read to others, and the
// copying does not outlive it.
func TestAStdinThatNobodyReads(t *testing.T) {
	ours, theirs := pair(t)
	path := fake(t, runs(t, func(r *running) {
		r.files.Close()
		// The client has to notice; it says so by hanging up after the result.
		r.ends(exited(0))
	}))
	if _, err := dial(t, path).Run(context.Background(), client.Request{Command: client.Command{Rule: "web"}, Files: [3]*os.File{0: ours}}, nil); err != nil {
		t.Error(err)
	}
	if _, err := theirs.WriteString("for the next"); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	if n, err := ours.Read(buf); string(buf[:n]) != "for the next" || err != nil {
		t.Errorf("%q, %v", buf[:n], err)
	}
}

// Nobody reads our stdout any more: the command is told as it would be without
// us between, and Run ends.
func TestAStdoutThatNobodyReads(t *testing.T) {
	ours, theirs := pair(t)
	theirs.Close()
	path := fake(t, runs(t, func(r *running) {
		out := r.file(t, 1)
		defer out.Close()
		r.files.Close()
		for {
			if _, err := out.Write(make([]byte, 4096)); err != nil {
				break // EPIPE, and the signal is not for a descriptor above 2
			}
		}
		r.ends(exited(1))
	}))
	if r, err := dial(t, path).Run(context.Background(), client.Request{Command: client.Command{Rule: "web"}, Files: [3]*os.File{1: ours}}, nil); err != nil || r.Code != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A reader that stands still does not hold up who has given up.
func TestAStdoutThatStandsStill(t *testing.T) {
	ours, _ := pair(t)
	if err := unix.SetsockoptInt(int(ours.Fd()), unix.SOL_SOCKET, unix.SO_SNDBUF, 1); err != nil { // the kernel's least
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	path := fake(t, runs(t, func(r *running) {
		out := r.file(t, 1)
		defer out.Close()
		r.files.Close()
		// More than the socket takes, less than the pipe does.
		if _, err := out.Write(make([]byte, 48<<10)); err != nil {
			t.Error(err)
		}
		cancel()
		_, _ = r.ReadRequest(0) // the client's end
		r.ends(action.Result{ID: anID, State: action.Exited, Reason: action.ReasonRequesterGone})
	}))
	c := dial(t, path, func(o *client.Options) { o.Patience = 50 * time.Millisecond })
	r, err := c.Run(ctx, client.Request{Command: client.Command{Rule: "web"}, Files: [3]*os.File{1: ours}}, nil)
	if client.ExitStatus(err) == 0 && r.ExitStatus() != 137 {
		t.Errorf("%+v, %v", r, err)
	}
}
