package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"snens/internal/testneed"
)

// helpTexts is what the zoo's programs are described by when they are asked for
// help; helpCauses why the others are set aside.
var (
	helpTexts = map[string]string{
		"help-pages":  "help-pages — pages its help.\nhelp-pages [--all]",
		"help-mans":   "help-mans — is told that cat is the pager.",
		"help-large":  "help-large — prints 128 MiB.\nhelp-large [--less]",
		"help-stderr": "help-stderr — speaks on the other stream.\nhelp-stderr FILE",
		"help-fails":  "help-fails — ends with 1.\nhelp-fails FILE",
		"help-asks":   "Really?\nhelp-asks — got \"\" as its answer.",
		"help-latin":  "",
		"help-daemon": "help-daemon — leaves one behind.",
	}
	helpCauses = map[string]string{
		"help-hangs":        "--help timed out after 5 s",
		"help-endless":      "--help timed out after 5 s",
		"help-stderr-fails": "--help ended with exit 1 and nothing on stdout",
		"help-terminal":     "--help ended with exit 1 and nothing on stdout",
		"help-is-data":      "--help printed nothing",
	}
)

// Whatever a program does when asked for help, the answer is one line or a
// description, nothing is left running and nothing was created.
func TestZooAskedForHelp(t *testing.T) {
	modes(t, func(t *testing.T, w *world) {
		testneed.Program(t, "perl")
		ok, why := w.doctorSays("restriction of probes")
		testneed.Kernel(t, ok, "a restriction for probes ("+why+")")
		w.zoo(isHelp)
		connected := listen(t, w)
		w.file("work/precious", "precious\n", 0o644)
		const look = `find tools work home/made* unix -printf '%p %m %s %T@\n' 2>&1 | sort; ls -d /var/tmp/made* /dev/shm/made* "$TMPDIR"/made* 2>/dev/null || true`
		before := w.shell(look)

		r := w.run("tools", "--json")
		w.nothingLeft()
		found := definitions(t, r.stdout)
		for name, want := range helpTexts {
			got := found[name].Description
			if name == "help-latin" {
				if !utf8.ValidString(got) || !strings.HasPrefix(got, "help-latin — z") || strings.ContainsRune(got, 0x1b) {
					t.Errorf("%s: %q", name, got)
				}
				continue
			}
			if got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		lines := ""
		for _, name := range sortedKeys(helpCauses) {
			lines += "snens: tool " + name + " skipped: " + helpCauses[name] + "\n"
		}
		if r.status != 0 || len(found) != len(helpTexts) || r.stderr != lines {
			t.Errorf("%d, %d described, stderr:\n%s\nwant:\n%s", r.status, len(found), r.stderr, lines)
		}
		if after := w.shell(look); after != before {
			t.Errorf("something was created or changed; before:\n%s\nafter:\n%s", before, after)
		}
		if text, err := os.ReadFile(filepath.Join(w.work, "precious")); err != nil || string(text) != "precious\n" {
			t.Errorf("the file that was there holds %q, %v", text, err)
		}
		if n := connected(); n != 0 {
			t.Errorf("%d connections came in", n)
		}
		unrestricted(t, w, look, before)
	})
}

// unrestricted runs help-is-data as a careless supervisor would, to show that
// what it was kept from is something.
func unrestricted(t *testing.T, w *world, look, before string) {
	t.Helper()
	must(t, os.Remove(filepath.Join(w.root, "port")))
	connected := listen(t, w)
	said := w.shell("cd work; OUTSIDE= TMPDIR=$HOME ../tools/help-is-data/help-is-data --help 2>&1")
	if n := connected(); n != 2 || said != "unix connected\ntcp connected\nudp sent\n" {
		t.Errorf("unrestricted it makes %d connections and says %q", n, said)
	}
	if w.shell(look) == before {
		t.Error("unrestricted it creates nothing")
	}
}

// A signal in the middle of discovery ends the programs that are being asked.
func TestInterruptedDiscovery(t *testing.T) {
	modes(t, func(t *testing.T, w *world) {
		never := w.fifo("never")
		w.file("tools/waits/waits", "#!/bin/sh\ntrap '' TERM INT\nsetsid sh -c 'trap \"\" TERM; while :; do sleep 1000; done' &\nread -r line <"+never+"\n", 0o755)
		for sig, status := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
			cmd := w.command("tools")
			must(t, cmd.Start())
			asked := reader(t, never)
			must(t, cmd.Process.Signal(sig))
			if got := statusOf(t, cmd.Wait()); got != status {
				t.Errorf("exit status %d, want %d", got, status)
			}
			w.nothingLeft()
			must(t, asked.Close())
		}
	})
}

// listen listens where help-is-data connects to. The function returned stops
// that and tells how many came.
func listen(t *testing.T, w *world) (connected func() int) {
	t.Helper()
	unix, err := net.Listen("unix", filepath.Join(w.root, "unix"))
	must(t, err)
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	w.file("port", fmt.Sprintln(tcp.Addr().(*net.TCPAddr).Port), 0o644)
	counts := make(chan int)
	for _, l := range []net.Listener{unix, tcp} {
		go func() {
			n := 0
			for {
				c, err := l.Accept()
				if err != nil {
					counts <- n
					return
				}
				n++
				c.Close()
			}
		}()
	}
	return func() int {
		unix.Close()
		tcp.Close()
		return <-counts + <-counts
	}
}
