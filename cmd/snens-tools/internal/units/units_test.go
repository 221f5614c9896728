package units_test

import (
	"strings"
	"testing"

	"snens/cmd/snens-tools/internal/units"
)

func TestFullName(t *testing.T) {
	for in, want := range map[string]string{
		"nginx": "nginx.service", "nginx.service": "nginx.service", "a.timer": "a.timer", "a@b-c:d.socket": "a@b-c:d.socket",
		"org.example": "org.example.service", `dev-a\x2db.device`: `dev-a\x2db.device`, "x.": "x..service",
	} {
		if got, err := units.FullName(in); got != want || err != nil {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

// Whatever is taken is one plain word that no program takes for an option, and
// naming it in full changes nothing more.
func FuzzFullName(f *testing.F) {
	for _, s := range []string{"nginx", "-x", "--now", "a b", "a/b", "*", "a\n", "é", "a.service", strings.Repeat("a", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		full, err := units.FullName(s)
		if err != nil {
			return
		}
		again, err := units.FullName(full)
		if full[0] == '-' || strings.ContainsAny(full, "/ *?[]\n\t\x00,;=") || !strings.HasPrefix(full, s) || (len(full) <= 255 && (again != full || err != nil)) {
			t.Errorf("%q becomes %q, then %q, %v", s, full, again, err)
		}
	})
}
