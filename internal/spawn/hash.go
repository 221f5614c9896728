package spawn

import (
	"crypto/sha256"
	"errors"
	"io"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// stamp changes whenever a file's content does.
type stamp struct {
	dev, ino     uint64
	size         int64
	mtime, ctime unix.Timespec
}

func stampOf(st unix.Stat_t) stamp {
	return stamp{st.Dev, st.Ino, st.Size, st.Mtim, st.Ctim}
}

const (
	cacheSize = 256 // files; a policy with more is slower, nothing else
	// A file changed so lately can change again without its times showing it:
	// they are as coarse as the kernel's tick.
	settled = 2 * time.Second
)

// hashCache remembers digests.
type hashCache struct {
	mu     sync.Mutex
	sums   map[stamp][32]byte // guarded by mu
	hashed int                // files read, guarded by mu
}

// sum is the SHA-256 of what fd leads to, which st describes.
func (c *hashCache) sum(fd int, st stamp) ([32]byte, error) {
	c.mu.Lock()
	sum, ok := c.sums[st]
	c.mu.Unlock()
	if ok {
		return sum, nil
	}
	h := sha256.New()
	// Buffered by Copy; read by offset, so that the descriptor has no position.
	if _, err := io.Copy(h, io.NewSectionReader(readerAt(fd), 0, st.size+1)); err != nil {
		return sum, err
	}
	var after unix.Stat_t
	if err := unix.Fstat(fd, &after); err != nil {
		return sum, err
	}
	if stampOf(after) != st {
		return sum, errors.New("it changes while it is read")
	}
	h.Sum(sum[:0])
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hashed++
	if time.Since(time.Unix(st.ctime.Unix())) > settled {
		if c.sums == nil || len(c.sums) >= cacheSize {
			c.sums = map[stamp][32]byte{}
		}
		c.sums[st] = sum
	}
	return sum, nil
}

type readerAt int

func (r readerAt) ReadAt(b []byte, off int64) (int, error) {
	for {
		n, err := unix.Pread(int(r), b, off)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0, err
		case n == 0 && len(b) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}
