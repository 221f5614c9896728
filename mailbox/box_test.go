package mailbox_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snens/mailbox"
)

func TestOldestFirstAndOnlyOnce(t *testing.T) {
	b, dir := box(t, mailbox.Options{})
	other := open(t, dir, mailbox.Options{})
	first, second := send(t, b, "one"), send(t, other, "two\x80")
	one, two := receive(t, b), receive(t, other)
	if one.Message.ID != first || one.Message.Body != "one" || one.Deliveries != 1 || one.Message.Time.IsZero() {
		t.Errorf("got %+v first", one)
	}
	if two.Message.ID != second || two.Message.Body != "two\x80" {
		t.Errorf("got %+v second", two)
	}
	empty(t, b)
	must(t, one.Ack())
	must(t, two.Ack())
	empty(t, other)
	if err := one.Ack(); !errors.Is(err, mailbox.ErrGone) {
		t.Errorf("a second Ack gives %v", err)
	}
	for _, d := range []string{"tmp", "new", "cur", "dead"} {
		if left := files(t, dir, d); left != nil {
			t.Errorf("%s holds %q", d, left)
		}
	}
}

func TestReleaseCloseReject(t *testing.T) {
	b, dir := box(t, mailbox.Options{})
	send(t, b, "one")
	must(t, receive(t, b).Release())
	must(t, receive(t, b).Close())
	c := receive(t, b)
	if c.Deliveries != 3 {
		t.Errorf("delivery %d, want 3", c.Deliveries)
	}
	must(t, c.Reject())
	empty(t, b)
	dead, err := b.Dead()
	must(t, err)
	if len(dead) != 1 || dead[0].Reason != mailbox.ReasonRejected {
		t.Errorf("dead: %+v in %s", dead, dir)
	}
}

func TestTooOften(t *testing.T) {
	b, _ := box(t, mailbox.Options{MaxDeliveries: 2})
	send(t, b, "one")
	must(t, receive(t, b).Close())
	must(t, receive(t, b).Close())
	empty(t, b)
	dead, err := b.Dead()
	must(t, err)
	if len(dead) != 1 || dead[0].Reason != mailbox.ReasonTooOften {
		t.Errorf("dead: %+v", dead)
	}
}

func TestLeases(t *testing.T) {
	b, dir := box(t, mailbox.Options{})
	send(t, b, "one")
	c, err := b.Receive(time.Hour)
	must(t, err)
	r := c.Receipt()
	if err := b.Ack(r); !errors.Is(err, mailbox.ErrHeld) {
		t.Errorf("while the lock is held: %v", err)
	}
	must(t, c.Close())
	empty(t, b) // the lease holds
	if d := time.Until(c.Until()); d < 59*time.Minute || d > 61*time.Minute {
		t.Errorf("the lease ends in %v", d)
	}
	must(t, b.Release(r))
	if err := b.Ack(r); !errors.Is(err, mailbox.ErrGone) {
		t.Errorf("after the release: %v", err)
	}
	c, err = b.Receive(time.Hour)
	must(t, err)
	must(t, c.Close())
	must(t, b.Ack(c.Receipt()))
	if left := files(t, dir, "cur"); left != nil {
		t.Errorf("cur holds %q", left)
	}
	// Ended, and from a clock that was wrong.
	for _, until := range []string{"1", "99999999999"} {
		must(t, os.WriteFile(filepath.Join(dir, "cur", "x:1:"+until), []byte(good2), 0o600))
		c := receive(t, b)
		if c.Deliveries != 2 {
			t.Errorf("until %s: delivery %d", until, c.Deliveries)
		}
		must(t, c.Ack())
	}
	for _, bad := range []string{"", "x", "x:0:1", "../x:1:1", "x:1:01", "x:1:1:1", ".x:1:1", "x:-1:0", "x:1:-1"} {
		if _, err := mailbox.ParseReceipt(bad); err == nil {
			t.Errorf("receipt %q is taken", bad)
		}
		if b.Ack(mailbox.Receipt(bad)) == nil {
			t.Errorf("Ack takes %q", bad)
		}
	}
}

const good2 = `{"id":"a","from":"a","to":"b","type":"t","time":"2026-01-02T03:04:05Z","body":""}`

func TestExpiredIsRemoved(t *testing.T) {
	b, dir := box(t, mailbox.Options{})
	m := text("late")
	m.Expires = time.Now().Add(-time.Second)
	_, err := b.Send(m)
	must(t, err)
	m.Expires = time.Now().Add(time.Hour)
	_, err = b.Send(m)
	must(t, err)
	must(t, receive(t, b).Ack())
	empty(t, b)
	if left := append(files(t, dir, "new"), files(t, dir, "dead")...); left != nil {
		t.Errorf("left: %q", left)
	}
}

// What is no message goes to the dead, with the reason, and nothing waits for it.
func TestForeignThingsAreBuried(t *testing.T) {
	b, dir := box(t, mailbox.Options{MaxBytes: 1000})
	in := func(name string) string { return filepath.Join(dir, "new", name) }
	must(t, unix.Mkfifo(in("fifo"), 0o600))
	must(t, os.Mkdir(in("folder"), 0o700))
	must(t, os.Symlink("/etc/passwd", in("link")))
	must(t, os.WriteFile(in(".hidden"), []byte(good), 0o600))
	must(t, os.WriteFile(in("a b\n"), []byte(good), 0o600))
	must(t, os.WriteFile(in("colon:1:0"), []byte(good), 0o600))
	must(t, os.WriteFile(in("half"), []byte(good[:50]), 0o600))
	must(t, os.WriteFile(in("empty"), nil, 0o600))
	must(t, os.WriteFile(in("big"), []byte(good+strings.Repeat(" ", 1000)), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "cur", "nonsense"), []byte(good2), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "cur", "same:1:0"), []byte(good2), 0o600))
	must(t, os.WriteFile(in("zz"), []byte(good2), 0o600))
	listed, err := b.List()
	must(t, err)
	bad := 0
	for _, e := range listed {
		if e.Problem != "" {
			bad++
		}
	}
	if len(listed) != 12 || bad != 10 {
		t.Errorf("List has %d entries, %d of them bad: %+v", len(listed), bad, listed)
	}
	must(t, receive(t, b).Ack())
	must(t, receive(t, b).Ack())
	empty(t, b)
	dead, err := b.Dead()
	must(t, err)
	var got []string
	for _, l := range dead {
		base, _, _ := strings.Cut(l.Name, ":")
		if l.Reason == mailbox.ReasonName {
			base = "" // the old name is not repeated
		}
		got = append(got, base+" "+string(l.Reason))
	}
	slices.Sort(got)
	want := []string{" bad-name", " bad-name", " bad-name", " bad-name", "big too-big", "empty unparsable", "fifo not-a-file", "folder not-a-file", "half unparsable", "link not-a-file"}
	if !slices.Equal(got, want) {
		t.Errorf("dead: %q\nwant: %q", got, want)
	}
}

func TestTheDeadAreBounded(t *testing.T) {
	b, dir := box(t, mailbox.Options{MaxDead: 3})
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		must(t, os.WriteFile(filepath.Join(dir, "new", name), nil, 0o600))
	}
	empty(t, b)
	if got := files(t, dir, "dead"); !slices.Equal(got, []string{"c:unparsable", "d:unparsable", "e:unparsable"}) {
		t.Errorf("dead: %q", got)
	}
}

func TestFull(t *testing.T) {
	b, _ := box(t, mailbox.Options{MaxWaiting: 40})
	for range 40 {
		send(t, b, "x")
	}
	if _, err := b.Send(text("x")); !errors.Is(err, mailbox.ErrFull) {
		t.Errorf("the 41st: %v", err)
	}
	must(t, receive(t, b).Ack())
	send(t, b, "x")
}

func TestOpenRefuses(t *testing.T) {
	if _, err := mailbox.Open(filepath.Join(t.TempDir(), "none"), mailbox.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing box: %v", err)
	}
	for _, name := range []string{"", "tmp", "new", "cur", "dead"} {
		_, dir := box(t, mailbox.Options{})
		path := filepath.Join(dir, name)
		must(t, os.Chmod(path, 0o750))
		if _, err := mailbox.Open(dir, mailbox.Options{}); err == nil {
			t.Errorf("%q readable by the group is opened", name)
		}
		must(t, os.Chmod(path, 0o700))
		must(t, os.Rename(path, path+".moved"))
		must(t, os.Symlink(path+".moved", path))
		if _, err := mailbox.Open(dir, mailbox.Options{}); err == nil {
			t.Errorf("%q as a link is opened", name)
		}
		if mailbox.Create(dir) == nil {
			t.Errorf("%q as a link is accepted by Create", name)
		}
	}
}

func TestOldRemainsOfSendersAreSwept(t *testing.T) {
	_, dir := box(t, mailbox.Options{})
	for _, name := range []string{"old", "young"} {
		must(t, os.WriteFile(filepath.Join(dir, "tmp", name), nil, 0o600))
	}
	then := time.Now().Add(-37 * time.Hour)
	must(t, os.Chtimes(filepath.Join(dir, "tmp", "old"), then, then))
	open(t, dir, mailbox.Options{})
	if got := files(t, dir, "tmp"); !slices.Equal(got, []string{"young"}) {
		t.Errorf("tmp: %q", got)
	}
}
