package mailbox

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Reason says why something is dead. It is part of the file's name.
type Reason string

// The reasons.
const (
	ReasonName       Reason = "bad-name"
	ReasonFile       Reason = "not-a-file"
	ReasonUnreadable Reason = "unreadable"
	ReasonBig        Reason = "too-big"
	ReasonContent    Reason = "unparsable"
	ReasonTooOften   Reason = "too-often" // delivered MaxDeliveries times without Ack
	ReasonTwice      Reason = "name-taken"
	ReasonRejected   Reason = "rejected"
)

// Letter is one entry of dead.
type Letter struct {
	Name   string // in dead/
	Reason Reason // "" for what we did not put there
}

// Dead lists what could not be delivered, oldest names first. People read, move
// and remove the files themselves.
func (b *Box) Dead() ([]Letter, error) {
	list, err := names(b.dd, b.opt.MaxDead+1000)
	if err != nil {
		return nil, err
	}
	letters := make([]Letter, 0, len(list))
	for _, name := range list {
		_, reason, _ := strings.Cut(name, ":")
		letters = append(letters, Letter{name, Reason(reason)})
	}
	return letters, nil
}

// bury puts an entry among the dead. What cannot be moved (a folder of somebody
// else's) stays, and is tried again with every look; List shows it.
func (b *Box) bury(p place, base string, why Reason) {
	if b.inter(p, base, why) == nil {
		b.prune()
	}
}

func (b *Box) inter(p place, base string, why Reason) error {
	if base == "" {
		base = freshName(time.Now())
	}
	b.step("bury")
	err := move(p.dir, p.name, b.dd, base+":"+string(why))
	if errors.Is(err, fs.ErrExist) {
		err = move(p.dir, p.name, b.dd, freshName(time.Now())+":"+string(why))
	}
	if err != nil {
		return fmt.Errorf("cannot put it among the dead letters: %w", err)
	}
	return nil
}

// prune keeps dead within its bound. A folder stays: what it holds is not ours.
func (b *Box) prune() {
	list, err := names(b.dd, b.opt.MaxDead+1000)
	if err != nil {
		return // the next one prunes
	}
	for _, name := range list[:max(0, len(list)-b.opt.MaxDead)] {
		_ = unix.Unlinkat(fd(b.dd), name, 0) // the next one prunes
	}
}
