package mailbox_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snens/internal/testneed"
	"snens/mailbox"
)

// On a full disk Send fails, nothing half-written is seen, and what was
// acknowledged is all there.
func TestFullDisk(t *testing.T) {
	testneed.Root(t)
	disk := t.TempDir()
	err := unix.Mount("none", disk, "tmpfs", 0, "size=256k,mode=0700")
	testneed.Kernel(t, !errors.Is(err, unix.EPERM), "the right to mount a tmpfs")
	must(t, err)
	t.Cleanup(func() { must(t, unix.Unmount(disk, 0)) })
	dir := filepath.Join(disk, "mail")
	must(t, mailbox.Create(dir))
	b, err := mailbox.Open(dir, mailbox.Options{})
	must(t, err)
	defer func() { must(t, b.Close()) }()
	body := strings.Repeat("x", 10_000)
	sent := 0
	for err == nil {
		if _, err = b.Send(text(body)); err == nil {
			sent++
		}
	}
	if !errors.Is(err, unix.ENOSPC) || sent < 10 {
		t.Fatalf("after %d messages: %v, want a full disk", sent, err)
	}
	if left := files(t, dir, "tmp"); left != nil {
		t.Errorf("tmp holds %q", left)
	}
	for range sent {
		c, err := b.Receive(0)
		must(t, err)
		if c.Message.Body != body {
			t.Errorf("a message of %d bytes", len(c.Message.Body))
		}
		must(t, c.Ack())
	}
	empty(t, b)
	if dead := files(t, dir, "dead"); dead != nil {
		t.Errorf("dead: %q", dead)
	}
	send(t, b, body)
}
