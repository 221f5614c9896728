package confine_test

import (
	"strings"
	"testing"

	"snens/internal/confine"
)

// An older Landlock is stood in for by asking the kernel for its rights alone.
// What it lacks is refused all the same by the filter, or named as a gap.
func TestOlderLandlock(t *testing.T) {
	have := needSupport(t)
	cases := []struct {
		op   string
		abi  int
		want string
	}{
		{"write", 1, "EACCES"},
		{"create", 1, "EACCES"},
		{"rename", 1, "EACCES"},
		{"unlink", 1, "EACCES"},
		{"truncate", 1, "EACCES"},
		{"opentrunc", 1, "EACCES"},
		{"openat2", 1, "ENOSYS"},
		{"read", 1, "ok"},
		{"tcp", 1, "EAFNOSUPPORT"},
		{"unix", 1, "EAFNOSUPPORT"},
		{"ptrace", 1, "EPERM"},
		{"null", 1, "ok"},
		{"truncate", 2, "EACCES"},
		{"opentrunc", 2, "EACCES"},
		{"isatty", 2, "ok"},
		{"truncate", 3, "EACCES"},
		{"opentrunc", 3, "EACCES"},
		{"openat2", 3, "EACCES"},
		{"tcp", 3, "EAFNOSUPPORT"},
		{"isatty", 4, "ok"},
		{"isatty", 5, "ok"},
		{"devioctl", 5, "EACCES"},
		{"devioctl", 4, "ok"}, // the gaps that Support names
		{"signal", 5, "ok"},
	}
	for _, c := range cases {
		if have.Landlock < c.abi {
			continue
		}
		w := newWorld(t)
		run := func(f func() error) error { return confine.RunAsABI(c.abi, strict, f) }
		if got := tryWith(t, run, c.op, w.args...); got != c.want {
			t.Errorf("ABI %d, %s: %s, want %s", c.abi, c.op, got, c.want)
		}
	}
}

func TestGapsNameWhatIsOpen(t *testing.T) {
	for abi, want := range map[int][]string{
		1: {"ioctl on devices", "signals"},
		4: {"ioctl on devices", "signals"},
		5: {"signals"},
		6: {},
		9: {},
	} {
		got := confine.GapsOfABI(abi)
		if len(got) != len(want) {
			t.Errorf("ABI %d: %q, want %d gaps", abi, got, len(want))
			continue
		}
		for i := range want {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("ABI %d: gap %q, want one on %s", abi, got[i], want[i])
			}
		}
	}
}

func TestSupportLine(t *testing.T) {
	for _, c := range []struct {
		s    confine.Support
		want string
	}{
		{confine.Support{Landlock: 7, Seccomp: true}, "Landlock ABI 7, seccomp"},
		{confine.Support{Landlock: 3, Seccomp: true, Gaps: []string{"a", "b"}}, "Landlock ABI 3, seccomp; open on this kernel: a; b"},
		{confine.Support{Seccomp: true, Missing: []string{"Landlock (x)"}}, "not available: Landlock (x)"},
	} {
		if got := c.s.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
