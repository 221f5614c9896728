package wire_test

import (
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"snens/internal/fields"
	"snens/internal/wire"
)

func TestDescriptorsArriveInOrder(t *testing.T) {
	sameFDs(t)
	for want := 0; want <= wire.MaxFDs; want++ {
		server, client := pairOfConns(t, wire.Options{})
		var send []int
		for range want {
			send = append(send, int(temp(t).Fd()))
		}
		done := step(t, client, send)
		files, err := server.TakeFDs(5, want)
		if err != nil {
			t.Fatal(err)
		}
		if <-done; files.Len() != want {
			t.Fatalf("got %d, want %d", files.Len(), want)
		}
		for i, fd := range send {
			if inode(t, fd) != inode(t, files.FD(i)) {
				t.Errorf("descriptor %d of %d is another file", i, want)
			}
			if flags, err := unix.FcntlInt(uintptr(files.FD(i)), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
				t.Errorf("descriptor %d would be inherited: %d, %v", i, flags, err)
			}
		}
		files.Close()
		// The connection goes on.
		if err := client.Send(wire.Request{ID: 6, Method: "next", Params: fields.Object()}); err != nil {
			t.Fatal(err)
		}
		if q, err := server.ReadRequest(0); err != nil || q.Method != "next" {
			t.Errorf("got %v, %v", q, err)
		}
	}
}

// What a look refuses stays in the socket: it is never a descriptor of ours.
func TestALookComesBeforeTheDescriptors(t *testing.T) {
	for name, no := range map[string]error{
		"":                nil,
		"bad_descriptors": errors.New("not these"),
		"busy":            wire.Errorf(wire.Busy, "not now"),
	} {
		file := temp(t)
		looks := 0
		server, client := pairOfConns(t, wire.Options{Look: func(socket, want int) error {
			looks++
			if _, err := unix.FcntlInt(uintptr(socket), unix.F_GETFD, 0); err != nil || want != 1 {
				t.Errorf("look at %d for %d: %v", socket, want, err)
			}
			return no
		}})
		done := step(t, client, []int{int(file.Fd())})
		before := len(openFDs(t))
		files, err := server.TakeFDs(5, 1)
		<-done
		if looks != 1 || (err == nil) != (no == nil) {
			t.Errorf("%s %d looks, %v", name, looks, err)
		}
		if no == nil {
			files.Close()
			continue
		}
		wantCode(t, err, wire.Code(name), "not ")
		if now := len(openFDs(t)); now != before {
			t.Errorf("%d descriptors, %d before", now, before)
		}
		if _, again := server.ReadRequest(0); again == nil {
			t.Error("the connection goes on")
		}
	}
}

// step is the client's half of a step.
func step(t *testing.T, client *wire.Conn, fds []int) chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		r, err := client.ReadReply(0)
		if err != nil || !r.More || r.ID != 5 {
			t.Errorf("asked for descriptors by %+v, %v", r, err)
		}
		f := r.Fields()
		if s := f.Field("state").String(); s != "send_fds" || f.Close() != nil {
			t.Errorf("the state is %q", s)
		}
		if err := client.SendFDs(fds...); err != nil {
			t.Error(err)
		}
	}()
	return done
}

func TestWrongDescriptorsEndTheConnection(t *testing.T) {
	for _, c := range []struct {
		name string
		b    string
		fds  int
		want int
		err  string
	}{
		{"four where three fit", "\x00", 4, wire.AnyCount, "more than 3"},
		{"a hundred", "\x00", 100, wire.AnyCount, "more than 3"},
		{"the most the kernel takes", "\x00", 253, 3, "more than 3"},
		{"two announced, three sent", "\x00", 3, 2, "3 descriptors came, 2 were announced"},
		{"three announced, two sent", "\x00", 2, 3, "2 descriptors came, 3 were announced"},
		{"one announced, none sent", "\x00", 0, 1, "0 descriptors came"},
		{"the next request instead", "{}\n", 0, 0, "0x7b"},
		{"on a newline", "\n", 3, 3, "0x0a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sameFDs(t)
			server, client := serverAndRaw(t, wire.Options{})
			sendRaw(t, client, c.b, c.fds)
			files, err := server.TakeFDs(1, c.want)
			if files != nil {
				t.Error("files came with the error")
			}
			wantCode(t, err, wire.BadDescriptors, c.err)
			write(t, client, `{"id":1,"method":"m"}`+"\n")
			if _, again := server.ReadRequest(0); again != err {
				t.Errorf("reading goes on: %v", again)
			}
		})
	}
}

// A client that sends nothing, or ends, is no step either.
func TestNoDescriptorsAtAll(t *testing.T) {
	server, client := serverAndRaw(t, wire.Options{})
	client.CloseWrite()
	if _, err := server.TakeFDs(1, 1); err == nil {
		t.Error("the end is taken for descriptors")
	}
	server, _ = serverAndRaw(t, wire.Options{})
	server.OnReadDeadline(func(time.Time) time.Time { return time.Unix(1, 0) })
	_, err := server.TakeFDs(1, 1)
	wantCode(t, err, wire.TooSlow, "took too long")
}

func TestBytesBeforeTheStepEndTheConnection(t *testing.T) {
	server, client := serverAndRaw(t, wire.Options{})
	write(t, client, `{"id":1,"method":"run"}`+"\n{")
	if _, err := server.ReadRequest(0); err != nil {
		t.Fatal(err)
	}
	_, err := server.TakeFDs(1, 0)
	wantCode(t, err, wire.BadDescriptors, "bytes came")
}

// Descriptors glued to anything but the byte of the step: none is installed,
// none is dropped in our name, the connection ends.
func TestGluedDescriptorsEndTheConnection(t *testing.T) {
	const (
		hello = `{"hello":{"version":1,"capabilities":[]}}` + "\n"
		run   = `{"id":1,"method":"run"}` + "\n"
	)
	for _, c := range []struct {
		name   string
		before string // sent without
		glued  string // sent with descriptors
		fds    int
	}{
		{"to hello", "", hello, 1},
		{"to the end of hello", hello[:10], hello[10:], 1},
		{"to run", hello, run, 3},
		{"a hundred to run", hello, run, 100},
		{"to a second request", hello + run, run, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			sameFDs(t)
			a, client := sockets(t)
			server := newConn(t, a, wire.Options{})
			if c.before != "" {
				write(t, client, c.before)
			}
			sendRaw(t, client, c.glued, c.fds)
			before := len(openFDs(t))
			_, err := server.Accept()
			for err == nil {
				_, err = server.ReadRequest(0)
			}
			wantCode(t, err, wire.BadDescriptors, "descriptors came")
			if now := len(openFDs(t)); now != before {
				t.Errorf("%d descriptors are open, before %d", now, before)
			}
		})
	}
}

// A socket that lingers makes whoever drops it wait. It is neither dropped by
// reading nor by refusing, only by closing, and that is a worker's.
func TestALingeringSocketHoldsNobodyUp(t *testing.T) {
	sameFDs(t)
	closer := wire.NewCloser()
	a, client := sockets(t)
	server := newConn(t, a, wire.Options{UID: 5, Closer: closer})
	sendLingering(t, client, `{"hello":{"version":1,"capabilities":[]}}`+"\n")
	_, err := server.Accept()
	wantCode(t, err, wire.BadDescriptors, "descriptors came")
	server.Refuse(err)
	server.End()
	closer.Later(5, func() { a.Close() })
	if err := closer.Wait(t.Context()); err != nil { // an hour without the nudge
		t.Error(err)
	}
}

func TestReceivedLingeringSocketIsClosedByAWorker(t *testing.T) {
	sameFDs(t)
	closer := wire.NewCloser()
	server, client := serverAndRaw(t, wire.Options{UID: 5, Closer: closer})
	sendLingering(t, client, "\x00")
	files, err := server.TakeFDs(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := files.CheckStdio(); err == nil || !strings.Contains(err.Error(), "socket") {
		t.Errorf("as stdin: %v", err)
	}
	files.Close()
	if err := closer.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

// sendLingering sends a TCP socket that has unsent data, an hour to linger and
// no other owner.
func sendLingering(t *testing.T, c *net.UnixConn, b string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().(*net.TCPAddr)
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: addr.Port, Addr: [4]byte(addr.IP.To4())}); err != nil {
		t.Fatal(err)
	}
	for err = nil; err == nil; {
		_, err = unix.SendmsgN(fd, make([]byte, 64<<10), nil, nil, unix.MSG_DONTWAIT)
	}
	if err := unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1, Linger: 3600}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.WriteMsgUnix([]byte(b), unix.UnixRights(fd), nil); err != nil {
		t.Fatal(err)
	}
	unix.Close(fd)
}

func sendRaw(t *testing.T, c *net.UnixConn, b string, n int) {
	t.Helper()
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var oob []byte
	if n > 0 {
		fds := make([]int, n)
		for i := range fds {
			fds[i] = int(f.Fd())
		}
		oob = unix.UnixRights(fds...)
	}
	if _, _, err := c.WriteMsgUnix([]byte(b), oob, nil); err != nil {
		t.Fatal(err)
	}
}

func pairOfConns(t *testing.T, o wire.Options) (server, client *wire.Conn) {
	a, b := sockets(t)
	server, client = newConn(t, a, o), newConn(t, b, wire.Options{})
	server.Greeted()
	client.Greeted()
	return server, client
}

func temp(t *testing.T) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func inode(t *testing.T, fd int) uint64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		t.Fatal(err)
	}
	return st.Ino
}
