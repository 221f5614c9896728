package engine_test

import (
	"sync"
	"testing"

	"snens/supervisor/engine"
)

// Calls side by side, each over before the others look around for orphans: the
// status of every one is its own, and none is taken for another's orphan.
func TestEveryCallHasItsOwnEnd(t *testing.T) {
	both(t, func(t *testing.T, e *engine.Engine) {
		// A program that is none makes an engine with groups look after orphans too.
		bad := sh(t, "")
		bad.Path = "/dev/null"
		e.Run(bad)
		var calls sync.WaitGroup
		for range 8 {
			var specs []engine.Spec
			for range 40 {
				specs = append(specs, sh(t, "exit 3"))
			}
			calls.Go(func() {
				for _, s := range specs {
					if r := e.Run(s); r.ExitStatus() != 3 {
						t.Errorf("exit status %d, want 3: %s", r.ExitStatus(), r.Content)
					}
				}
			})
		}
		calls.Wait()
	})
}
