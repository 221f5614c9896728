package mailbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/safefile"
)

// Receive claims a message: one whose claimant died or whose lease ended, else
// the oldest that waits. ErrEmpty when there is none. With a lease (rounded up
// to seconds, at most 24 hours) the claim outlives this process for so long.
func (b *Box) Receive(lease time.Duration) (*Claim, error) {
	if lease < 0 || lease > maxLease {
		return nil, fmt.Errorf("cannot receive with a lease of %v: it must be from 0 to %v", lease, maxLease)
	}
	c, _, err := b.receive(lease)
	if err != nil {
		return nil, fmt.Errorf("cannot receive from %s: %w", b.path, err)
	}
	return c, nil
}

// receive says too whether messages were passed over because others hold them.
func (b *Box) receive(lease time.Duration) (_ *Claim, busy bool, _ error) {
	for looked := false; ; {
		p, ok := b.next()
		if !ok && looked {
			return nil, busy, ErrEmpty
		}
		if !ok {
			looked = true
			if err := b.look(); err != nil {
				return nil, busy, err
			}
			continue
		}
		c, held, err := b.try(p, lease)
		busy = busy || held
		if c != nil || err != nil {
			return c, busy, err
		}
	}
}

func (b *Box) next() (place, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		return place{}, false
	}
	p := b.queue[0]
	b.queue = b.queue[1:]
	return p, true
}

// look finds what may be claimed. Several goroutines may look at the same time;
// the later list replaces the earlier one, which loses nothing.
func (b *Box) look() error {
	var queue []place
	for _, dir := range []*os.File{b.cur, b.fresh} {
		list, err := names(dir, 2*b.opt.MaxWaiting+1000) // bounded whatever was put there
		if err != nil {
			return err
		}
		for _, name := range list {
			queue = append(queue, place{dir, name})
		}
	}
	b.mu.Lock()
	b.queue = queue
	b.mu.Unlock()
	return nil
}

// try claims one entry. nil without an error: it is not to be had; held says
// that the reason is another claimant.
func (b *Box) try(p place, lease time.Duration) (_ *Claim, held bool, _ error) {
	now := time.Now()
	entry := claimed{base: p.name}
	ok := plain(p.name)
	if p.dir == b.cur {
		entry, ok = parseClaimed(p.name)
	}
	if !ok {
		b.bury(p, "", ReasonName)
		return nil, false, nil
	}
	if entry.leased(now) {
		return nil, true, nil
	}
	f, reason, err := b.open(p)
	if f == nil {
		if reason != "" {
			b.bury(p, entry.base, reason)
		}
		return nil, errors.Is(err, safefile.ErrLocked), unlessGone(err)
	}
	m, reason, err := b.read(f)
	switch {
	case err != nil:
		f.Close()
		return nil, false, err
	case reason == "" && !m.Expires.IsZero() && !m.Expires.After(now):
		_ = unix.Unlinkat(fd(p.dir), p.name, 0) // looked at again when it stays
		f.Close()
		return nil, false, nil
	case reason == "" && int64(entry.count) >= int64(b.opt.MaxDeliveries):
		reason = ReasonTooOften
	}
	if reason != "" {
		b.bury(p, entry.base, reason)
		f.Close()
		return nil, false, nil
	}
	return b.claim(p, entry, f, m, now, lease)
}

// claim renames what f has open and locked.
func (b *Box) claim(p place, entry claimed, f *os.File, m Message, now time.Time, lease time.Duration) (*Claim, bool, error) {
	entry.count++
	entry.until = 0
	if lease > 0 {
		entry.until = now.Add(lease + time.Second - 1).Unix()
	}
	b.step("claim")
	err := move(p.dir, p.name, b.cur, entry.name())
	if errors.Is(err, fs.ErrExist) {
		b.bury(p, entry.base, ReasonTwice)
	}
	if err != nil {
		f.Close()
		if errors.Is(err, fs.ErrExist) {
			return nil, false, nil
		}
		return nil, false, unlessGone(err)
	}
	b.step("claimed")
	return &Claim{Message: m, Deliveries: int(entry.count), box: b, file: f, entry: entry}, false, nil
}

// open opens and locks a regular file that is still at its place. Without a file
// there is a reason to bury it, or an error: fs.ErrNotExist or ErrLocked when
// somebody else was faster.
func (b *Box) open(p place) (*os.File, Reason, error) {
	path := filepath.Join(p.dir.Name(), p.name)
	var st unix.Stat_t
	// Looked at first: even opening can have effects when it is a device.
	if err := unix.Fstatat(fd(p.dir), p.name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, "", &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, ReasonFile, nil
	}
	n, err := unix.Openat(fd(p.dir), p.name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, ReasonUnreadable, nil
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENXIO):
		return nil, ReasonFile, nil
	case err != nil:
		return nil, "", &os.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(n), path)
	b.step("opened")
	if err := safefile.Flock(f); err != nil {
		f.Close()
		return nil, "", err
	}
	b.step("locked")
	// The lock may have come from one who has renamed or removed it meanwhile.
	var there, have unix.Stat_t
	err = unix.Fstatat(fd(p.dir), p.name, &there, unix.AT_SYMLINK_NOFOLLOW)
	if err == nil {
		err = unix.Fstat(n, &have)
	}
	if err == nil && (there.Dev != have.Dev || there.Ino != have.Ino) {
		err = fs.ErrNotExist
	}
	if err != nil {
		f.Close()
		return nil, "", &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if have.Mode&unix.S_IFMT != unix.S_IFREG {
		f.Close()
		return nil, ReasonFile, nil
	}
	return f, "", nil
}

// read reads the message, or says why it is none.
func (b *Box) read(f *os.File) (Message, Reason, error) {
	data, err := io.ReadAll(io.LimitReader(f, int64(b.opt.MaxBytes)+1))
	if err != nil {
		return Message{}, "", err
	}
	if len(data) > b.opt.MaxBytes {
		return Message{}, ReasonBig, nil
	}
	m, err := Parse(data)
	if err != nil {
		return Message{}, ReasonContent, nil
	}
	return m, "", nil
}

// unlessGone drops the errors that mean: somebody else was faster.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, safefile.ErrLocked) {
		return nil
	}
	return err
}
