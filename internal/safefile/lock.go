package safefile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ErrLocked says that another open of the lock file holds the lock.
var ErrLocked = errors.New("the lock is held by somebody else")

// Lock is a held lock file. The lock belongs to this open of the file: a second
// TryLock in the same process is refused too. It ends with Unlock or with the
// process; children started in between do not keep it.
type Lock struct{ f *os.File }

// File is the locked file, open for reading and writing. Do not close it.
func (l *Lock) File() *os.File { return l.f }

// TryLock takes the lock file at path, which is made (0600) when missing, and
// returns ErrLocked when it is taken. The file must be a regular one of ours,
// closed to others. It is left in place by Unlock: whoever removes lock files
// must hold the lock, and those who wait notice that the file is gone.
func TryLock(path string) (*Lock, error) { return tryLock(path, unix.O_CREAT) }

// TryLockExisting is TryLock that does not make the file: a missing one, or one
// that its holder removed before we had the lock, is fs.ErrNotExist.
func TryLockExisting(path string) (*Lock, error) { return tryLock(path, 0) }

func tryLock(path string, create int) (*Lock, error) {
	for {
		f, err := openPrivateAt(unix.AT_FDCWD, path, path,
			unix.O_RDWR|create|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC)
		if err != nil {
			return nil, fmt.Errorf("cannot lock %s: %w", path, err)
		}
		err = Flock(f)
		if err == nil {
			if stillAt(f, path) {
				return &Lock{f}, nil
			}
			f.Close() // removed or replaced before we had the lock
			continue
		}
		f.Close()
		if errors.Is(err, ErrLocked) {
			return nil, err
		}
		return nil, fmt.Errorf("cannot lock %s: %w", path, err)
	}
}

// WaitLock is TryLock that waits until the lock is free or ctx ends. It polls,
// with pauses from 1 to 50 ms, so there is no queue.
func WaitLock(ctx context.Context, path string) (*Lock, error) {
	pause := time.Millisecond
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		l, err := TryLock(path)
		if !errors.Is(err, ErrLocked) {
			return l, err
		}
		timer.Reset(pause)
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("cannot lock %s: %w: %w", path, err, context.Cause(ctx))
		case <-timer.C:
		}
		pause = min(2*pause, 50*time.Millisecond)
	}
}

// Unlock frees the lock. Calling it again does nothing.
func (l *Lock) Unlock() error {
	if l == nil || l.f == nil {
		return nil
	}
	// Said aloud, because a child between fork and exec still shares the file.
	err := flock(l.f, unix.LOCK_UN)
	err = errors.Join(err, l.f.Close())
	l.f = nil
	return err
}

// Flock takes an exclusive lock on an opened file without waiting: ErrLocked
// when another open of it holds one. Closing the file frees it.
func Flock(f *os.File) error {
	err := flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return ErrLocked
	}
	return err
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}

// stillAt says that path still leads to the opened file.
func stillAt(f *os.File, path string) bool {
	var held, there unix.Stat_t
	return unix.Fstat(int(f.Fd()), &held) == nil && held.Nlink > 0 &&
		unix.Lstat(path, &there) == nil && held.Dev == there.Dev && held.Ino == there.Ino
}
