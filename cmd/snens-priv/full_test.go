package main

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"snens/internal/testneed"
)

// smallDisk puts the log on a file system of a few hundred KiB.
func (p *process) smallDisk() {
	p.t.Helper()
	must(p.t, os.Mkdir(p.path("log"), 0o750))
	err := unix.Mount("tmpfs", p.path("log"), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0750,size=256k")
	testneed.Kernel(p.t, !errors.Is(err, unix.EPERM), "a mount of its own for root")
	must(p.t, err)
	p.t.Cleanup(func() {
		if err := unix.Unmount(p.path("log"), unix.MNT_DETACH); err != nil {
			p.t.Errorf("cannot unmount: %v", err)
		}
	})
}

// fill takes all the space that is left.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	for size := 4096; size > 0; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, unix.ENOSPC) {
			size /= 2
		} else {
			must(t, err)
		}
	}
}

// No record, no run; the rest is served, and it recovers by itself.
func TestFullDiskRunsNothing(t *testing.T) {
	p := newRoot(t, policyText)
	p.smallDisk()
	p.start()
	fill(t, p.path("log/filler"))
	asker := p.asker()
	refused := 0
	for range 200 { // what was allocated before is used up first
		out, v := asker.begin(`{"rule":"hello","slots":{"who":["world"]}}`)
		printed := output(t, out)
		if field(v, "state") == "exited" {
			continue
		}
		if printed != "" {
			t.Fatalf("%s, and it printed %q", v.JSON(), printed)
		}
		if got := field(v, "reason"); field(v, "state") != "error no_record" && got != "no_record" {
			t.Fatalf("it ended %s", v.JSON())
		}
		if refused++; refused == 3 {
			break
		}
	}
	if refused < 3 {
		t.Fatal("the disk never got full")
	}
	if got := asker.code("list", `{}`); got == "internal" {
		t.Error("nothing else is served any more")
	}
	if code, text, _ := do("status", "--socket", p.path("run/request.sock")); code != 1 {
		t.Errorf("the status does not tell: %s", text)
	}
	must(t, os.Remove(p.path("log/filler")))
	out, v := p.asker().begin(`{"rule":"hello","slots":{"who":["again"]}}`)
	if got := output(t, out); got != "hello again\n" {
		t.Errorf("it does not recover: %s, %q", v.JSON(), got)
	}
	if code, text, _ := do("status", "--socket", p.path("run/request.sock")); code != 0 {
		t.Errorf("the status still tells: %s", text)
	}
	p.stop()
	p.records()
}
