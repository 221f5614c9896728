package main

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// brokerState says whether a privilege broker can be reached.
type brokerState struct {
	Socket    string `json:"socket"`
	Reachable bool   `json:"reachable"`
	Text      string `json:"text"`
}

// broker connects to the broker's socket and hangs up, as snens priv would find
// it. A listener that is not root's is none (or one's own, where the configuration
// has priv.user): knowing a path gives nothing.
func (a *app) broker() brokerState {
	where, err := a.brokerAt(brokerOptions{})
	if err != nil {
		return brokerState{Text: err.Error()}
	}
	path := where.Socket
	state := brokerState{Socket: path}
	uid, err := listenerUID(path)
	switch {
	case errors.Is(err, unix.EAGAIN):
		state.Text = fmt.Sprintf("not reachable at %s: it is too busy to answer", path)
	case errors.Is(err, fs.ErrNotExist):
		state.Text = fmt.Sprintf("none: there is no %s", path)
	case err != nil:
		state.Text = fmt.Sprintf("not reachable at %s: %v", path, err)
	case uid != where.Listener && where.Listener == 0:
		state.Text = fmt.Sprintf("none: the listener at %s is not root's but uid %d's", path, uid)
	case uid != where.Listener:
		state.Text = fmt.Sprintf("none: the listener at %s is not yours but uid %d's", path, uid)
	default:
		state.Reachable = true
		state.Text = "listening at " + path
	}
	return state
}

// listenerUID connects to a Unix socket and asks the kernel who listens.
func listenerUID(path string) (uint32, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		return 0, err
	}
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return peer.Uid, nil
}
