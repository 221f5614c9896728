package action_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"snens/broker/action"
)

func TestParseUIDAndGID(t *testing.T) {
	for in, want := range map[string]uint32{"0": 0, "1000": 1000, "4000000000": 4000000000, "4294967294": 4294967294} {
		if got, err := action.ParseUID(in); err != nil || uint32(got) != want || got.String() != in {
			t.Errorf("uid %q: %v, %v", in, got, err)
		}
		if got, err := action.ParseGID(in); err != nil || uint32(got) != want || got.String() != in {
			t.Errorf("gid %q: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "-1", "4294967295", "4294967296", "0x0", " 0", "0 ", "#0", "+0", "00", "01", "-0", "1_000", "٣", "root", "\x00"} {
		if got, err := action.ParseUID(in); err == nil || got == 0 {
			t.Errorf("uid %q: accepted as %v, or gives root: %v", in, got, err)
		}
		if got, err := action.ParseGID(in); err == nil || got == 0 {
			t.Errorf("gid %q: accepted as %v: %v", in, got, err)
		}
	}
}

func TestParseRuleID(t *testing.T) {
	for _, good := range []string{"a", "0", "restart-web", "A.b_c-1", strings.Repeat("x", 64), "lists"} {
		if got, err := action.ParseRuleID(good); err != nil || string(got) != good {
			t.Errorf("%q: %v, %v", good, got, err)
		}
	}
	for _, bad := range []string{"", "-a", ".a", "_a", "a b", "a=b", "a\n", "é", "a/b", strings.Repeat("x", 65), "result", "cancel", "list", "check", "rules"} {
		if _, err := action.ParseRuleID(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestHexIDs(t *testing.T) {
	hex := strings.Repeat("0123456789abcdef", 4)
	d, err := action.ParseDigest(hex)
	if err != nil || d.String() != hex || d[1] != 0x23 || d.Short() != "0123456789ab" || d.IsZero() {
		t.Errorf("%v, %v", d, err)
	}
	n, err := action.ParseNonce(hex[:32])
	if err != nil || n.String() != hex[:32] {
		t.Errorf("%v, %v", n, err)
	}
	i, err := action.ParseInstallID(hex[:32])
	if err != nil || i.String() != hex[:32] {
		t.Errorf("%v, %v", i, err)
	}
	for _, bad := range []string{"", hex[:63], hex + "0", strings.ToUpper(hex), hex[:63] + "g", " " + hex[:63], hex[:62] + "é"} {
		if _, err := action.ParseDigest(bad); err == nil {
			t.Errorf("%q is a digest", bad)
		}
	}
	if _, err := action.ParseNonce(hex); err == nil {
		t.Error("a digest is a nonce")
	}
}

func TestDigestTypedByAPerson(t *testing.T) {
	d := action.DigestOf("") // e3b0c44298fc1c149afb...
	for typed, want := range map[string]bool{
		"e3b0c44298fc": true, "E3B0C44298FC": true, "e3b0c44298fc1c14": true, d.String(): true,
		"e3b0c44298f": false, "": false, "e3b0c44298fd": false, d.String() + "0": false, "b0c44298fc1c": false,
	} {
		if d.Matches(typed) != want {
			t.Errorf("%q: %v", typed, !want)
		}
	}
}

func TestRequestID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var id action.RequestID
		copy(id[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		got, err := action.ParseRequestID(id.String())
		if (err == nil) == id.IsZero() || got != id {
			t.Fatalf("%v came back as %v, %v", id, got, err)
		}
	})
	text := action.RequestID{1, 2, 3}.String()
	if len(text) != 26 {
		t.Errorf("%q has %d characters", text, len(text))
	}
	// The last letter carries three bits only: another one must not name the same request.
	for _, bad := range []string{"", text[:25], text + "a", strings.ToUpper(text), text[:25] + "b", text[:25] + "=", text[:10] + "\n" + text[10:], strings.Repeat("a", 26)} {
		if id, err := action.ParseRequestID(bad); err == nil || !id.IsZero() {
			t.Errorf("%q is request %v", bad, id)
		}
	}
}

func TestDuration(t *testing.T) {
	for text, d := range map[string]time.Duration{
		"1ms": time.Millisecond, "500ms": 500 * time.Millisecond, "1s500ms": 1500 * time.Millisecond, "15m": 15 * time.Minute,
		"1h": time.Hour, "1h30m": 90 * time.Minute, "1m30s": 90 * time.Second, "720h": 720 * time.Hour, "1h1ms": time.Hour + time.Millisecond,
	} {
		if got := action.FormatDuration(d); got != text {
			t.Errorf("%v is %q, want %q", d, got, text)
		}
		if got, err := action.ParseDuration(text); err != nil || got != d {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "0", "0s", "-1s", "90s", "60m", "1.5s", "1s1s", "30m1h", "01m", "+1m", "1 m", "1us", "721h", "720h1ms", "1h0m", "9999999999999h", "once"} {
		if got, err := action.ParseDuration(bad); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
}
