package prepare_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"snens/broker/action"
	"snens/broker/prepare"
)

// Whatever is accepted holds, says what was sent, and reads back as the same
// request; whatever is not is a refusal of one line and no fault of ours.
func FuzzWhatIsMadeHolds(f *testing.F) {
	w := newWorld(f, rule("r", `stdin = "sealed"`, `env_pass = ["LANG", "NOTE"]`, `cwd = "requester"`,
		`args = [{slot = "w", kind = "word", pattern = "(?s).*", max = 4000, many = 4, optional = true, allow_dash = true}, "--", {slot = "file", kind = "path", beneath = "/"}]`))
	f.Add("a", "b c", "LANG=C", "NOTE=x", "input", "/")
	f.Add("", "-", "LANG=", "=", "", "/tmp")
	f.Add("\n", "\u202e", "NOTE=\u00a0", "LANG=../x", "\x00\xff", "/etc/..")
	f.Add("/proc/self/fd/3", "\xff", "PATH=/x", "PATH=/y", "\r\n", "/proc/self")
	f.Fuzz(func(t *testing.T, one, two, env, more, input, cwd string) {
		a := prepare.Ask{From: asAlice, Argv: w.tool(one, two, "--", "/etc/"+one), Env: []string{env, more}, Stdin: &input, Cwd: cwd}
		p, err := w.m.Make(t.Context(), a, w.m.Judge(a), noon)
		if err != nil {
			var no *prepare.Refusal
			if !errors.As(err, &no) || no.Reason == 0 || strings.ContainsAny(no.Why, "\n\x00\u202e") {
				t.Fatal(err)
			}
			return
		}
		defer p.Close()
		r := p.Request.Request()
		if !slices.Equal(r.Argv, a.Argv) || r.Stdin.Content != input || r.Cwd != cwd {
			t.Fatalf("sealed %+v", r)
		}
		if c, ok := w.m.StillHolds(t.Context(), p.Request); !ok {
			t.Fatalf("does not hold: %s", c.Detail)
		}
		if again, err := action.Parse(p.Request.Text()); err != nil || again.Digest() != p.Request.Digest() {
			t.Fatal(err)
		}
	})
}
