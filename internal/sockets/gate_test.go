package sockets_test

import (
	"errors"
	"sync"
	"testing"

	"snens/internal/sockets"
)

func TestGate(t *testing.T) {
	g := sockets.NewGate(sockets.Limits{PerUID: 2, Total: 3})
	var leave []func()
	for i, c := range []struct {
		uid  uint32
		want *sockets.FullError
	}{
		{1, nil},
		{1, nil},
		{1, &sockets.FullError{Limit: 2, Own: true}},
		{2, nil},
		{3, &sockets.FullError{Limit: 3}},
		{2, &sockets.FullError{Limit: 3}},
		{0, nil}, // beside the total
		{0, nil},
		{0, &sockets.FullError{Limit: 2, Own: true}},
		{4_294_967_294, &sockets.FullError{Limit: 3}},
	} {
		l, err := g.Enter(c.uid)
		var full *sockets.FullError
		errors.As(err, &full)
		if (full == nil) != (c.want == nil) || full != nil && *full != *c.want || (l == nil) != (err != nil) {
			t.Errorf("entrance %d: %v, want %v", i, err, c.want)
		}
		if l != nil {
			leave = append(leave, l)
		}
	}
	leave[0]()
	leave[0]() // does nothing
	if g.Count(1) != 1 {
		t.Errorf("uid 1 has %d", g.Count(1))
	}
	if _, err := g.Enter(3); err != nil {
		t.Errorf("with a place free: %v", err)
	}
	if _, err := g.Enter(3); err == nil {
		t.Error("leaving twice freed two places")
	}
}

func TestGateUnderLoad(t *testing.T) {
	g := sockets.NewGate(sockets.Limits{PerUID: 3, Total: 10})
	var wg sync.WaitGroup
	for uid := range uint32(8) {
		for range 4 {
			wg.Go(func() {
				for range 500 {
					if leave, err := g.Enter(uid); err == nil {
						if n := g.Count(uid); n < 1 || n > 3 {
							t.Errorf("uid %d has %d", uid, n)
						}
						leave()
					}
				}
			})
		}
	}
	wg.Wait()
	for uid := range uint32(8) {
		if n := g.Count(uid); n != 0 {
			t.Errorf("at the end uid %d has %d", uid, n)
		}
	}
}
