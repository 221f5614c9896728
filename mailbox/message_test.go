package mailbox_test

import (
	"strings"
	"testing"
	"time"

	"snens/mailbox"
)

const good = `{"id":"a-1","from":"parent","to":"child","reply_to":"b","type":"task","time":"2026-01-02T03:04:05Z","expires":"2026-01-03T00:00:00+01:00","body":"do\nit"}`

func TestParse(t *testing.T) {
	got, err := mailbox.Parse([]byte(good))
	must(t, err)
	want := mailbox.Message{
		ID: "a-1", From: "parent", To: "child", ReplyTo: "b", Type: "task", Body: "do\nit",
		Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Expires: time.Date(2026, 1, 2, 23, 0, 0, 0, time.UTC),
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"id":"a-1",`, ``, "id"},
		{`a-1`, `.a`, "id"},
		{`a-1`, `a/b`, "id"},
		{`a-1`, ``, "id"},
		{`"from":"parent"`, `"from":""`, "from"},
		{`"from":"parent"`, `"from":"a\u001b[2J"`, "from"},
		{`"from":"parent"`, `"from":"` + strings.Repeat("a", 129) + `"`, "from"},
		{`"from":"parent"`, `"from":null`, "from"},
		{`"to":"child"`, `"to":7`, "to"},
		{`"reply_to":"b"`, `"reply_to":""`, "reply_to"},
		{`task`, `\n`, "type"},
		{`2026-01-02T`, `2026-13-02T`, "time"},
		{`2026-01-02T`, `1926-01-02T`, "time"},
		{`2026-01-02T`, `2026-01-02 `, "time"},
		{`2026-01-03`, `never`, "expires"},
		{`"body":"do\nit"`, `"body":{"base64":"YQ=="}`, "body"},
		{`"body":"do\nit"`, `"body":"a","body":"b"`, "body"},
		{`"body":"do\nit"`, `"body":"a","extra":1`, "extra"},
		{good, good + good, "follows"},
		{good, good[:40], ""},
		{good, ``, ""},
		{good, `[]`, ""},
	} {
		_, err := mailbox.Parse([]byte(strings.Replace(good, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q -> %q: got %v, want an error about %q", c.old, c.new, err, c.want)
		}
	}
}

func TestSendRefusesWhatCannotBeRead(t *testing.T) {
	b, dir := box(t, mailbox.Options{MaxBytes: 500})
	for name, m := range map[string]mailbox.Message{
		"from":     {To: "b", Type: "t"},
		"to":       {From: "a", To: "b\n", Type: "t"},
		"type":     {From: "a", To: "b"},
		"id":       {ID: "x y", From: "a", To: "b", Type: "t"},
		"reply_to": {ReplyTo: "/", From: "a", To: "b", Type: "t"},
		"time":     {From: "a", To: "b", Type: "t", Time: time.Unix(-1, 0)},
		"expires":  {From: "a", To: "b", Type: "t", Expires: time.Unix(-1, 0)},
		"bytes":    {From: "a", To: "b", Type: "t", Body: strings.Repeat("x", 500)},
	} {
		if _, err := b.Send(m); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if n := len(files(t, dir, "new")) + len(files(t, dir, "tmp")); n != 0 {
		t.Errorf("%d files are left", n)
	}
}

// What parses prints back the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(strings.Replace(good, `"do\nit"`, `{"base64":"gA=="}`, 1)))
	f.Add([]byte(`{"id":"a","from":"a","to":"b","type":"t","time":"2026-01-02T03:04:05.5-00:01","body":""}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := mailbox.Parse(data)
		if err != nil {
			return
		}
		text, err := m.Encode()
		must(t, err)
		again, err := mailbox.Parse(text)
		must(t, err)
		if again != m {
			t.Errorf("%+v came back as %+v", m, again)
		}
	})
}
