package sockets_test

import (
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"snens/internal/sockets"
)

func TestPassedSockets(t *testing.T) {
	dir := folder(t)
	listen := func(network, addr string) *os.File {
		l, err := net.Listen(network, addr)
		must(t, err)
		t.Cleanup(func() { l.Close() })
		f, err := l.(interface{ File() (*os.File, error) }).File()
		must(t, err)
		t.Cleanup(func() { f.Close() })
		return f
	}
	one, two := listen("unix", dir+"/one"), listen("unix", dir+"/two")
	tcp, packet := listen("tcp", "127.0.0.1:0"), listen("unixpacket", dir+"/packet")
	conn, err := dial(t, dir+"/one").File()
	must(t, err)
	defer conn.Close()
	null, err := os.Open(os.DevNull)
	must(t, err)
	defer null.Close()
	for _, c := range []struct {
		name, owner, fds, names string
		files                   []*os.File
		want                    []string
	}{
		{"both", "self", "2", "request:approval", []*os.File{one, two}, []string{"approval " + dir + "/two", "error: <nil>", "request " + dir + "/one"}},
		{"one", "self", "1", "approval", []*os.File{two}, []string{"approval " + dir + "/two", "error: <nil>"}},
		{"for another process", "1", "1", "approval", []*os.File{two}, []string{"error: <nil>"}},
		{"none", "self", "0", "", nil, []string{"error: <nil>"}},
		{"twice", "self", "2", "request:request", []*os.File{one, two}, []string{"its name is there twice"}},
		{"unknown", "self", "1", "other", []*os.File{one}, []string{"its name is none of request, approval"}},
		{"second unknown", "self", "2", "request:other", []*os.File{one, two}, []string{"its name is none of"}},
		{"tcp", "self", "1", "request", []*os.File{tcp}, []string{"no listening Unix stream socket"}},
		{"packets", "self", "1", "request", []*os.File{packet}, []string{"no listening Unix stream socket"}},
		{"a connection", "self", "1", "request", []*os.File{conn}, []string{"no listening Unix stream socket"}},
		{"a file", "self", "1", "request", []*os.File{null}, []string{"it is no socket"}},
		{"fewer than said", "self", "2", "request:approval", []*os.File{one}, []string{"(descriptor 4)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := command(t, job{Do: "passed", Owner: c.owner, Names: []string{"request", "approval"}})
			cmd.Env = append(cmd.Env, "LISTEN_FDS="+c.fds, "LISTEN_FDNAMES="+c.names, "LISTEN_PIDFDID=7")
			cmd.ExtraFiles = c.files
			out, err := cmd.Output()
			must(t, err)
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			slices.Sort(lines)
			if len(c.want) == 1 && c.want[0] != "error: <nil>" { // a part of the one line
				if len(lines) != 1 || !strings.Contains(lines[0], c.want[0]) {
					t.Errorf("got %q, want %q", lines, c.want)
				}
				return
			}
			// For another process the descriptors are not ours to touch.
			lines = slices.DeleteFunc(lines, func(s string) bool { return c.owner != "self" && strings.HasPrefix(s, "inherited:") })
			if !slices.Equal(lines, c.want) {
				t.Errorf("got %q, want %q", lines, c.want)
			}
		})
	}
}

func TestParseListen(t *testing.T) {
	for _, c := range []struct {
		env  string // NAME=VALUE,...
		want string // the names, or a part of the error after "!"
	}{
		{"", ""},
		{"LISTEN_FDNAMES=a", ""},
		{"LISTEN_PID=7,LISTEN_FDS=1,LISTEN_FDNAMES=a", "a"},
		{"LISTEN_PID=7,LISTEN_FDS=2,LISTEN_FDNAMES=a.socket:B-_9", "a.socket B-_9"},
		{"LISTEN_PID=8,LISTEN_FDS=x", ""},
		{"LISTEN_PID=7,LISTEN_FDS=0", ""},
		{"LISTEN_PID=7", "!must be set both"},
		{"LISTEN_FDS=1", "!must be set both"},
		{"LISTEN_PID=,LISTEN_FDS=1", "!LISTEN_PID"},
		{"LISTEN_PID=+7,LISTEN_FDS=1,LISTEN_FDNAMES=a", "!LISTEN_PID"},
		{"LISTEN_PID=07,LISTEN_FDS=1,LISTEN_FDNAMES=a", "!LISTEN_PID"},
		{"LISTEN_PID= 7,LISTEN_FDS=1,LISTEN_FDNAMES=a", "!LISTEN_PID"},
		{"LISTEN_PID=4294967303,LISTEN_FDS=1,LISTEN_FDNAMES=a", "!LISTEN_PID"},
		{"LISTEN_PID=7,LISTEN_FDS=-1,LISTEN_FDNAMES=a", "!LISTEN_FDS"},
		{"LISTEN_PID=7,LISTEN_FDS=17,LISTEN_FDNAMES=a", "!more than 16"},
		{"LISTEN_PID=7,LISTEN_FDS=99999999999999999999,LISTEN_FDNAMES=a", "!LISTEN_FDS"},
		{"LISTEN_PID=7,LISTEN_FDS=1", "!LISTEN_FDNAMES is not set"},
		{"LISTEN_PID=7,LISTEN_FDS=1,LISTEN_FDNAMES=", "!is not made of"},
		{"LISTEN_PID=7,LISTEN_FDS=2,LISTEN_FDNAMES=a", "!1 names for 2"},
		{"LISTEN_PID=7,LISTEN_FDS=2,LISTEN_FDNAMES=a:b:c", "!3 names for 2"},
		{"LISTEN_PID=7,LISTEN_FDS=1,LISTEN_FDNAMES=a b", "!is not made of"},
		{"LISTEN_PID=7,LISTEN_FDS=1,LISTEN_FDNAMES=" + strings.Repeat("a", 256), "!is not made of"},
	} {
		names, err := sockets.ParseListen(7, lookup(c.env))
		if words, bad := strings.CutPrefix(c.want, "!"); bad {
			contains(t, err, words)
		} else if err != nil || strings.Join(names, " ") != c.want {
			t.Errorf("%s: got %v, %v", c.env, names, err)
		}
	}
}

func lookup(env string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for v := range strings.SplitSeq(env, ",") {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}
}

func FuzzParseListen(f *testing.F) {
	f.Add("7", "2", "a:b")
	f.Add("07", "-1", ":")
	f.Add("7", "16", "")
	f.Fuzz(func(t *testing.T, pid, count, names string) {
		got, err := sockets.ParseListen(7, func(name string) (string, bool) {
			switch name {
			case "LISTEN_PID":
				return pid, true
			case "LISTEN_FDS":
				return count, true
			}
			return names, true
		})
		if err != nil || got == nil {
			return
		}
		if pid != "7" || len(got) > 16 || strings.Join(got, ":") != names || slices.Contains(got, "") {
			t.Fatalf("%q, %q, %q gave %q", pid, count, names, got)
		}
	})
}
