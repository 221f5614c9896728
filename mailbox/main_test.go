package mailbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"snens/mailbox"
)

// TestMain lets the test binary be a sender or receiver that can be killed.
func TestMain(m *testing.M) {
	if part := os.Getenv("MAILBOX_PART"); part != "" {
		os.Exit(play(part))
	}
	os.Exit(m.Run())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// box makes and opens a box.
func box(t testing.TB, opt mailbox.Options) (*mailbox.Box, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mail")
	must(t, mailbox.Create(dir))
	return open(t, dir, opt), dir
}

func open(t testing.TB, dir string, opt mailbox.Options) *mailbox.Box {
	t.Helper()
	b, err := mailbox.Open(dir, opt)
	must(t, err)
	t.Cleanup(func() { must(t, b.Close()) })
	return b
}

func text(body string) mailbox.Message {
	return mailbox.Message{From: "parent", To: "child", Type: "text", Body: body}
}

func send(t testing.TB, b *mailbox.Box, body string) mailbox.ID {
	t.Helper()
	id, err := b.Send(text(body))
	must(t, err)
	return id
}

func receive(t testing.TB, b *mailbox.Box) *mailbox.Claim {
	t.Helper()
	c, err := b.Receive(0)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

func empty(t testing.TB, b *mailbox.Box) {
	t.Helper()
	c, err := b.Receive(0)
	if !errors.Is(err, mailbox.ErrEmpty) {
		t.Fatalf("got %+v, %v; want that nothing can be received", c, err)
	}
}

// files lists a folder of the box.
func files(t testing.TB, dir, name string) []string {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(dir, name))
	must(t, err)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}
