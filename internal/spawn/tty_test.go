package spawn_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"snens/internal/spawn"
	"snens/internal/testneed"
)

func ioctl(fd int, command uint, arg *byte) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(command), uintptr(unsafe.Pointer(arg))); errno != 0 {
		return errno
	}
	return nil
}

// inject is played by the action: it tries to type into every terminal it has.
func inject() {
	fds := map[string]int{"0": 0, "2": 2}
	if fd, err := unix.Open("/dev/tty", unix.O_RDWR, 0); err == nil {
		fds["/dev/tty"] = fd
	}
	for name, fd := range fds {
		letter := byte('x')
		fmt.Printf("%s TIOCSTI %v\n", name, ioctl(fd, unix.TIOCSTI, &letter))
		// The kernel also takes the command's other half for noise.
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), 1<<32|unix.TIOCSTI, uintptr(unsafe.Pointer(&letter)))
		fmt.Printf("%s TIOCSTI+ %v\n", name, errno)
		paste := byte(3) // TIOCL_PASTESEL
		fmt.Printf("%s TIOCLINUX %v\n", name, ioctl(fd, unix.TIOCLINUX, &paste))
	}
}

// Neither root's child nor another user's puts a letter into the terminal that
// it was handed, and it has none of its own.
func TestNothingIsTypedIntoATerminal(t *testing.T) {
	testneed.Root(t)
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer tty.Close()
	fd := int(tty.Fd())
	if _, err := term.MakeRaw(fd); err != nil {
		t.Fatal(err)
	}
	for _, uid := range []uint32{0, 65534} {
		t.Run(fmt.Sprint(uid), func(t *testing.T) {
			both(t, func(t *testing.T, r *spawn.Runner) {
				s := self(t, injector)
				s.Files = []int{fd, spawn.NullFile, fd}
				s.UID, s.GID = uid, uid
				out, _ := output(t, r, s)
				for line := range strings.Lines(out) {
					if !strings.HasSuffix(line, "operation not permitted\n") && uid == 0 || strings.Contains(line, "nil") {
						t.Errorf("%s", line)
					}
				}
				if n := strings.Count(out, "\n"); n != 6 {
					t.Errorf("%d tries, want 6 and none of /dev/tty: %s", n, out)
				}
				if waiting(t, tty) {
					t.Error("something was typed")
				}
			})
		})
	}
	// Without the filter root could.
	letter := byte('x')
	if err := ioctl(fd, unix.TIOCSTI, &letter); err != nil {
		t.Logf("this process cannot type either: %v", err)
	} else if !waiting(t, tty) {
		t.Error("what was typed is not noticed")
	}
}

// waiting says that the terminal has input to read.
func waiting(t *testing.T, tty *os.File) bool {
	t.Helper()
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(tty.Fd()), Events: unix.POLLIN}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return n > 0
}
