package peer

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// UID is a user id as the kernel gave it.
type UID uint32

// GID is a group id.
type GID uint32

func (u UID) String() string { return strconv.FormatUint(uint64(u), 10) }
func (g GID) String() string { return strconv.FormatUint(uint64(g), 10) }

// nobody is what the kernel has for "no user"; no process runs as it.
const nobody = ^uint32(0)

// Handle says how the peer's process is held.
type Handle int

// BestEffort is a handle by pid: the process may have been replaced by another
// between connecting and accepting. FromSocket is the kernel's own (Linux 6.5).
const (
	BestEffort Handle = iota
	FromSocket
)

func (h Handle) String() string {
	if h == FromSocket {
		return "socket"
	}
	return "best effort"
}

// Peer is an identity fixed at accept.
type Peer struct {
	UID    UID   // effective, at connect
	GID    GID   // effective, at connect
	Groups []GID // GID and the supplementary groups at connect; sorted, unique
	PID    int   // at connect; for people, another process may have it by now
	Handle Handle
	Seen   Seen

	mu    sync.Mutex
	pidfd int // -1 when closed; guarded by mu
}

// ErrGone says that the process that connected has ended.
var ErrGone = errors.New("the process that connected has ended")

// Identify asks the kernel who connected c. The caller closes the Peer.
func Identify(c *net.UnixConn) (*Peer, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, refused(err)
	}
	var p *Peer
	cerr := raw.Control(func(fd uintptr) { p, err = identify(int(fd)) })
	if err = errors.Join(cerr, err); err != nil {
		return nil, refused(err)
	}
	return p, nil
}

func refused(err error) error { return fmt.Errorf("cannot tell who connected: %w", err) }

func identify(fd int) (*Peer, error) {
	cred, err := credentials(fd)
	if err != nil {
		return nil, err
	}
	if cred.Pid <= 0 {
		return nil, errors.New("SO_PEERCRED names no process; it is in a process namespace that is not ours")
	}
	groups, err := peerGroups(fd)
	if err != nil {
		return nil, err
	}
	p := &Peer{UID: UID(cred.Uid), GID: GID(cred.Gid), PID: int(cred.Pid)}
	p.Groups = append(groups, p.GID)
	slices.Sort(p.Groups)
	p.Groups = slices.Compact(p.Groups)
	if p.pidfd, p.Handle, err = handle(fd, p.PID); err != nil {
		return nil, err
	}
	if p.Seen, err = see(p.PID, p.pidfd); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// InGroup says whether the peer was in the group when it connected.
func (p *Peer) InGroup(g GID) bool { return slices.Contains(p.Groups, g) }

// Alive says whether the process that connected still runs. Others may have
// its end of the connection. Of a closed Peer it says no.
func (p *Peer) Alive() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pidfd >= 0 && alive(p.pidfd)
}

// Close lets the handle of the process go.
func (p *Peer) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pidfd >= 0 {
		_ = unix.Close(p.pidfd)
		p.pidfd = -1
	}
}

// String describes the peer for logs: "uid 1000, gid 100, pid 4711 (best effort)".
func (p *Peer) String() string {
	return fmt.Sprintf("uid %s, gid %s, pid %d (%s)", p.UID, p.GID, p.PID, p.Handle)
}
