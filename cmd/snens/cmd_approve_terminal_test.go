package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"snens/approval/prompt"
	"snens/broker/action"
)

const endOfInput = "\x04"

// seat is snens approve at a terminal of its own.
type seat struct {
	t   *testing.T
	cmd *exec.Cmd
	tty *os.File
}

func sit(t *testing.T, d *desk, args ...string) *seat {
	t.Helper()
	b := newBench(t)
	b.env = append(b.env, "SNENS_APPROVAL_SOCK="+d.serve(t), "NO_COLOR=1")
	cmd := b.snens(append([]string{"approve", "--user"}, args...)...)
	return &seat{t: t, cmd: cmd, tty: startInTerminal(t, cmd)}
}

func (s *seat) types(text string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// ends is the exit status, and what was shown since.
func (s *seat) ends() (status int, shown string) {
	s.t.Helper()
	var rest bytes.Buffer
	_, _ = rest.ReadFrom(s.tty) // ends with an error when the terminal has gone
	return shellStatus(s.t, s.cmd.Wait()), rest.String()
}

func (s *seat) until(text string) string {
	s.t.Helper()
	return readUntil(s.t, s.tty, text)
}

func TestApproveYesAtATerminal(t *testing.T) {
	// 24 rows are too few for the text, so its end has to be asked for first.
	p := waits(t, 1, nil)
	digest := p.Request.Digest().String()
	for typed, said := range map[string]string{
		"y\n": "approve " + digest, "yes\n": "approve " + digest,
		"\n": "", "n\n": "", endOfInput: "", "yn\n": "", "y" + endOfInput + endOfInput: "", "yes please\n": "", "approve\n": "",
	} {
		d := &desk{pending: []prompt.Pending{p}}
		s := sit(t, d, "yes", p.ID.String())
		first := s.until("more, q = end -- ")
		if strings.Contains(first, "approve ") {
			t.Errorf("asked before the end was shown:\n%s", first)
		}
		s.types("\n")
		shown := s.through("approve " + digest[:12] + "? [y/N] ")
		if !strings.Contains(shown, "checked by nobody: reas") {
			t.Errorf("the end is not shown:\n%s", shown)
		}
		s.types(typed)
		status, _ := s.ends()
		if got := strings.Join(d.said(), ","); got != said || (status == 0) != (said != "") {
			t.Errorf("%q: %d, %q", typed, status, got)
		}
	}
}

// through turns the pages until text comes.
func (s *seat) through(text string) string {
	s.t.Helper()
	var shown strings.Builder
	buf := make([]byte, 4096)
	turned := 0
	for !strings.Contains(shown.String(), text) {
		n, err := s.tty.Read(buf)
		shown.Write(buf[:n])
		if err != nil {
			s.t.Fatalf("the terminal never shows %q, but:\n%s", text, shown.String())
		}
		for turned < strings.Count(shown.String(), "more, q = end -- ") {
			turned++
			s.types("\n")
		}
	}
	return shown.String()
}

// What was typed before a question is no answer to it, at a page's end neither.
func TestApproveDiscardsTypedAheadKeys(t *testing.T) {
	p := waits(t, 1, nil)
	d := &desk{pending: []prompt.Pending{p}}
	d.mu.Lock() // the server does not answer before the keys are there
	s := sit(t, d, "yes", p.ID.String())
	s.types("y\ny\ny\ny\ny\ny\n")
	s.until("y\r\ny\r\ny\r\ny\r\ny\r\ny\r\n")
	d.mu.Unlock()
	first := s.until("more, q = end -- ")
	if strings.Contains(first, "y/N") {
		t.Errorf("a page was turned by an early key:\n%s", first)
	}
	s.types("\n")
	s.through("? [y/N] ")
	s.types(endOfInput)
	if status, _ := s.ends(); status != 1 || len(d.said()) > 0 {
		t.Errorf("%d, %q", status, d.said())
	}
}

func TestApproveLongTextNeedsItsEnd(t *testing.T) {
	p := waits(t, 1, func(r *action.Request) {
		r.Argv = []string{"sh", "-c", strings.Repeat("true; ", 500) + strings.Repeat(" ", 52) + "requester user: 0"}
	})
	for _, typed := range []string{"q\n", endOfInput} {
		d := &desk{pending: []prompt.Pending{p}}
		s := sit(t, d, "yes", p.ID.String())
		if first := s.until("more, q = end -- "); !strings.Contains(first, "-- 21 of ") {
			t.Errorf("the first page:\n%s", first)
		}
		s.types("y\n") // no answer: it turns the page
		if second := s.until("more, q = end -- "); !strings.Contains(second, "-- 42 of ") {
			t.Errorf("the second page:\n%s", second)
		}
		s.types(typed)
		if status, shown := s.ends(); status != 1 || len(d.said()) > 0 || strings.Contains(shown, "[y/N]") {
			t.Errorf("%q: %d, %q, %s", typed, status, d.said(), shown)
		}
	}
	d := &desk{pending: []prompt.Pending{p}}
	s := sit(t, d, "yes", p.ID.String())
	shown := s.through("? [y/N] ")
	for line := range strings.SplitSeq(shown, "\r\n") {
		if strings.HasPrefix(line, "requester user: 0") || len(line) > 120 {
			t.Errorf("a part of a value stands as a line of its own: %q", line)
		}
	}
	s.types("y\n")
	if status, _ := s.ends(); status != 0 || len(d.said()) != 1 {
		t.Errorf("%d, %q", status, d.said())
	}
}

// The object changes between the showing and the answer.
func TestApproveOfAnObjectThatChanges(t *testing.T) {
	p := waits(t, 1, nil)
	d := &desk{pending: []prompt.Pending{p}}
	s := sit(t, d, "yes", p.ID.String())
	s.through("? [y/N] ")
	d.mu.Lock()
	d.pending[0] = waits(t, 1, func(r *action.Request) { r.Argv[2] = "ssh.service" })
	d.mu.Unlock()
	s.types("y\n")
	if status, shown := s.ends(); status != 1 || !strings.Contains(shown, "about another text") || len(d.said()) > 0 {
		t.Errorf("%d, %q, %s", status, d.said(), shown)
	}
}

func TestApproveOneAfterTheOther(t *testing.T) {
	first, second, third := waits(t, 1, nil), waits(t, 2, nil), hostilePending(t)
	d := &desk{pending: []prompt.Pending{first, second, third}}
	s := sit(t, d)
	s.through("approve " + first.Request.Digest().Short() + "? [y = approve, n = deny, Enter = leave it, q = end] ")
	s.types("\n")
	s.through("approve " + second.Request.Digest().Short() + "? [y = approve, n = deny, Enter = leave it, q = end] ")
	s.types("n\n")
	shown := s.through("approve " + third.Request.Digest().Short() + "? [y = approve, n = deny, Enter = leave it, q = end] ")
	tame(t, "plain", strings.NewReplacer("\r\n", "\n").Replace(shown))
	s.types("maybe\n")
	s.through("q = end] ")
	s.types("y\n")
	status, _ := s.ends()
	want := "deny " + second.Request.Digest().String() + ",approve " + third.Request.Digest().String()
	if got := strings.Join(d.said(), ","); status != 0 || got != want {
		t.Errorf("%d, %q", status, got)
	}
	for _, typed := range []string{"q\n", endOfInput} {
		d = &desk{pending: []prompt.Pending{first, second}}
		s = sit(t, d)
		s.through("q = end] ")
		s.types(typed)
		if status, _ := s.ends(); status != 0 || len(d.said()) > 0 {
			t.Errorf("%q: %d, %q", typed, status, d.said())
		}
	}
	s = sit(t, &desk{})
	if status, shown := s.ends(); status != 0 || shown != "nothing waits for you\r\n" {
		t.Errorf("%d, %q", status, shown)
	}
}
