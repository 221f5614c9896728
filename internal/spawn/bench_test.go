package spawn_test

import (
	"syscall"
	"testing"

	"snens/internal/cgroup"
	"snens/internal/spawn"
)

// BenchmarkStart compares one start and end of a small program with a plain one.
func BenchmarkStart(b *testing.B) {
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			pid, err := syscall.ForkExec("/bin/true", []string{"true"}, &syscall.ProcAttr{Files: []uintptr{0, 1, 2}})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := syscall.Wait4(pid, nil, 0, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	tree, err := cgroup.Detect()
	if err == nil {
		err = tree.Probe()
	}
	for name, tree := range map[string]*cgroup.Tree{"fallback": nil, "group": tree} {
		b.Run(name, func(b *testing.B) {
			if name == "group" && err != nil {
				b.Fatal(err)
			}
			r, err := spawn.NewRunner(tree)
			if err != nil {
				b.Fatal(err)
			}
			o := spawn.NewOpener(0)
			for b.Loop() {
				p, err := o.Open("/bin/true")
				if err != nil {
					b.Fatal(err)
				}
				proc, err := r.Start(b.Context(), spec(p, "true"))
				if err != nil {
					b.Fatal(err)
				}
				<-proc.Gone()
				p.Close()
			}
		})
	}
}
