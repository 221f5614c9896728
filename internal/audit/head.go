package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/internal/safefile"
)

// Head says how far the log goes.
type Head struct {
	Count  uint64        // the number of the last record; 0 for an empty log
	Hash   action.Digest // its hash
	Synced uint64        // up to which record the log is known to be on the disk
}

// headName is the file of the head: two slots, written in turns and in place,
// so that a write that was cut off leaves the other, and a full disk is no
// obstacle. Each is four words (count, hash, synced, check) and a line end.
const (
	headName = "audit-head"
	slotLen  = 20 + 1 + 64 + 1 + 20 + 1 + 16 + 1
)

// ErrNoHead says that the state folder has no head of a log.
var ErrNoHead = errors.New("the state folder holds no head of an audit log")

func (h Head) slot() string {
	body := fmt.Sprintf("%020d %s %020d ", h.Count, h.Hash, h.Synced)
	return body + checkOf(body) + "\n"
}

func checkOf(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:8])
}

func parseSlot(s string) (Head, bool) {
	words := strings.Fields(s)
	if len(words) != 4 {
		return Head{}, false
	}
	count, err1 := strconv.ParseUint(words[0], 10, 64)
	hash, err2 := action.ParseDigest(words[1])
	synced, err3 := strconv.ParseUint(words[2], 10, 64)
	h := Head{Count: count, Hash: hash, Synced: synced}
	return h, errors.Join(err1, err2, err3) == nil && h.slot() == s
}

// parseHead takes the newer of the two slots. whole is false when one of them
// is damaged.
func parseHead(data string) (h Head, whole bool, err error) {
	whole = len(data) == 2*slotLen
	found := false
	for len(data) > 0 {
		n := min(slotLen, len(data))
		s, ok := parseSlot(data[:n])
		data = data[n:]
		whole = whole && ok
		if ok && (!found || s.Count > h.Count || s.Count == h.Count && s.Synced > h.Synced) {
			h, found = s, true
		}
	}
	if !found {
		return Head{}, false, errors.New("the head of the audit log is damaged: neither of its two lines is whole")
	}
	return h, whole, nil
}

// ReadHead reads the head in a state folder: ErrNoHead when there is none.
func ReadHead(stateDir string) (Head, error) {
	path := filepath.Join(stateDir, headName)
	for tries := 0; ; tries++ {
		data, err := safefile.ReadPrivate(path, 4*slotLen)
		if errors.Is(err, fs.ErrNotExist) {
			return Head{}, fmt.Errorf("%s: %w", path, ErrNoHead)
		}
		if err != nil {
			return Head{}, err
		}
		h, whole, err := parseHead(string(data))
		switch {
		case err == nil && whole:
			return h, nil
		case tries < 20: // it may be half written just now
		case err == nil:
			return h, fmt.Errorf("%s: one of the two lines of the head is damaged", path)
		default:
			return h, fmt.Errorf("%s: %w", path, err)
		}
	}
}

// headFile is the head being kept.
type headFile struct {
	f    *os.File
	slot int64 // to be written next
}

// openHead opens or makes the head and locks it. lost says why what was there
// could not be used; "" when it could, or when nothing was there.
func openHead(stateDir string) (hf *headFile, h Head, exists bool, lost string, err error) {
	if err := safefile.EnsurePrivateDir(stateDir); err != nil {
		return nil, h, false, "", err
	}
	path := filepath.Join(stateDir, headName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, h, false, "", fmt.Errorf("cannot open the head of the audit log: %w", err)
	}
	if err := safefile.Flock(f); err != nil {
		f.Close()
		return nil, h, false, "", fmt.Errorf("cannot keep the audit log: another process does (%s): %w", path, err)
	}
	data, err := safefile.ReadPrivate(path, 4*slotLen)
	if err != nil {
		f.Close()
		return nil, h, false, "", err
	}
	hf = &headFile{f: f}
	if len(data) == 0 {
		return hf, h, false, "", nil
	}
	if h, _, err = parseHead(string(data)); err != nil {
		return hf, Head{}, true, err.Error(), nil
	}
	if s, ok := parseSlot(string(data[:min(slotLen, len(data))])); ok && s == h {
		hf.slot = 1 // never over the newest
	}
	return hf, h, true, "", nil
}

func (hf *headFile) write(h Head) error {
	if _, err := hf.f.WriteAt([]byte(h.slot()), hf.slot*slotLen); err != nil {
		return fmt.Errorf("cannot write the head of the audit log: %w", err)
	}
	hf.slot = 1 - hf.slot
	return nil
}

// both fills both slots, so that the file has its full length from the start
// and a damaged slot does not stay.
func (hf *headFile) both(h Head) error {
	err := errors.Join(hf.write(h), hf.write(h), hf.f.Truncate(2*slotLen), hf.f.Sync())
	if err != nil {
		return fmt.Errorf("cannot write the head of the audit log: %w", err)
	}
	return nil
}
