package wire

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
	"snens/internal/fields"
	"snens/internal/strictjson"
)

// AnyCount lets TakeFDs accept any number from 0 to MaxFDs.
const AnyCount = -1

// theByte carries the descriptors. No line of JSON begins with it.
const theByte = 0

// Files are descriptors of a peer. They are numbers and not *os.File, because
// whoever closes one may be held up for as long as the peer likes.
type Files struct {
	fds    []int
	uid    uint32
	closer *Closer
}

// Len is how many there are.
func (f *Files) Len() int { return len(f.fds) }

// FD is number i. It stays open until Close.
func (f *Files) FD(i int) int { return f.fds[i] }

// Close hands them to the closer and does not wait. Once is enough.
func (f *Files) Close() {
	if f == nil {
		return
	}
	f.closer.CloseFDs(f.uid, f.fds...)
	f.fds = nil
}

// TakeFDs asks the client of request id for descriptors and receives them: want
// of them, or AnyCount. Nothing may have been sent since the request. An error is
// the end of reading, and what came is closed. It is called by the goroutine that
// reads; where a client sends too many, the kernel drops them in this call, and it
// may take as long as the client likes.
func (c *Conn) TakeFDs(id ID, want int) (*Files, error) {
	if c.readErr != nil {
		return nil, c.readErr
	}
	if c.start < c.end {
		c.readErr = Errorf(BadDescriptors, "bytes came where only descriptors may")
		return nil, c.readErr
	}
	if !c.o.Closer.Room(c.o.UID) {
		// Here the connection can go on: nothing was asked for.
		return nil, Errorf(Busy, "too many earlier descriptors are still being closed")
	}
	passRights(c.raw, true)
	defer passRights(c.raw, false)
	if err := c.More(id, fields.Object(fields.Member("state", strictjson.StringValue("send_fds")))); err != nil {
		return nil, err
	}
	files, err := c.receive(want)
	if err != nil {
		c.readErr = err
	}
	return files, err
}

func (c *Conn) receive(want int) (*Files, error) {
	if err := c.readDeadline(time.Now().Add(c.o.Times.Line)); err != nil {
		return nil, err
	}
	if err := c.look(want); err != nil {
		return nil, err
	}
	var b [1]byte
	// CmsgLen and not CmsgSpace: with the padding a fourth would fit.
	oob := make([]byte, unix.CmsgLen(MaxFDs*4))
	n, oobn, flags, err := c.recvmsg(b[:], oob, 0)
	if err != nil {
		return nil, timedOut(err, "sending descriptors")
	}
	fds, err := rights(oob[:oobn])
	files := &Files{fds, c.o.UID, c.o.Closer}
	switch {
	case err != nil:
	case flags&unix.MSG_CTRUNC != 0:
		err = fmt.Errorf("more than %d descriptors came", MaxFDs)
	case n != 1 || b[0] != theByte:
		err = fmt.Errorf("byte 0x%02x came where one byte 0x%02x belongs", b[0], theByte)
	case want != AnyCount && len(fds) != want:
		err = fmt.Errorf("%d descriptors came, %d were announced", len(fds), want)
	default:
		return files, nil
	}
	files.Close()
	return nil, Errorf(BadDescriptors, "%v", err)
}

// look has descriptors looked at that have come and are not received yet. Only
// this goroutine takes anything out of the socket, so those are what is received.
func (c *Conn) look(want int) error {
	if c.o.Look == nil {
		return nil
	}
	var b [1]byte
	_, _, flags, err := c.recvmsg(b[:], nil, unix.MSG_PEEK)
	switch {
	case err != nil:
		return timedOut(err, "sending descriptors")
	case flags&unix.MSG_CTRUNC == 0:
		return nil // there are none
	}
	var no error
	if err := c.raw.Control(func(fd uintptr) { no = c.o.Look(int(fd), want) }); err != nil {
		return err
	}
	if e := new(Error); no == nil || errors.As(no, &e) {
		return no
	}
	return Errorf(BadDescriptors, "%v", no)
}

// rights gives every descriptor of the control messages, also beside an error.
func rights(oob []byte) (fds []int, err error) {
	messages, err := unix.ParseSocketControlMessage(oob)
	for i := range messages {
		if messages[i].Header.Level != unix.SOL_SOCKET || messages[i].Header.Type != unix.SCM_RIGHTS {
			err = fmt.Errorf("a control message of type %d came", messages[i].Header.Type)
			continue
		}
		more, perr := unix.ParseUnixRights(&messages[i])
		if perr != nil {
			err = perr
		}
		fds = append(fds, more...)
	}
	if err == nil && len(messages) > 1 {
		err = fmt.Errorf("%d control messages came", len(messages))
	}
	return fds, err
}

// SendFDs is the client's half: after the answer with the state send_fds.
// The descriptors stay the caller's.
func (c *Conn) SendFDs(fds ...int) error {
	if len(fds) > MaxFDs {
		return fmt.Errorf("cannot send %d descriptors; at most %d", len(fds), MaxFDs)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.writeErr != nil {
		return c.writeErr
	}
	if err := c.writeDeadline(); err != nil {
		return err
	}
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	_, _, c.writeErr = c.uc.WriteMsgUnix([]byte{theByte}, oob, nil)
	return c.writeErr
}
