package confine

import "golang.org/x/sys/unix"

// RunAsABI is Run as on a kernel with an older Landlock.
func RunAsABI(abi int, r Rules, f func() error) error {
	s := Supported()
	s.Landlock, s.signals = abi, s.signals && abi >= 6
	return runWith(r, s, f)
}

// GapsOfABI is what Support.Gaps says there.
func GapsOfABI(abi int) []string { return gaps(Support{Landlock: abi, signals: abi >= 6}) }

// Filter is the program for the rules.
func Filter(r Rules, abi int) []unix.SockFilter { return filter(r, abi) }

// NativeArch is the AUDIT_ARCH value of this machine.
var NativeArch = native.arch
