package client_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"snens/broker/action"
	"snens/broker/client"
	"snens/internal/wire"
)

// The end of ctx hangs up, and the broker's last word is waited for.
func TestTheEndOfTheContextHangsUp(t *testing.T) {
	for _, want := range []action.Result{
		{ID: anID, State: action.Cancelled, Reason: action.ReasonRequesterGone},
		{ID: anID, State: action.Exited, Reason: action.ReasonRequesterGone},
		exited(0), // it was faster
	} {
		ctx, cancel := context.WithCancel(context.Background())
		path := fake(t, runs(t, func(r *running) {
			r.pends(anID, 1)
			if _, err := r.ReadRequest(0); !errors.Is(err, io.EOF) {
				t.Errorf("the broker got %v", err)
			}
			r.ends(want)
		}))
		got, err := dial(t, path).Run(ctx, client.Request{Command: client.Command{Rule: "web"}}, func(client.Pending) { cancel() })
		if err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

// A broker that says nothing after that is waited for no longer than patience.
func TestPatienceEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	path := fake(t, runs(t, func(r *running) {
		cancel()
		<-done
	}))
	c := dial(t, path, func(o *client.Options) { o.Patience = time.Millisecond })
	_, err := c.Run(ctx, client.Request{Command: client.Command{Rule: "web"}}, nil)
	close(done)
	var refused *client.Refused
	if !errors.As(err, &refused) || refused.Reason != action.ReasonLost || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Hung up before the descriptors were sent, nothing has run.
func TestCancelledBeforeAnythingRan(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	path := fake(t, func(c *wire.Conn) {
		_, _ = c.ReadRequest(0)
		cancel()
		_, _ = c.ReadRequest(0)
	})
	_, err := dial(t, path).Run(ctx, client.Request{Command: client.Command{Rule: "web"}}, nil)
	var refused *client.Refused
	if !errors.As(err, &refused) || refused.Reason != action.ReasonCancelled || refused.ExitStatus() != action.ExitTryLater {
		t.Errorf("got %v", err)
	}
}

// Close from another goroutine ends a run at once.
func TestCloseEndsARun(t *testing.T) {
	asked := make(chan struct{})
	path := fake(t, runs(t, func(r *running) {
		close(asked)
		_, _ = r.ReadRequest(0)
	}))
	c := dial(t, path)
	done := make(chan error)
	go func() {
		_, err := c.Run(context.Background(), client.Request{Command: client.Command{Rule: "web"}}, nil)
		done <- err
	}()
	<-asked
	c.Close()
	if err := <-done; client.ExitStatus(err) != action.ExitInternal {
		t.Errorf("got %v", err)
	}
}

// Questions end with their context too.
func TestQuestionsEndWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	path := fake(t, func(c *wire.Conn) {
		_, _ = c.ReadRequest(0)
		cancel()
		_, _ = c.ReadRequest(0)
	})
	if _, err := dial(t, path).Result(ctx, anID, true); !errors.Is(err, context.Canceled) || client.ExitStatus(err) != action.ExitTryLater {
		t.Errorf("got %v", err)
	}
}
