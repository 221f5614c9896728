package execute_test

import "testing"

func TestStuckAllCountsEveryUID(t *testing.T) {
	w := newWorld(t, groupTree(t), nil)
	gone := make(chan struct{})
	if n := w.StuckAll(); n != 0 {
		t.Errorf("%d are stuck before anything was", n)
	}
	w.GoStuck(7, gone)
	w.GoStuck(7, gone)
	w.GoStuck(8, gone)
	if n := w.StuckAll(); n != 3 {
		t.Errorf("%d are stuck, want 3", n)
	}
	close(gone)
}
