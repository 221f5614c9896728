package confine_test

import (
	"os"
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
	"snens/internal/confine"
)

// However many run at once, none gets the main thread.
func TestNeverTheMainThread(t *testing.T) {
	needSupport(t)
	var group sync.WaitGroup
	for range 200 {
		group.Go(func() {
			err := confine.Run(strict, func() error {
				if unix.Gettid() == os.Getpid() {
					t.Error("f runs on the main thread")
				}
				runtime.Gosched()
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if status, err := os.ReadFile("/proc/self/status"); err != nil {
		t.Fatal(err)
	} else if restricted(status) {
		t.Error("the main thread is restricted")
	}
}
