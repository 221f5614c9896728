package sockets_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"snens/internal/sockets"
	"snens/internal/testneed"
)

// Whoever watches the folder from before the start sees the socket with its
// owner alone, or with the group it is meant for, whatever the umask.
func TestASocketIsNeverWiderThanConfigured(t *testing.T) {
	testneed.Root(t)
	const group = 4242
	path := folder(t) + "/s"
	want := sockets.Perm{Mode: 0o660, GID: group}
	stop, result := make(chan struct{}), make(chan map[unix.Stat_t]bool)
	go func() {
		seen := map[unix.Stat_t]bool{}
		var last unix.Stat_t
		for {
			select {
			case <-stop:
				result <- seen
				return
			default:
			}
			var st unix.Stat_t
			// The kernel reads owner and mode of one answer one after the other:
			// what was there is what two answers agree on.
			if unix.Lstat(path, &st) == nil && st == last {
				seen[unix.Stat_t{Mode: st.Mode, Uid: st.Uid, Gid: st.Gid}] = true
			}
			last = st
		}
	}()
	for _, umask := range []int{0, 0o077, 0o777} {
		old := syscall.Umask(umask)
		for range 100 {
			s, err := sockets.Listen(path, want)
			if err != nil {
				t.Error(err)
				break
			}
			if err := sockets.CheckPath(path, want); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		syscall.Umask(old)
	}
	close(stop)
	seen := <-result
	final := false
	for st := range seen {
		mode := st.Mode & 0o7777
		switch {
		case st.Uid == 0 && st.Gid == group && mode == 0o660:
			final = true
		case st.Uid == 0 && mode&^0o600 == 0: // on the way: root alone
		default:
			t.Errorf("seen with mode %#o, %d:%d", mode, st.Uid, st.Gid)
		}
	}
	if !final {
		t.Errorf("never seen as configured: %v", seen)
	}
}

func TestListenAndClose(t *testing.T) {
	dir := folder(t)
	path := dir + "/s"
	s, err := sockets.Listen(path, own(0o600))
	must(t, err)
	if s.Path() != path {
		t.Errorf("path is %s", s.Path())
	}
	dial(t, path)
	if _, err := sockets.Listen(path, own(0o600)); !errors.Is(err, sockets.ErrInUse) {
		t.Errorf("a second time: %v", err)
	}
	dial(t, path) // still there
	must(t, s.Close())
	if left := entries(t, dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func own(mode uint32) sockets.Perm {
	return sockets.Perm{Mode: mode, UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())}
}

func TestCloseLeavesAnothersSocket(t *testing.T) {
	dir := folder(t)
	path := dir + "/s"
	s, err := sockets.Listen(path, own(0o600))
	must(t, err)
	must(t, os.Remove(path))
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, s.Close())
	if left := entries(t, dir); !slices.Equal(left, []string{"s"}) {
		t.Errorf("left: %v", left)
	}
}

func TestStaleSocketsAreReplaced(t *testing.T) {
	path := folder(t) + "/s"
	stale(t, path)
	s, err := sockets.Listen(path, own(0o600))
	must(t, err)
	dial(t, path)
	must(t, s.Close())

	// A process that was killed leaves the lock file too, but not the lock.
	testneed.Root(t) // the job makes a socket of root's
	c, _ := start(t, job{Do: "own", Path: path})
	if _, err := sockets.Listen(path, own(0o600)); !errors.Is(err, sockets.ErrInUse) {
		t.Errorf("while it serves: %v", err)
	}
	must(t, c.Process.Kill())
	_ = c.Wait()
	s, err = sockets.Listen(path, own(0o600))
	must(t, err)
	must(t, s.Close())
}

// stale leaves a socket that nobody listens on.
func stale(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	must(t, err)
	l.SetUnlinkOnClose(false)
	must(t, l.Close())
}

func TestWhatIsNotOursIsLeft(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string)
		want string
	}{
		{"a file", func(t *testing.T, path string) { must(t, os.WriteFile(path, nil, 0o600)) }, "no socket"},
		{"a folder", func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) }, "no socket"},
		{"a link to a stale socket", func(t *testing.T, path string) {
			stale(t, path+"2")
			must(t, os.Symlink(path+"2", path))
		}, "no socket"},
		{"another's stale socket", func(t *testing.T, path string) {
			testneed.Root(t)
			stale(t, path)
			must(t, os.Chown(path, 1234, 1234))
		}, "a socket of uid 1234"},
		{"one that is listened on", func(t *testing.T, path string) {
			l, err := net.Listen("unix", path)
			must(t, err)
			t.Cleanup(func() { l.Close() })
		}, "another process serves it"},
		{"one with a full queue", func(t *testing.T, path string) {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			must(t, err)
			t.Cleanup(func() { unix.Close(fd) })
			must(t, unix.Bind(fd, &unix.SockaddrUnix{Name: path}))
			must(t, unix.Listen(fd, 0))
			dial(t, path)
		}, "another process serves it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t)
			c.make(t, dir+"/s")
			before := entries(t, dir)
			_, err := sockets.Listen(dir+"/s", own(0o600))
			contains(t, err, c.want)
			contains(t, err, dir+"/s")
			if after := entries(t, dir); !slices.Equal(before, after) {
				t.Errorf("before %v, after %v", before, after)
			}
		})
	}
}

func TestListenRefuses(t *testing.T) {
	open := folder(t)
	must(t, os.Chmod(open, 0o775))
	good := folder(t)
	for _, c := range []struct {
		path string
		perm sockets.Perm
		want string
	}{
		{open + "/s", own(0o600), "is writable by its group"},
		{"/tmp/s", own(0o600), "/tmp"},
		{"s", own(0o600), "must be absolute"},
		{"@s", own(0o600), "must be absolute"},
		{good + "/../" + filepath.Base(good) + "/s", own(0o600), "must be absolute, without"},
		{good + "/" + strings.Repeat("x", 107), own(0o600), "at most 107"},
		{good + "/none/s", own(0o600), "no such file"},
		{good + "/s", own(0o4600), "is none for a socket"},
		{good + "/s", own(0o700), "is none for a socket"},
		{good + "/s", own(0o060), "is none for a socket"},
		{good + "/s", own(0), "is none for a socket"},
	} {
		s, err := sockets.Listen(c.path, c.perm)
		if err == nil {
			s.Close()
		}
		contains(t, err, c.want)
	}
	if left := append(entries(t, good), entries(t, open)...); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCheckPath(t *testing.T) {
	path := folder(t) + "/s"
	stale(t, path)
	me := own(0o660)
	for _, c := range []struct {
		mode os.FileMode
		perm sockets.Perm
		want string
	}{
		{0o660, me, ""},
		{0o600, me, ""},
		{0o000, me, ""},
		{0o666, me, "wider"},
		{0o661, me, "wider"},
		{0o660, own(0o600), "wider"},
		{0o660, sockets.Perm{Mode: 0o660, UID: me.UID + 1, GID: me.GID}, "belongs to"},
		{0o660, sockets.Perm{Mode: 0o660, UID: me.UID, GID: me.GID + 1}, "belongs to"},
	} {
		must(t, os.Chmod(path, c.mode))
		err := sockets.CheckPath(path, c.perm)
		if c.want == "" && err != nil {
			t.Errorf("%v: %v", c, err)
		} else if c.want != "" {
			contains(t, err, c.want)
		}
	}
	link := path + "l"
	must(t, os.Symlink(path, link))
	contains(t, sockets.CheckPath(link, me), "no socket")
	contains(t, sockets.CheckPath(path+"x", me), "no such file")
}
