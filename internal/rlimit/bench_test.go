package rlimit_test

import (
	"syscall"
	"testing"

	"snens/internal/rlimit"
)

func BenchmarkStart(b *testing.B) {
	for name, l := range map[string]rlimit.Limits{
		"plain":   {},
		"limited": {Memory: 1 << 30, OpenFiles: 100, NoCore: true},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var pid int
				var err error
				if l.IsZero() {
					pid, err = syscall.ForkExec("/bin/true", []string{"true"}, nil)
				} else {
					pid, err = rlimit.Start("/bin/true", []string{"true"}, nil, l)
				}
				if err != nil {
					b.Fatal(err)
				}
				if _, err := rlimit.WallWait(pid); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
