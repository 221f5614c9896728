package mailbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/safefile"
)

// What callers act on.
var (
	ErrEmpty = errors.New("no message is waiting")
	ErrFull  = errors.New("the mailbox is full")
	ErrGone  = errors.New("the claim has ended")
	ErrHeld  = errors.New("a running program holds the claim")
)

// Options bound what a box holds and hands out. Zero means the default.
type Options struct {
	MaxBytes      int // of a message's file; default 1 MiB
	MaxWaiting    int // messages in new; default 10,000
	MaxDead       int // entries in dead, above which the oldest go; default 1,000
	MaxDeliveries int // how often a message is handed out at most; default 5
}

// Box is an open mailbox. It may be used from several goroutines, and any number
// of processes may have it open. It holds five descriptors until Close.
type Box struct {
	path                string
	root                *os.File
	tmp, fresh, cur, dd *os.File // fresh is new/, dd is dead/
	opt                 Options
	step                func(string) // tests: called before and after each change on disk

	mu     sync.Mutex // guards what follows; never held during I/O
	queue  []place    // found by the last look and not tried yet, oldest first
	allow  int        // messages that may be sent before new is counted again
	closed bool
}

// place is one entry that a receiver may try.
type place struct {
	dir  *os.File // new or cur
	name string
}

// Create makes a box at dir, missing folders above included, or checks the one
// that is there. When it returns, the box survives a power cut, provided the
// folder above was there before.
func Create(dir string) error {
	for _, d := range []string{dir, filepath.Join(dir, "tmp"), filepath.Join(dir, "new"), filepath.Join(dir, "cur"), filepath.Join(dir, "dead")} {
		if err := safefile.EnsurePrivateDir(d); err != nil {
			return fmt.Errorf("cannot make the mailbox: %w", err)
		}
	}
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := safefile.SyncDir(d); err != nil {
			return fmt.Errorf("cannot make the mailbox %s durable: %w", dir, err)
		}
	}
	return nil
}

// Open opens the box at dir, which must be there, ours and closed to others; a
// link in place of any of its folders is refused. A missing box is
// fs.ErrNotExist. What senders left in tmp for more than 36 hours is removed.
func Open(dir string, opt Options) (*Box, error) {
	for _, d := range []struct {
		value *int
		plain int
	}{{&opt.MaxBytes, 1 << 20}, {&opt.MaxWaiting, 10_000}, {&opt.MaxDead, 1000}, {&opt.MaxDeliveries, 5}} {
		if *d.value <= 0 {
			*d.value = d.plain
		}
	}
	b := &Box{path: dir, opt: opt, step: func(string) {}}
	var err error
	if b.root, err = safefile.OpenPrivateDir(dir); err != nil {
		return nil, fmt.Errorf("cannot open the mailbox: %w", err)
	}
	for _, f := range []struct {
		file **os.File
		name string
	}{{&b.tmp, "tmp"}, {&b.fresh, "new"}, {&b.cur, "cur"}, {&b.dd, "dead"}} {
		if *f.file, err = safefile.OpenPrivateDirAt(b.root, f.name, filepath.Join(dir, f.name)); err != nil {
			_ = b.Close() // nothing was written
			return nil, fmt.Errorf("cannot open the mailbox: %w", err)
		}
	}
	b.sweep(time.Now())
	return b, nil
}

// Close frees the descriptors. Claims stay as they are and can still be ended by
// their Close only. It must not be called while another method runs.
func (b *Box) Close() error {
	b.mu.Lock()
	closed := b.closed
	b.closed = true
	b.mu.Unlock()
	if closed {
		return nil
	}
	var errs []error
	for _, f := range []*os.File{b.tmp, b.fresh, b.cur, b.dd, b.root} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// sweep removes what dead senders left. It is no harm when some of it stays.
func (b *Box) sweep(now time.Time) {
	names, err := names(b.tmp, 1000)
	if err != nil {
		return
	}
	for _, name := range names {
		var st unix.Stat_t
		if unix.Fstatat(fd(b.tmp), name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || now.Sub(time.Unix(st.Mtim.Unix())) < 36*time.Hour {
			continue
		}
		_ = unix.Unlinkat(fd(b.tmp), name, 0) // a folder stays
	}
}

func fd(dir *os.File) int { return int(dir.Fd()) }

// names lists at most limit entries of dir, sorted.
func names(dir *os.File, limit int) ([]string, error) {
	// Opened again, because a descriptor's place in the list is one for all.
	n, err := unix.Openat(fd(dir), ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", dir.Name(), err)
	}
	f := os.NewFile(uintptr(n), dir.Name())
	defer f.Close()
	list, err := f.Readdirnames(limit)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("cannot list %s: %w", dir.Name(), err)
	}
	slices.Sort(list)
	return list, nil
}
