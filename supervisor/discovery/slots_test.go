package discovery_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"snens/supervisor/discovery"
)

// sleeper is a prober whose probes take a time of their own, on the clock of
// the test's bubble.
type sleeper struct {
	takes func(argv0 string) time.Duration

	running, most atomic.Int32
	mu            sync.Mutex
	ended         map[string]time.Duration // since began; guarded by mu
	began         time.Time
}

func newSleeper(takes func(string) time.Duration) *sleeper {
	return &sleeper{takes: takes, ended: map[string]time.Duration{}, began: time.Now()}
}

func (s *sleeper) Probe(ctx context.Context, _, argv0 string) discovery.ProbeResult {
	now := s.running.Add(1)
	defer s.running.Add(-1)
	for {
		most := s.most.Load()
		if now <= most || s.most.CompareAndSwap(most, now) {
			break
		}
	}
	select {
	case <-time.After(s.takes(argv0)):
	case <-ctx.Done():
		return discovery.ProbeResult{Signal: "SIGKILL"}
	}
	s.mu.Lock()
	s.ended[argv0] = time.Since(s.began)
	s.mu.Unlock()
	return wellSpoken(argv0)
}

func tools(t testing.TB, n int) tree {
	tr := newTree(t)
	for i := range n {
		tr.add(fmt.Sprintf("t%02d", i), script)
	}
	return tr
}

func TestProbesAreBoundedByTheCores(t *testing.T) {
	tr := tools(t, 20)
	synctest.Test(t, func(t *testing.T) {
		s := newSleeper(func(string) time.Duration { return 100 * time.Millisecond })
		f := discovery.New(discovery.Options{Dirs: []string{tr.dir}, Prober: s, Parallel: 3})
		list(t, f, discovery.Cached)
		if s.most.Load() != 3 {
			t.Errorf("%d probes at once, want 3", s.most.Load())
		}
		if took := time.Since(s.began); took != 700*time.Millisecond {
			t.Errorf("20 probes of 100 ms, 3 at a time, took %v, want 700ms", took)
		}
	})
}

func TestASlowToolDelaysOnlyItself(t *testing.T) {
	tr := tools(t, 20)
	synctest.Test(t, func(t *testing.T) {
		s := newSleeper(func(name string) time.Duration {
			if name == "t00" {
				return 4 * time.Second
			}
			return 50 * time.Millisecond
		})
		f := discovery.New(discovery.Options{Dirs: []string{tr.dir}, Prober: s, Parallel: 1})
		list(t, f, discovery.Cached)
		if took := time.Since(s.began); took > 6*time.Second {
			t.Errorf("took %v", took)
		}
		for name, at := range s.ended {
			// Alone they would need 19 x 50 ms; the slow one holds the only slot for 250 ms.
			if name != "t00" && at > 1200*time.Millisecond {
				t.Errorf("%s was done after %v", name, at)
			}
		}
	})
}

func TestNeverMoreThan32AtOnce(t *testing.T) {
	tr := tools(t, 80)
	synctest.Test(t, func(t *testing.T) {
		s := newSleeper(func(string) time.Duration { return time.Minute })
		f := discovery.New(discovery.Options{Dirs: []string{tr.dir}, Prober: s, Parallel: 8})
		var work sync.WaitGroup
		for range 3 { // callers of one Finder share the bound
			work.Go(func() { list(t, f, discovery.Refresh) })
		}
		work.Wait()
		if s.most.Load() != 32 {
			t.Errorf("%d probes at once, want 32", s.most.Load())
		}
	})
}

func TestCancelledProbesAreNotBelieved(t *testing.T) {
	tr, cache := tools(t, 40), t.TempDir()+"/cache"
	synctest.Test(t, func(t *testing.T) {
		s := newSleeper(func(string) time.Duration { return time.Second })
		opts := discovery.Options{Dirs: []string{tr.dir}, CacheDir: cache, Prober: s, Parallel: 2}
		ctx, cancel := context.WithTimeout(t.Context(), 1600*time.Millisecond)
		defer cancel()
		if _, err := discovery.New(opts).All(ctx, discovery.Cached); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		done := len(s.ended)
		if done == 0 || done == 40 {
			t.Fatalf("%d probes ended; the test wants some", done)
		}
		after := newCounter(wellSpoken)
		opts.Prober = after
		got := list(t, discovery.New(opts), discovery.Cached)
		if len(got.Tools) != 40 || len(got.Quarantined) != 0 {
			t.Errorf("%d tools, quarantined: %v", len(got.Tools), got.Quarantined)
		}
		if after.total() != 40-done {
			t.Errorf("%d probes after the cancelled start had done %d of 40", after.total(), done)
		}
	})
}

func TestProgress(t *testing.T) {
	tr := tools(t, 5)
	var seen []string
	f := discovery.New(discovery.Options{
		Dirs: []string{tr.dir}, Prober: newCounter(wellSpoken),
		Progress: func(done, total int) { seen = append(seen, fmt.Sprintf("%d/%d", done, total)) },
	})
	list(t, f, discovery.Cached)
	if got := fmt.Sprint(seen); got != "[0/5 1/5 2/5 3/5 4/5 5/5]" {
		t.Errorf("progress %s", got)
	}
	seen = nil
	list(t, f, discovery.Cached)
	if len(seen) != 0 {
		t.Errorf("progress %v although nothing was read anew", seen)
	}
}
