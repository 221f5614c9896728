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
)

// Entry is one message of a List.
type Entry struct {
	Name       string // of the file in new or cur
	Claimed    bool   // in cur; whether its claimant lives is not asked
	Deliveries int
	Until      time.Time // the end of the lease; zero without one
	Message    Message
	Problem    string // why it is no message, else ""; the next receiver buries it
}

// List shows what is in the box, oldest names first, what waits before what is
// claimed. It changes nothing and locks nothing; while others work it may show
// a message that has just gone, or miss one that has just been claimed.
func (b *Box) List() ([]Entry, error) {
	var entries []Entry
	for _, dir := range []*os.File{b.fresh, b.cur} {
		list, err := names(dir, 2*b.opt.MaxWaiting+1000)
		if err != nil {
			return nil, err
		}
		for _, name := range list {
			e, err := b.entry(place{dir, name})
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				e.Problem = err.Error()
			}
			entries = append(entries, e)
		}
	}
	return entries, nil
}

func (b *Box) entry(p place) (Entry, error) {
	e := Entry{Name: p.name, Claimed: p.dir == b.cur}
	ok := plain(p.name)
	if e.Claimed {
		var c claimed
		c, ok = parseClaimed(p.name)
		e.Deliveries = int(c.count)
		if c.until > 0 {
			e.Until = time.Unix(c.until, 0)
		}
	}
	if !ok {
		return e, errors.New("no name of a message")
	}
	var st unix.Stat_t
	if err := unix.Fstatat(fd(p.dir), p.name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return e, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return e, errors.New("no regular file")
	}
	n, err := unix.Openat(fd(p.dir), p.name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return e, err
	}
	f := os.NewFile(uintptr(n), filepath.Join(p.dir.Name(), p.name))
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(b.opt.MaxBytes)+1))
	if err != nil {
		return e, err
	}
	if len(data) > b.opt.MaxBytes {
		return e, fmt.Errorf("more than %d bytes", b.opt.MaxBytes)
	}
	e.Message, err = Parse(data)
	return e, err
}
