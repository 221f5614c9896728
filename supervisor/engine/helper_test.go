package engine_test

import (
	"testing"

	"snens/internal/testneed"
	"snens/supervisor/engine"
)

// start starts a call that ends with the test, whatever happens to the test.
func start(t *testing.T, e *engine.Engine, s engine.Spec) *engine.Running {
	t.Helper()
	run := e.Start(s)
	t.Cleanup(func() {
		run.Kill()
		run.Wait()
	})
	return run
}

func needGroups(t *testing.T) {
	t.Helper()
	testneed.CgroupV2(t)
}
