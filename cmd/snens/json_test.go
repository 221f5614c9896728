package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestJSONActsOnNoTerminal(t *testing.T) {
	for in, want := range map[string]string{
		"a\u009bm":           `"a\u009bm"`,
		"\u007f":             `"\u007f"`,
		"\u202eabc\u2066":    `"\u202eabc\u2066"`,
		"\u200b\ufeff\u00ad": `"\u200b\ufeff\u00ad"`,
		"\U000e0041":         `"\udb40\udc41"`,
		"é—日\U0001f600 <&>":  "\"é—日\U0001f600 <&>\"",
	} {
		r := newRunner(t)
		a := &app{out: newOutput(r.stdout)}
		// Both what is encoded here and what was JSON before.
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []any{in, json.RawMessage(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(raw)))} {
			if err := a.printJSON(v); err != nil {
				t.Fatal(err)
			}
			_ = a.out.flush()
			got := r.drain(r.stdout)
			var back string
			if err := json.Unmarshal([]byte(got), &back); err != nil || back != in || got != want+"\n" {
				t.Errorf("%q: got %s, which reads as %q (%v); want %s", in, got, back, err, want)
			}
		}
	}
	if got := tameJSON([]byte("\"\x9b\"")); string(got) != `"\ufffd"` {
		t.Errorf("a stray byte: got %s", got)
	}
}

func FuzzTameJSON(f *testing.F) {
	for _, seed := range []string{"", "a\u009b", "\U000e0041", "\x9b\xff", "\\u202e\u202e"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var plain, tame string
		if json.Unmarshal(text, &plain) != nil || json.Unmarshal(tameJSON(text), &tame) != nil || plain != tame {
			t.Errorf("%s reads as %q, then as %q", text, plain, tame)
		}
	})
}
