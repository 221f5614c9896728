package examples_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snens/internal/testneed"
	"snens/mailbox"
)

func mailBox(t *testing.T) (*mailbox.Box, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mail")
	must(t, mailbox.Create(dir))
	b, err := mailbox.Open(dir, mailbox.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, b.Close()) })
	return b, dir
}

var mailBodies = []string{"", "one line", "two\nlines\n", "\"quoted\" \\ back\tslash", "\n\n", "größe €", "a.", "'$(id)' %s %d"}

func TestTheShellSends(t *testing.T) {
	sh := testneed.Program(t, "sh", "dash")
	b, dir := mailBox(t)
	for _, body := range mailBodies {
		out, err := exec.Command(sh, "mail/send.sh", dir, "a script", "child", body).Output()
		must(t, err)
		c, err := b.Receive(0)
		must(t, err)
		m := c.Message
		if m.Body != body || m.From != "a script" || m.To != "child" || m.Type != "text" || string(m.ID) != strings.TrimSpace(string(out)) {
			t.Errorf("%q came as %+v", body, m)
		}
		if d := time.Since(m.Time); d < -time.Second || d > time.Minute {
			t.Errorf("sent %v ago", d)
		}
		must(t, c.Ack())
	}
}

// receiver runs the example once; ok is false when no message was there.
func receiver(t *testing.T, dir string) (body string, ok bool) {
	t.Helper()
	out, err := exec.Command(python(t), "mail/receive.py", dir).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && len(exit.Stderr) == 0 {
		return "", false
	}
	must(t, err)
	return string(out), true
}

func TestPythonReceives(t *testing.T) {
	b, dir := mailBox(t)
	for _, body := range append(mailBodies, "\x80\x00") {
		_, err := b.Send(mailbox.Message{From: "parent", To: "script", Type: "text", Body: body})
		must(t, err)
		if got, ok := receiver(t, dir); !ok || got != body {
			t.Errorf("%q came as %q, %v", body, got, ok)
		}
	}
	if got, ok := receiver(t, dir); ok {
		t.Errorf("an empty box gives %q", got)
	}
}

// The two sides respect each other's claims and leases.
func TestPythonLeavesClaimsAlone(t *testing.T) {
	b, dir := mailBox(t)
	_, err := b.Send(mailbox.Message{From: "parent", To: "script", Type: "text", Body: "x"})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "new", "garbage"), []byte("{"), 0o600))
	c, err := b.Receive(0)
	must(t, err)
	if _, ok := receiver(t, dir); ok {
		t.Error("a locked message was taken")
	}
	must(t, c.Close())
	c, err = b.Receive(time.Hour)
	must(t, err)
	must(t, c.Close())
	if _, ok := receiver(t, dir); ok {
		t.Error("a leased message was taken")
	}
	must(t, b.Release(c.Receipt()))
	if got, ok := receiver(t, dir); !ok || got != "x" {
		t.Errorf("what was released came as %q, %v", got, ok)
	}
}
