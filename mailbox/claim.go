package mailbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Claim is a message in our hands. Exactly one of Ack, Release, Reject and Close
// ends it; Close may follow the others. Not for several goroutines at once.
type Claim struct {
	Message    Message
	Deliveries int // 1 for the first time

	box   *Box
	file  *os.File // locked; nil when it has ended
	entry claimed
}

// Receipt names the claim for Box.Ack and Box.Release.
func (c *Claim) Receipt() Receipt { return Receipt(c.entry.name()) }

// Until is when the lease ends; zero without one.
func (c *Claim) Until() time.Time {
	if c.entry.until == 0 {
		return time.Time{}
	}
	return time.Unix(c.entry.until, 0)
}

// Ack removes the message: its work is done. ErrGone when the claim had ended.
func (c *Claim) Ack() error {
	return c.end("acknowledge", func(name string) error {
		c.box.step("ack")
		return unix.Unlinkat(fd(c.box.cur), name, 0)
	})
}

// Release gives the message back: the next receiver gets it, as one delivery more.
func (c *Claim) Release() error {
	return c.end("release", func(string) error { return c.box.free(c.entry) })
}

// Reject puts the message among the dead: nobody can do its work.
func (c *Claim) Reject() error {
	return c.end("reject", func(name string) error {
		return c.box.inter(place{c.box.cur, name}, c.entry.base, ReasonRejected)
	})
}

// Close frees the lock and nothing more: a claim with a lease lasts until the
// lease ends, one without can be claimed by others now.
func (c *Claim) Close() error {
	if c.file == nil {
		return nil
	}
	f := c.file
	c.file = nil
	return f.Close()
}

func (c *Claim) end(verb string, do func(name string) error) error {
	if c.file == nil {
		return fmt.Errorf("cannot %s message %s: %w", verb, c.Message.ID, ErrGone)
	}
	err := do(c.entry.name())
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrGone
	}
	if err = errors.Join(err, c.Close()); err != nil {
		return fmt.Errorf("cannot %s message %s: %w", verb, c.Message.ID, err)
	}
	return nil
}

// Ack removes a message that was claimed with a lease, by another process maybe.
// ErrGone when the claim has ended, by Ack or because another one has it now;
// ErrHeld while a program that runs has it in its hands.
func (b *Box) Ack(r Receipt) error {
	return b.byReceipt("acknowledge", r, func(c claimed) error {
		return unix.Unlinkat(fd(b.cur), c.name(), 0)
	})
}

// Release gives back a message that was claimed with a lease; errors as Ack.
func (b *Box) Release(r Receipt) error { return b.byReceipt("release", r, b.free) }

func (b *Box) byReceipt(verb string, r Receipt, do func(claimed) error) error {
	entry, ok := parseClaimed(string(r))
	if !ok {
		_, err := ParseReceipt(string(r))
		return fmt.Errorf("cannot %s: %w", verb, err)
	}
	f, reason, err := b.open(place{b.cur, string(r)})
	if f != nil {
		err = do(entry)
		defer f.Close()
	}
	switch {
	case reason != "":
		err = fmt.Errorf("it is no message (%s)", reason)
	case errors.Is(err, fs.ErrNotExist):
		err = ErrGone
	case err != nil && unlessGone(err) == nil:
		err = ErrHeld
	}
	if err != nil {
		return fmt.Errorf("cannot %s %s: %w", verb, r, err)
	}
	return nil
}

// free ends a lease. The caller has the lock.
func (b *Box) free(c claimed) error {
	if c.until == 0 {
		return nil
	}
	name := c.name()
	c.until = 0
	return move(b.cur, name, b.cur, c.name())
}
