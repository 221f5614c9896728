package prepare_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/broker/policy"
	"snens/broker/prepare"
)

// opens tells whether anything was opened below what is watched since the last
// call.
func opens(t *testing.T, paths ...string) func() bool {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	must(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	for _, p := range paths {
		_, err := unix.InotifyAddWatch(fd, p, unix.IN_OPEN|unix.IN_ACCESS)
		must(t, err)
	}
	return func() bool {
		buf := make([]byte, 64<<10)
		n, err := unix.Read(fd, buf)
		if err != nil && err != unix.EAGAIN {
			t.Error(err)
		}
		return n > 0
	}
}

// Nothing is opened for a request that no rule lets through, and a stranger is
// told nothing.
func TestNothingIsOpenedForARefusal(t *testing.T) {
	w := newWorld(t, rule("read", reads), rule("reason", `args = ["reason"]`, `approve = {from = ["uid:0"], reason = "required"}`), denies("never"))
	file := w.give("home/alice/file", alice, alice, 0o600)
	opened := opens(t, w.path("bin/tool"), file, w.path("home/alice"))
	for _, c := range []struct {
		who    policy.Subject
		argv   []string
		reason action.Reason
	}{
		{asBob, w.tool("read", file), action.ReasonDenied},
		{asBob, w.tool("read", w.path("home/none")), action.ReasonDenied},
		{asBob, []string{"/no/such"}, action.ReasonDenied},
		{asBob, []string{"\x00"}, action.ReasonDenied},
		{asBob, nil, action.ReasonDenied},
		{asAlice, w.tool("write", file), action.ReasonDenied},
		{asAlice, w.tool("read", "/etc/shadow"), action.ReasonDenied},
		{asAlice, w.tool("never"), action.ReasonRuleDenies},
		{asAlice, w.tool("reason"), action.ReasonReasonRequired},
	} {
		no := w.refused(prepare.Ask{From: c.who, Argv: c.argv, Cwd: w.path("home/alice")}, c.reason, "")
		if c.who.UID == bob && *no != (prepare.Refusal{Reason: action.ReasonDenied}) {
			t.Errorf("a stranger is told %+v", *no)
		}
		if opened() {
			t.Errorf("%q by uid %d: something was opened", c.argv, c.who.UID)
		}
	}
	w.make(prepare.Ask{Argv: w.tool("read", file)})
	if !opened() {
		t.Error("the watch sees nothing")
	}
}

// Devices, sockets and FIFOs are not opened, whoever may.
func TestSpecialFilesAreNotOpened(t *testing.T) {
	w := newWorld(t, rule("read", reads))
	for name, mode := range map[string]uint32{"null": unix.S_IFCHR, "block": unix.S_IFBLK, "fifo": unix.S_IFIFO, "socket": unix.S_IFSOCK} {
		p := w.path("home/" + name)
		must(t, unix.Mknod(p, mode|0o666, int(unix.Mkdev(1, 3))))
		must(t, unix.Chmod(p, 0o666))
		opened := opens(t, p)
		w.refused(prepare.Ask{Argv: w.tool("read", p)}, action.ReasonBadRequest, "not a regular file")
		if opened() {
			t.Errorf("%s was opened", name)
		}
	}
}

// Whoever holds a lease on a file does not hold up the broker.
func TestALeaseDoesNotHoldUp(t *testing.T) {
	w := newWorld(t, rule("read", reads))
	file := w.give("home/alice/file", alice, alice, 0o600)
	fd, err := unix.Open(file, unix.O_RDWR|unix.O_CLOEXEC, 0)
	must(t, err)
	defer unix.Close(fd)
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Fatal(err)
	}
	w.refused(prepare.Ask{Argv: w.tool("read", file)}, action.ReasonBadRequest, "held by another program")
}
