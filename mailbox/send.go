package mailbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Send puts m into the box. ID and Time are filled in when empty. When it
// returns nil the message is durable and receivers see it. A full box is
// ErrFull; the bound is kept loosely when more than a dozen processes send at
// once. After an error the message has not arrived, unless the error says that
// it may have; no part of one is ever seen.
func (b *Box) Send(m Message) (ID, error) {
	now := time.Now()
	name := freshName(now)
	if m.ID == "" {
		m.ID = ID(name)
	}
	if m.Time.IsZero() {
		m.Time = now
	}
	data, err := m.Encode()
	if err != nil {
		return "", fmt.Errorf("cannot send a message: %w", err)
	}
	if len(data) > b.opt.MaxBytes {
		return "", fmt.Errorf("cannot send a message of %d bytes: the mailbox takes %d; put the content into a file and send its name", len(data), b.opt.MaxBytes)
	}
	if err := b.admit(); err != nil {
		return "", err
	}
	if err := b.put(name, data); err != nil {
		return "", fmt.Errorf("cannot send a message to %s: %w", b.path, err)
	}
	return m.ID, nil
}

// admit refuses when new is full. It counts again only after as many messages
// as a dozen processes that do the same could send without filling it.
func (b *Box) admit() error {
	b.mu.Lock()
	if b.allow > 0 {
		b.allow--
		b.mu.Unlock()
		return nil
	}
	b.mu.Unlock()
	waiting, err := names(b.fresh, b.opt.MaxWaiting)
	if err != nil {
		return fmt.Errorf("cannot send a message: %w", err)
	}
	free := b.opt.MaxWaiting - len(waiting)
	if free == 0 {
		return fmt.Errorf("cannot send a message to %s: %w: %d messages wait for its reader", b.path, ErrFull, len(waiting))
	}
	b.mu.Lock()
	b.allow = free / 16
	b.mu.Unlock()
	return nil
}

// put is the durable way of a file into new.
func (b *Box) put(name string, data []byte) error {
	b.step("create")
	n, err := unix.Openat(fd(b.tmp), name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return &os.PathError{Op: "create", Path: filepath.Join(b.tmp.Name(), name), Err: err}
	}
	f := os.NewFile(uintptr(n), filepath.Join(b.tmp.Name(), name))
	b.step("write")
	_, err = f.Write(data)
	b.step("sync")
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	b.step("rename")
	if err == nil {
		err = move(b.tmp, name, b.fresh, name)
	}
	if err != nil {
		_ = unix.Unlinkat(fd(b.tmp), name, 0) // Open sweeps what stays
		return err
	}
	b.step("syncdir")
	if err := b.fresh.Sync(); err != nil {
		return fmt.Errorf("the message may have arrived: %w", err)
	}
	b.step("sent")
	return nil
}

// move renames and never replaces.
func move(from *os.File, name string, to *os.File, as string) error {
	err := unix.Renameat2(fd(from), name, fd(to), as, unix.RENAME_NOREPLACE)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: filepath.Join(from.Name(), name), New: filepath.Join(to.Name(), as), Err: err}
	}
	return nil
}
