package action_test

import (
	"strings"
	"testing"
	"time"

	"snens/broker/action"
)

func TestLifespan(t *testing.T) {
	for text, want := range map[string]time.Duration{"once": 0, "15m": 15 * time.Minute, "1h": time.Hour, "1s": time.Second} {
		l, err := action.ParseLifespan(text)
		if err != nil || !l.Valid() || l.String() != text || l.Duration() != want {
			t.Errorf("%q: %v, %v, %v", text, l, l.Duration(), err)
		}
	}
	for _, bad := range []string{"", "Once", "forever", "0", "1ns", "500ms", "60s", "1000h", "once\n"} {
		if l, err := action.ParseLifespan(bad); err == nil || l.Valid() {
			t.Errorf("%q is %v", bad, l)
		}
	}
	for _, l := range []action.Lifespan{0, -1, 2, action.Lifespan(time.Millisecond), action.Lifespan(action.MaxDuration + time.Second)} {
		if l.Valid() || l.Duration() != 0 {
			t.Errorf("%d is a lifespan of %v", int64(l), l.Duration())
		}
	}
	if action.Once >= action.Lifespan(time.Second) {
		t.Error("once is not the shortest")
	}
}

func TestVoteText(t *testing.T) {
	s := seal(t, plain())
	for _, c := range []struct {
		d    action.Decision
		l    action.Lifespan
		want string
	}{
		{action.Approve, action.Once, "decision: approve\nlifespan: once\n"},
		{action.Approve, action.Lifespan(15 * time.Minute), "decision: approve\nlifespan: 15m\n"},
		{action.Deny, 0, "decision: deny\nlifespan: none\n"},
		{action.Approve, 0, ""},
		{action.Approve, action.Lifespan(time.Millisecond), ""},
		{action.Deny, action.Once, ""},
		{0, 0, ""},
		{0, action.Once, ""},
		{9, action.Once, ""},
	} {
		got, err := action.VoteText(s, c.d, c.l)
		if c.want == "" {
			if err == nil || got != "" {
				t.Errorf("%v %v: %q", c.d, c.l, got)
			}
			continue
		}
		if err != nil || got != s.Text()+c.want {
			t.Errorf("%v %v: %q, %v", c.d, c.l, strings.TrimPrefix(got, s.Text()), err)
		}
		// A signature of a vote can never be taken for one of a request.
		if _, err := action.Parse(got); err == nil {
			t.Error("the text of a vote is a review text")
		}
	}
}

func TestDecision(t *testing.T) {
	for _, d := range []action.Decision{action.Approve, action.Deny} {
		if got, err := action.ParseDecision(d.String()); err != nil || got != d {
			t.Errorf("%v came back as %v, %v", d, got, err)
		}
	}
	var zero action.Decision
	if zero == action.Approve {
		t.Error("nothing said is an approval")
	}
	for _, bad := range []string{"", "yes", "Approve", "approve ", zero.String(), "allow"} {
		if d, err := action.ParseDecision(bad); err == nil || d == action.Approve {
			t.Errorf("%q is %v", bad, d)
		}
	}
}
