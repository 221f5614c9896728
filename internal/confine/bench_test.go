package confine_test

import (
	"syscall"
	"testing"

	"snens/internal/confine"
)

func BenchmarkStart(b *testing.B) {
	needSupport(b)
	for name, r := range map[string]confine.Rules{"plain": {}, "confined": strict} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var pid int
				err := confine.Run(r, func() (err error) {
					pid, err = syscall.ForkExec("/bin/true", []string{"true"}, nil)
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := syscall.Wait4(pid, nil, 0, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkProve(b *testing.B) {
	needSupport(b)
	for b.Loop() {
		if err := confine.Prove(); err != nil {
			b.Fatal(err)
		}
	}
}
