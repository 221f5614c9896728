package prepare_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/broker/policy"
	"snens/broker/prepare"
)

const reads = `args = ["read", {slot = "file", kind = "path", beneath = "DIR/home", as = "fd"}]`

func TestAFileIsOpenedForTheRequester(t *testing.T) {
	w := newWorld(t, rule("read", reads))
	file := w.give("home/alice/file", alice, alice, 0o400)
	var st unix.Stat_t
	must(t, unix.Stat(file, &st))
	p := w.make(prepare.Ask{Argv: w.tool("read", file)})
	r := p.Request.Request()
	if want := (action.OpenedFile{Descriptor: 3, Path: file, Device: st.Dev, Inode: st.Ino}); len(r.Opened) != 1 || r.Opened[0] != want || r.Argv[2] != "/proc/self/fd/3" {
		t.Errorf("argv %q, opened %+v", r.Argv, r.Opened)
	}
	if len(p.Opened) != 1 {
		t.Fatalf("%d files are open", len(p.Opened))
	}
	flags, err := unix.FcntlInt(p.Opened[0].Fd(), unix.F_GETFL, 0)
	if err != nil || flags&(unix.O_ACCMODE|unix.O_NONBLOCK|unix.O_PATH) != unix.O_RDONLY {
		t.Errorf("open with the flags %#x, %v", flags, err)
	}
	if flags, err := unix.FcntlInt(p.Opened[0].Fd(), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("it would be inherited: %#x, %v", flags, err)
	}
	// Whatever is put there now, the command gets what was opened.
	must(t, os.Rename(file, file+".old"))
	must(t, os.Symlink("/etc/shadow", file))
	if got, err := io.ReadAll(p.Opened[0]); string(got) != "content of home/alice/file" {
		t.Errorf("reads %q, %v", got, err)
	}
	w.holds(p.Request)
	p.Close()
	if len(w.discarded) != 1 || w.discarded[0] != file {
		t.Errorf("discarded: %q", w.discarded)
	}
}

func TestPathsThatAreNotOpened(t *testing.T) {
	w := newWorld(t, rule("read", reads))
	w.write("outside", "", 0o644)
	w.give("home/bob/secret", bob, bob, 0o644) // in a folder that is bob's alone
	w.write("home/rootsecret", "", 0o600)
	w.give("home/alice/bobs", bob, bob, 0o600)
	w.give("home/alice/file", alice, alice, 0o600)
	for name, target := range map[string]string{"out": w.path("outside"), "in": "file", "bobhome": "../bob", "proc": "/proc/self/root/etc/passwd"} {
		must(t, os.Symlink(target, w.path("home/alice/"+name)))
	}
	must(t, unix.Mkfifo(w.path("home/alice/fifo"), 0o666))
	must(t, os.Mkdir(w.path("home/alice/folder"), 0o777))
	for _, c := range []struct {
		path   string
		reason action.Reason
		why    string
	}{
		{"home/rootsecret", action.ReasonBadRequest, "permission denied"},
		{"home/bob/secret", action.ReasonBadRequest, "permission denied"},
		{"home/bob/none", action.ReasonBadRequest, "permission denied"}, // the same: no oracle
		{"home/alice/bobs", action.ReasonBadRequest, "permission denied"},
		{"home/alice/none", action.ReasonBadRequest, "no such file"},
		{"home/alice/in", action.ReasonBadRequest, "symlink"},
		{"home/alice/out", action.ReasonBadRequest, "symlink"},
		{"home/alice/bobhome/secret", action.ReasonBadRequest, "symlink"},
		{"home/alice/proc", action.ReasonBadRequest, "symlink"},
		{"home/alice/fifo", action.ReasonBadRequest, "not a regular file"},
		{"home/alice/folder", action.ReasonBadRequest, "not a regular file"},
		{"home/alice/file/x", action.ReasonBadRequest, "not a directory"},
		{"outside", action.ReasonDenied, ""},
		{"home", action.ReasonDenied, ""},
		{"home/alice/../bob/secret", action.ReasonDenied, ""},
		{"home/alice/../../outside", action.ReasonDenied, ""},
		{"home//alice/file", action.ReasonDenied, ""},
		{"home/alice/file/", action.ReasonDenied, ""},
		{"home/alice/./file", action.ReasonDenied, ""},
		{"home/alice/file\x00", action.ReasonBadRequest, "NUL"},
		{"home" + strings.Repeat("/a", 5000), action.ReasonDenied, ""},
		{"home/" + strings.Repeat("a", 3000), action.ReasonBadRequest, "too long"},
	} {
		w.refused(prepare.Ask{Argv: w.tool("read", w.dir+"/"+c.path)}, c.reason, c.why)
	}
	w.refused(prepare.Ask{Argv: w.tool("read", "home/alice/file")}, action.ReasonDenied, "")
	w.refused(prepare.Ask{Argv: w.tool("read", "/proc/self/fd/3")}, action.ReasonDenied, "")
	// The same through a group of his, and not without it.
	w.give("home/team", bob, team, 0o040)
	w.make(prepare.Ask{Argv: w.tool("read", w.path("home/team"))})
	w.refused(prepare.Ask{From: policy.Subject{UID: alice, GID: alice}, Argv: w.tool("read", w.path("home/team"))}, action.ReasonBadRequest, "permission denied")
	w.make(prepare.Ask{From: policy.Subject{UID: alice, GID: team}, Argv: w.tool("read", w.path("home/team"))})
	if len(w.discarded) != 0 {
		t.Errorf("opened all the same: %q", w.discarded)
	}
}

// A folder that is swapped for a symlink all the time never leads outside.
func TestASymlinkSwappedBelowTheFolder(t *testing.T) {
	w := newWorld(t, rule("read", reads))
	must(t, os.Mkdir(w.path("secret"), 0o755))
	w.write("secret/file", "outside", 0o644)
	must(t, os.Mkdir(w.path("home/alice/real"), 0o755))
	file := w.give("home/alice/real/file", alice, alice, 0o644)
	must(t, os.Symlink(w.path("secret"), w.path("home/alice/link")))
	real, link := w.path("home/alice/real"), w.path("home/alice/link")
	done := make(chan struct{})
	var swaps sync.WaitGroup
	swaps.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, real, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
			}
		}
	})
	opened := 0
	for range 500 {
		p, err := w.try(prepare.Ask{Argv: w.tool("read", file)})
		if err != nil {
			continue
		}
		if got, err := io.ReadAll(p.Opened[0]); err != nil || string(got) != "content of home/alice/real/file" {
			t.Errorf("opened %q, %v", got, err)
		}
		opened++
		p.Close()
	}
	close(done)
	swaps.Wait()
	t.Logf("%d of 500 were opened", opened)
}

// Symlinks above the folder of a slot are the administrator's where only root
// can have made them.
func TestSymlinksAboveTheFolderOfASlot(t *testing.T) {
	w := newWorld(t)
	must(t, os.Symlink("home", w.path("rootlink")))
	w.give("home/alice/file", alice, alice, 0o600)
	must(t, os.Symlink(w.path("home/bob"), w.path("home/alice/link")))
	w.give("home/bob/file", bob, bob, 0o644)
	must(t, os.Chmod(w.path("home/bob"), 0o755))
	w.load(0, rule("read", `args = [{slot = "file", kind = "path", beneath = "DIR/rootlink/alice", as = "fd"}]`),
		rule("theirs", `args = ["theirs", {slot = "file", kind = "path", beneath = "DIR/home/alice/link", as = "fd"}]`))
	w.make(prepare.Ask{Argv: w.tool(w.path("rootlink/alice/file"))})
	w.refused(prepare.Ask{Argv: w.tool("theirs", w.path("home/alice/link/file"))}, action.ReasonBadRequest, "symlink")
}

func TestTheWordOfTheDescriptorIsUnique(t *testing.T) {
	w := newWorld(t, rule("read", `args = [{slot = "w", kind = "word", pattern = ".*"}, {slot = "file", kind = "path", beneath = "DIR/home", as = "fd"}]`))
	file := w.give("home/alice/file", alice, alice, 0o600)
	w.refused(prepare.Ask{Argv: w.tool("/proc/self/fd/3", file)}, action.ReasonBadRequest, "gets a descriptor")
	w.make(prepare.Ask{Argv: w.tool("/proc/self/fd/4", file)})
}

func TestRequestersFolder(t *testing.T) {
	w := newWorld(t, rule("here", `cwd = "requester"`))
	must(t, os.Mkdir(w.path("home/alice/work"), 0o700))
	must(t, os.Chown(w.path("home/alice/work"), alice, alice))
	must(t, os.Mkdir(w.path("home/alice/closed"), 0o600))
	must(t, os.Chown(w.path("home/alice/closed"), alice, alice))
	must(t, os.Symlink("work", w.path("home/alice/link")))
	w.give("home/alice/file", alice, alice, 0o755)
	for dir, why := range map[string]string{
		"": "absolute", "work": "absolute", w.path("home/alice/") + "/work/": "absolute", w.dir + "/home/../home": "absolute",
		w.dir + "//home": "absolute", w.dir + "/\x00": "absolute",
		w.path("home/bob"): "permission denied", w.path("home/bob/none"): "permission denied", "/root": "permission denied",
		w.path("home/alice/closed"): "permission denied", w.path("home/alice/link"): "symlink", w.path("home/alice/none"): "no such file",
		w.path("home/alice/file"): "not a directory", "/proc/self/cwd": "symlink",
		"/" + strings.Repeat("x", 5000): "too long",
	} {
		w.refused(prepare.Ask{Argv: w.tool(), Cwd: dir}, action.ReasonBadRequest, why)
	}
	w.make(prepare.Ask{Argv: w.tool(), Cwd: "/"})
	p := w.make(prepare.Ask{Argv: w.tool(), Cwd: w.path("home/alice/work")})
	if got := p.Request.Request().Cwd; got != w.path("home/alice/work") {
		t.Errorf("runs in %q", got)
	}
	w.holds(p.Request)
	must(t, os.Rename(w.path("home/alice/work"), w.path("home/alice/moved")))
	must(t, os.Symlink(w.path("home/bob"), w.path("home/alice/work")))
	w.stale(p.Request, action.ReasonStaleFile, "folder")
}

// The rights are those of one thread and end with it.
func TestRightsAreOneThreads(t *testing.T) {
	w := newWorld(t)
	secret := w.write("secret", "", 0o600)
	var all sync.WaitGroup
	for i := range 200 {
		who := policy.Subject{UID: policy.UID(alice + i%50), GID: policy.GID(bob + i%50), Groups: []policy.GID{team, policy.GID(web + i%50)}}
		all.Go(func() {
			_, err := w.m.As(t.Context(), who, func() (*os.File, error) {
				status, err := os.ReadFile("/proc/thread-self/status")
				if err != nil {
					return nil, err
				}
				for _, want := range []string{
					fmt.Sprintf("Uid:\t0\t0\t0\t%d\n", who.UID), fmt.Sprintf("Gid:\t0\t0\t0\t%d\n", who.GID),
					fmt.Sprintf("Groups:\t%d %d \n", who.Groups[0], who.Groups[1]),
				} {
					if !strings.Contains(string(status), want) {
						return nil, fmt.Errorf("no %q in %s", want, status)
					}
				}
				if f, err := os.Open(secret); err == nil {
					f.Close()
					return nil, errors.New("reads what is root's")
				}
				return nil, nil
			})
			if err != nil && !errors.Is(err, prepare.ErrBusy) {
				t.Error(err)
			}
			if f, err := os.Open(secret); err != nil {
				t.Errorf("root lost its rights: %v", err)
			} else {
				f.Close()
			}
		})
	}
	all.Wait()
	for _, who := range []policy.Subject{{UID: policy.NoID, GID: 1}, {UID: 1, GID: policy.NoID}, {UID: 1, GID: 1, Groups: []policy.GID{policy.NoID}}} {
		if _, err := w.m.As(t.Context(), who, func() (*os.File, error) { t.Error("called"); return nil, nil }); err == nil {
			t.Errorf("%+v: no error", who)
		}
	}
}

// A file system that does not answer holds up its own uid and nobody else, and
// what comes late is closed.
func TestAnOpenThatHangs(t *testing.T) {
	w := newWorld(t)
	late := make(chan string, prepare.OpenPerUID)
	m := prepare.New(prepare.Options{Discard: func(uid action.UID, f *os.File) {
		f.Close()
		late <- fmt.Sprintf("%d %s", uid, filepath.Base(f.Name()))
	}})
	file := w.write("file", "", 0o644)
	release := make(chan struct{})
	hang := func() (*os.File, error) { <-release; return os.Open(file) }
	for range prepare.OpenPerUID {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if _, err := m.As(ctx, asAlice, hang); !errors.Is(err, prepare.ErrSlow) {
			t.Errorf("a hanging open: %v", err)
		}
		cancel()
	}
	if _, err := m.As(t.Context(), asAlice, hang); !errors.Is(err, prepare.ErrBusy) {
		t.Errorf("one more: %v", err)
	}
	if f, err := m.As(t.Context(), asBob, func() (*os.File, error) { return os.Open(file) }); err != nil {
		t.Errorf("another uid: %v", err)
	} else {
		f.Close()
	}
	close(release)
	for range prepare.OpenPerUID {
		if got := <-late; got != fmt.Sprintf("%d file", alice) {
			t.Errorf("closed late: %s", got)
		}
	}
}

// A requester who is gone is no refusal and no reason to open anything.
func TestTheEndOfTheCall(t *testing.T) {
	w := newWorld(t, rule("read", reads))
	file := w.give("home/alice/file", alice, alice, 0o600)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := prepare.Ask{From: asAlice, Argv: w.tool("read", file)}
	p, err := w.m.Make(ctx, a, w.m.Judge(a), noon)
	var no *prepare.Refusal
	if p != nil || !errors.Is(err, context.Canceled) || errors.As(err, &no) {
		t.Errorf("%v, %v", p, err)
	}
}

// A full table of descriptors is nobody's fault, and no yes.
func TestNoDescriptorsLeft(t *testing.T) {
	w := newWorld(t, rule("read", reads))
	file := w.give("home/alice/file", alice, alice, 0o600)
	p := w.make(prepare.Ask{Argv: w.tool("read", file)})
	var before unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &before))
	defer func() { must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &before)) }()
	free, err := unix.Dup(0)
	must(t, err)
	must(t, unix.Close(free))
	for more := range 5 {
		must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(free + more), Max: before.Max}))
		q, err := w.try(prepare.Ask{Argv: w.tool("read", file)})
		var no *prepare.Refusal
		switch {
		case err == nil && more > 0: // the descriptors of the request itself
			q.Close()
		case !errors.As(err, &no) || no.Reason != action.ReasonBusy || no.Cause == nil:
			t.Errorf("%d are left: %v", more, err)
		}
		if c, ok := w.m.StillHolds(t.Context(), p.Request); more == 0 && (ok || c.Reason != action.ReasonStaleFile) {
			t.Errorf("it holds: %+v", c)
		}
	}
}
