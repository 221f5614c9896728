package mailbox_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"snens/mailbox"
)

func TestWaitEnds(t *testing.T) {
	b, _ := box(t, mailbox.Options{})
	begin := time.Now()
	if c, err := b.Wait(t.Context(), 50*time.Millisecond, 0); c != nil || !errors.Is(err, mailbox.ErrEmpty) || time.Since(begin) < 50*time.Millisecond {
		t.Errorf("got %v, %v after %v", c, err, time.Since(begin))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := b.Wait(ctx, time.Minute, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
}

// waiting starts a Wait and gives what came and how long it took.
func waiting(t *testing.T, b *mailbox.Box) func() (*mailbox.Claim, time.Duration) {
	type answer struct {
		c   *mailbox.Claim
		err error
		d   time.Duration
	}
	done := make(chan answer, 1)
	go func() {
		begin := time.Now()
		c, err := b.Wait(t.Context(), time.Minute, 0)
		done <- answer{c, err, time.Since(begin)}
	}()
	return func() (*mailbox.Claim, time.Duration) {
		a := <-done
		must(t, a.err)
		return a.c, a.d
	}
}

func TestWaitIsWoken(t *testing.T) {
	b, dir := box(t, mailbox.Options{})
	other := open(t, dir, mailbox.Options{})
	answer := waiting(t, b)
	id := send(t, other, "one")
	c, took := answer()
	if c.Message.ID != id || took > 10*time.Second {
		t.Errorf("got %+v after %v", c.Message, took)
	}
	// A claimant that goes away says nothing; the waiter finds out.
	answer = waiting(t, other)
	must(t, c.Close())
	again, took := answer()
	if again.Message.ID != id || again.Deliveries != 2 || took > 10*time.Second {
		t.Errorf("got %+v after %v", again, took)
	}
	must(t, again.Ack())
}

// Many waiters, and each message wakes one of them for good.
func TestWaitersShare(t *testing.T) {
	b, dir := box(t, mailbox.Options{})
	var answers []func() (*mailbox.Claim, time.Duration)
	for range 8 {
		answers = append(answers, waiting(t, open(t, dir, mailbox.Options{})))
	}
	for range 8 {
		send(t, b, "x")
	}
	seen := map[mailbox.ID]bool{}
	for _, a := range answers {
		c, _ := a()
		seen[c.Message.ID] = true
		must(t, c.Ack())
	}
	if len(seen) != 8 {
		t.Errorf("%d different messages", len(seen))
	}
}
