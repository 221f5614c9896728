package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"snens/internal/audit"
)

// Records are followed over a rotation, and a line that is written in two halves
// is one.
func TestFollow(t *testing.T) {
	w := newWorld(t, audit.Options{MaxSegment: 4 << 10})
	w.add(received(1, 1000, "/bin/a"), received(2, 2000, "/bin/b"))
	ctx, cancel := context.WithCancel(context.Background())
	r, out := io.Pipe()
	ended := make(chan int)
	go func() {
		code := run(ctx, []string{"snens-audit", "tail", "-n", "1", "--follow", "--log-dir", w.dir}, out, os.Stderr)
		out.Close()
		ended <- code
	}()
	lines := bufio.NewScanner(r)
	next := func(want string) {
		t.Helper()
		if !lines.Scan() || !strings.Contains(lines.Text(), want) {
			t.Fatalf("got %q (%v), want %q", lines.Text(), lines.Err(), want)
		}
	}
	next("/bin/b")
	w.add(received(3, 1000, "/bin/c"))
	next("/bin/c")
	for range 4 {
		w.add(received(4, 1000, strings.Repeat("x", 3000)))
		next("") // a rotated record or the one above
	}
	segments, err := audit.Segments(w.dir)
	if err != nil || len(segments) < 3 {
		t.Fatalf("%v, %v: nothing rotated", segments, err)
	}
	w.add(audit.Entry{Kind: audit.Stop, Detail: "the end"})
	for lines.Scan() && !strings.Contains(lines.Text(), "the end") {
	}
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("status %d", code)
	}
}

func TestFollowWaitsForTheEndOfALine(t *testing.T) {
	w := newWorld(t, audit.Options{})
	w.add(received(1, 1000, "/bin/a"))
	segments, err := audit.Segments(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	a := &app{ctx: context.Background(), out: bufio.NewWriter(io.Discard), errs: os.Stderr, options: options{dir: w.dir}}
	s, err := openSegment(w.dir, segments[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	defer s.f.Close()
	seen := 0
	count := func(record) error { seen++; return nil }
	text, err := os.ReadFile(s.f.Name())
	if err != nil {
		t.Fatal(err)
	}
	half := len(text) / 2
	if err := os.Truncate(s.f.Name(), int64(half)); err != nil {
		t.Fatal(err)
	}
	if err := s.read(a, count); err != nil || seen != 0 || !s.unfinished() {
		t.Fatalf("%d records of half a line, %v", seen, err)
	}
	if err := os.WriteFile(s.f.Name(), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.read(a, count); err != nil || seen != 1 || s.unfinished() || a.unreadable != 0 {
		t.Fatalf("%d records, %d unreadable, %v", seen, a.unreadable, err)
	}
}
