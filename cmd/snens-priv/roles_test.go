package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"snens/internal/peer"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

// play is the test binary as a helper of a test.
func play(role string, args []string) int {
	var err error
	switch role {
	case "impostor":
		err = impostor(args[0])
	case "approve":
		err = approveAs(args[0], args[1], args[2], args[3])
	case "connect":
		err = connectAndWait(args[0])
	default:
		err = fmt.Errorf("no role is called %q", role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// become changes this whole process, which others of the user may look at then.
func become(uid int) error {
	if err := unix.Setgroups(nil); err != nil {
		return err
	}
	if err := syscall.Setresgid(uid, uid, uid); err != nil {
		return err
	}
	if err := syscall.Setresuid(uid, uid, uid); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
}

// impostor listens as another user and never hears a byte.
func impostor(socket string) error {
	if err := become(uidStranger); err != nil {
		return err
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	fmt.Println("listening")
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		if n, _ := c.Read(make([]byte, 1)); n > 0 {
			fmt.Fprintln(os.Stderr, "somebody talks to me")
		}
		c.Close()
	}
}

// connectAndWait connects and stays until the other side ends that.
func connectAndWait(socket string) error {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer c.Close()
	_, _ = c.Read(make([]byte, 1))
	return nil
}

// approveAs approves and prints the state that it came to, or the error's code.
func approveAs(socket, user, id, digest string) error {
	uid, err := strconv.Atoi(user)
	if err != nil {
		return err
	}
	if err := become(uid); err != nil {
		return err
	}
	c, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := peer.Listener(c.(*net.UnixConn), peer.UID(uid)); err != nil {
		return err
	}
	conn, err := wire.New(c.(*net.UnixConn), wire.Options{})
	if err != nil {
		return err
	}
	if _, err := conn.Hello(); err != nil {
		return err
	}
	v, err := strictjson.Parse(fmt.Appendf(nil, `{"request":%q,"decision":"approve","digest":%q,"lifespan":"once"}`, id, digest), strictjson.Options{})
	if err != nil {
		return err
	}
	if err := conn.Send(wire.Request{ID: 1, Method: "answer", Params: v}); err != nil {
		return err
	}
	r, err := conn.ReadReply(patience)
	switch {
	case err != nil:
		return err
	case r.Err != nil:
		fmt.Println(r.Err.Code)
	default:
		fmt.Println(field(r.Result, "state"))
	}
	return nil
}

// openTerminal gives the inner end of a terminal of its own.
func openTerminal(t *testing.T) *os.File {
	t.Helper()
	outer, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	t.Cleanup(func() { _ = outer.Close() })
	must(t, unix.IoctlSetPointerInt(int(outer.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(outer.Fd()), unix.TIOCGPTN)
	must(t, err)
	inner, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	t.Cleanup(func() { _ = inner.Close() })
	return inner
}
