package execute

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/internal/spawn"
	"snens/internal/wire"
)

// Held is what belongs to a request beside its text. Any part may be missing:
// a missing program is opened for the run, a missing descriptor of the
// requester's is the null file.
type Held struct {
	Program *spawn.Program
	Files   *wire.Files // the requester's 0, 1 and 2, checked (wire.CheckStdio)
	Opened  []*os.File  // in the order of Request.Opened, each opened with the requester's rights
}

// kept is a Held that waits.
type kept struct {
	uid     uint32
	program *spawn.Program
	parked  parked
}

// Keep takes all of h over, also when there is an error, which is ErrBusy where
// there is no room, and ErrDescriptors for a file of a FUSE file system or one
// that does not say what it is within two seconds. The descriptors are out of
// our table when it returns, or on their way.
func (x *Executor) Keep(id action.RequestID, uid uint32, h Held) error {
	err := x.Room(uid)
	if id.IsZero() {
		err = errors.New("it has no id")
	}
	var k *kept
	if err != nil {
		k = &kept{uid: uid, program: h.Program, parked: parked{socket: -1}}
		x.discard(uid, h)
	} else if k, err = x.park(uid, h); err == nil {
		err = x.put(id, k)
	}
	if err != nil {
		x.release(k)
		return fmt.Errorf("cannot keep what belongs to request %s: %w", id, err)
	}
	return nil
}

// The descriptors leave our table before anything is asked about them.
//
// park takes h over; what comes back is to be released, also beside an error.
func (x *Executor) park(uid uint32, h Held) (*kept, error) {
	k := &kept{uid: uid, program: h.Program, parked: parked{socket: -1}}
	var fds []int
	if h.Files != nil {
		for i := range h.Files.Len() {
			fds = append(fds, h.Files.FD(i))
		}
	}
	stdio := len(fds)
	if stdio > 3 {
		x.discard(uid, h)
		return k, fmt.Errorf("%d descriptors of the requester are too many", stdio)
	}
	for _, f := range h.Opened {
		fds = append(fds, int(f.Fd()))
	}
	var err error
	k.parked, err = park(fds)
	k.parked.stdio = stdio
	ask := slices.ContainsFunc(fds, regular)
	x.discard(uid, h)
	if err == nil && ask {
		err = x.checkFileSystems(uid, k.parked)
	}
	return k, err
}

// discard has the descriptors closed.
func (x *Executor) discard(uid uint32, h Held) {
	h.Files.Close()
	for _, f := range h.Opened {
		x.o.Closer.AtOnce(uid, func() { _ = f.Close() })
	}
}

func (x *Executor) put(id action.RequestID, k *kept) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.kept[id] != nil || x.ran[id] {
		return errors.New("something is kept for it already, or it was run")
	}
	x.kept[id] = k
	return nil
}

// Drop gives back what is kept for a request that has ended, and forgets it.
// It never waits, and twice is as good as once. A run goes on: it has taken what
// was kept.
func (x *Executor) Drop(id action.RequestID) {
	x.mu.Lock()
	k := x.kept[id]
	delete(x.kept, id)
	delete(x.ran, id)
	x.mu.Unlock()
	x.release(k)
}

// Kept is how many requests something is kept for.
func (x *Executor) Kept() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.kept)
}

func (x *Executor) release(k *kept) {
	if k == nil {
		return
	}
	if k.program != nil {
		k.program.Close()
		k.program = nil
	}
	x.unpark(k)
}

// unpark lets go of what is parked.
func (x *Executor) unpark(k *kept) {
	if k.parked.socket >= 0 {
		x.o.Closer.CloseFDs(k.uid, k.parked.socket) // closes what lies in it, too
		k.parked.socket = -1
	}
}

// parked are descriptors that lie in a message in a socket.
type parked struct {
	socket int // -1: none
	count  int
	stdio  int // so many of them, the first, are the requester's 0, 1 and 2
}

// park sends the descriptors to a socket of ours. They stay the caller's.
func park(fds []int) (parked, error) {
	none := parked{socket: -1}
	if len(fds) == 0 {
		return none, nil
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return none, crowded("make a socket", err)
	}
	// The message stays where it is when its sender's end is closed.
	defer unix.Close(pair[0])
	if err := unix.Sendmsg(pair[0], []byte{0}, unix.UnixRights(fds...), nil, 0); err != nil {
		unix.Close(pair[1]) // holds nothing
		return none, crowded("put descriptors aside", err)
	}
	return parked{socket: pair[1], count: len(fds)}, nil
}

// crowded adds ErrBusy to what the system has no room for.
func crowded(what string, err error) error {
	for _, e := range []error{unix.ETOOMANYREFS, unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM, unix.EAGAIN} {
		if errors.Is(err, e) {
			return fmt.Errorf("%w: cannot %s: %w", ErrBusy, what, err)
		}
	}
	return fmt.Errorf("cannot %s: %w", what, err)
}

// receive takes the descriptors out of the message (with MSG_PEEK: copies of
// them) into the table of the calling thread, close-on-exec.
// With an error those that came are given back too.
func (p *parked) receive(flags int) ([]int, error) {
	if p.count == 0 {
		return nil, nil
	}
	var b [1]byte
	oob := make([]byte, unix.CmsgSpace(p.count*4))
	_, n, got, _, err := unix.Recvmsg(p.socket, b[:], oob, unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT|flags)
	if err != nil {
		return nil, fmt.Errorf("cannot take descriptors back: %w", err)
	}
	var fds []int
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	for i := range messages {
		more, perr := unix.ParseUnixRights(&messages[i])
		err = errors.Join(err, perr)
		fds = append(fds, more...)
	}
	if err == nil && (got&unix.MSG_CTRUNC != 0 || len(fds) != p.count) {
		err = crowded("take descriptors back", unix.EMFILE)
	}
	return fds, err
}
