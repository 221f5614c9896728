package sockets_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"snens/internal/fields"
	"snens/internal/peer"
	"snens/internal/sockets"
	"snens/internal/testneed"
	"snens/internal/wire"
)

// tiny is a server of one method, as small as one gets: whoami.
type tiny struct {
	sockets.Server
	gate    *sockets.Gate
	closer  *wire.Closer
	budget  *wire.Budget
	refused atomic.Int64
	stop    func() error // ends Serve, waits for it and for the closer
}

func serve(t *testing.T, l *net.UnixListener, limits sockets.Limits) *tiny {
	t.Helper()
	s := &tiny{
		gate:   sockets.NewGate(limits),
		closer: wire.NewCloser(),
		budget: wire.NewBudget(wire.BudgetPerUID, wire.BudgetTotal),
	}
	s.Server = sockets.Server{
		Gate: s.gate, Closer: s.closer, Handle: s.handle,
		Refusal: func(error) []byte { return []byte("busy\n") },
		Refused: func(peer.UID, bool, error) { s.refused.Add(1) },
	}
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- s.Serve(ctx, l) }()
	s.stop = sync.OnceValue(func() error {
		cancel()
		return errors.Join(<-result, s.closer.Wait(context.Background()))
	})
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *tiny) handle(ctx context.Context, uc *net.UnixConn, p *peer.Peer) {
	c, err := wire.New(uc, wire.Options{UID: uint32(p.UID), Budget: s.budget, Closer: s.closer, Times: wire.Times{Hello: time.Hour}})
	if err != nil {
		return
	}
	defer c.End()
	defer context.AfterFunc(ctx, c.End)()
	if _, err := c.Accept(); err != nil {
		c.Refuse(err)
		return
	}
	for {
		q, err := c.ReadRequest(0)
		if err != nil {
			c.Refuse(err)
			return
		}
		if c.Reply(q.ID, fields.Object(fields.Member("uid", fields.Uint(uint32(p.UID))))) != nil {
			return
		}
	}
}

// ask asks a tiny server who we are.
func ask(path string) (uint64, error) {
	uc, err := connect(path)
	if err != nil {
		return 0, err
	}
	defer uc.Close()
	c, err := wire.New(uc, wire.Options{})
	if err != nil {
		return 0, err
	}
	if _, err := c.Hello(); err != nil {
		return 0, err
	}
	if err := c.Send(wire.Request{ID: 1, Method: "whoami", Params: fields.Object()}); err != nil {
		return 0, err
	}
	r, err := c.ReadReply(0)
	if err != nil {
		return 0, err
	}
	f := r.Fields()
	uid := f.Field("uid").Uint(1<<32 - 1)
	return uid, f.Close()
}

// connect waits where the queue of the listener is full, which Go's own dialing
// does not.
func connect(path string) (*net.UnixConn, error) {
	for {
		c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
		if !errors.Is(err, unix.EAGAIN) {
			return c, err
		}
		runtime.Gosched()
	}
}

// wantAsk asks, and wants to be told uid.
func wantAsk(t *testing.T, path string, uid int) {
	t.Helper()
	if got, err := ask(path); err != nil || got != uint64(uid) {
		t.Errorf("asked who we are: %d, %v, want %d", got, err, uid)
	}
}

func eventually(t *testing.T, what string, have func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !have(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("still not: %s", what)
		}
	}
}

func ownSocket(t *testing.T) *sockets.Socket {
	t.Helper()
	l, err := sockets.Listen(folder(t)+"/s", own(0o666))
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

// 10,000 connections that never finish their greeting: most are told that it
// is too much, others are served meanwhile, and nothing stays.
func TestTenThousandHalfOpenConnections(t *testing.T) {
	testneed.Root(t)
	const times = 10_000
	l := ownSocket(t)
	s := serve(t, l.UnixListener, sockets.DefaultLimits())
	wantAsk(t, l.Path(), 0)
	eventually(t, "the first one has left", func() bool { return s.gate.Count(0) == 0 })
	before := openFDs(t)
	most := atomic.Int64{}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				most.Store(max(most.Load(), int64(openFDs(t))))
				wantAsk(t, l.Path(), 0)
			}
		}
	})
	_, end := start(t, job{Do: "crowd", Path: l.Path(), UID: 1234, Times: times, Say: `{"hello":`})
	close(done)
	wg.Wait()
	eventually(t, "all but sixteen are refused", func() bool { return s.refused.Load() >= times-16 })
	if n := s.gate.Count(1234); n > 16 {
		t.Errorf("%d connections of one uid", n)
	}
	if got := s.budget.InUse(1234); got > 16*4<<10 {
		t.Errorf("%d bytes are buffered", got)
	}
	// Those of the crowd with their handles, ours, and the few in between.
	if m := int(most.Load()); m > before+2*16+sockets.MaxUnclean+20 {
		t.Errorf("%d descriptors at the most, %d before", m, before)
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	if mem.HeapInuse > 64<<20 {
		t.Errorf("%d bytes of heap", mem.HeapInuse)
	}
	end()
	eventually(t, "the crowd has left", func() bool { return s.gate.Count(1234) == 0 })
	eventually(t, "the descriptors are back", func() bool { return openFDs(t) <= before })
}

func TestServesSeveralUsers(t *testing.T) {
	testneed.Root(t)
	l := ownSocket(t)
	s := serve(t, l.UnixListener, sockets.Limits{PerUID: 2, Total: 3})
	var ends []func()
	for _, c := range []struct{ uid, times, have, refused int }{
		{1234, 3, 2, 1},
		{1235, 2, 1, 2}, // one of them was the total's last
	} {
		_, end := start(t, job{Do: "crowd", Path: l.Path(), UID: c.uid, Times: c.times})
		ends = append(ends, end)
		eventually(t, "all are accepted or refused", func() bool {
			return s.gate.Count(uint32(c.uid)) == c.have && s.refused.Load() == int64(c.refused)
		})
	}
	wantAsk(t, l.Path(), 0) // root has places of its own
	ends[0]()
	eventually(t, "the places are free", func() bool { return s.gate.Count(1234) == 0 })
	start(t, job{Do: "crowd", Path: l.Path(), UID: 1235, Times: 1})
	eventually(t, "one of them is taken", func() bool { return s.gate.Count(1235) == 2 })
}

func TestTheRefusedAreTold(t *testing.T) {
	l := ownSocket(t)
	serve(t, l.UnixListener, sockets.Limits{})
	c := dial(t, l.Path())
	_, _ = c.Write([]byte("unread")) // may come too late
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil || line != "busy\n" {
		t.Errorf("told %q, %v", line, err)
	}
}

// Refusing a connection that has a lingering socket in its queue holds up
// neither the next one nor, for an hour, its worker.
func TestARefusedConnectionHoldsNobodyUp(t *testing.T) {
	path := folder(t) + "/s"
	// A listener without our options, as on older kernels.
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	must(t, err)
	t.Cleanup(func() { l.Close() })
	before := openFDs(t) + 3 // the far ends stay open
	for range 3 {
		c := dial(t, path)
		sendLingering(t, c)
		must(t, c.Close())
	}
	s := serve(t, l, sockets.Limits{})
	c := dial(t, path)
	must(t, c.SetReadDeadline(time.Now().Add(30*time.Second)))
	if said, err := io.ReadAll(c); string(said) != "busy\n" {
		t.Errorf("the next one heard %q, %v", said, err)
	}
	c.Close()
	must(t, s.closer.Wait(t.Context()))
	eventually(t, "the descriptors are back", func() bool { return openFDs(t) <= before })
	must(t, s.stop())
	if s.refused.Load() != 4 {
		t.Errorf("%d were refused", s.refused.Load())
	}
}

// sendLingering sends a TCP socket with unsent data and an hour to linger, whose
// last owner is then the queue of the receiver.
func sendLingering(t *testing.T, c *net.UnixConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	tcp, err := net.Dial("tcp", l.Addr().String())
	must(t, err)
	defer tcp.Close()
	far, err := l.Accept()
	must(t, err)
	t.Cleanup(func() { far.Close() })
	f, err := tcp.(*net.TCPConn).File()
	must(t, err)
	fd := int(f.Fd())
	for err = nil; err == nil; {
		_, err = unix.SendmsgN(fd, make([]byte, 64<<10), nil, nil, unix.MSG_DONTWAIT)
	}
	_, _, err = c.WriteMsgUnix([]byte("x"), unix.UnixRights(fd), nil)
	must(t, err)
	must(t, tcp.Close())
	must(t, unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1, Linger: 3600}))
	must(t, f.Close())
}

func TestDescriptorsCannotBeSentUnasked(t *testing.T) {
	l := ownSocket(t)
	serve(t, l.UnixListener, sockets.DefaultLimits())
	probe, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	defer unix.Close(probe)
	_, err = unix.GetsockoptInt(probe, unix.SOL_SOCKET, unix.SO_PASSRIGHTS)
	testneed.Kernel(t, err == nil, "SO_PASSRIGHTS (6.16)")
	c := dial(t, l.Path())
	_, _, err = c.WriteMsgUnix([]byte("{"), unix.UnixRights(1), nil)
	if !errors.Is(err, unix.EPERM) {
		t.Errorf("sending a descriptor: %v", err)
	}
}

func TestServeWaitsForItsHandlers(t *testing.T) {
	l := ownSocket(t)
	inside, ended := make(chan struct{}), atomic.Bool{}
	s := sockets.Server{Gate: sockets.NewGate(sockets.DefaultLimits()), Closer: wire.NewCloser()}
	s.Handle = func(ctx context.Context, _ *net.UnixConn, _ *peer.Peer) {
		close(inside)
		<-ctx.Done()
		ended.Store(true)
	}
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- s.Serve(ctx, l.UnixListener) }()
	dial(t, l.Path())
	<-inside
	cancel()
	if err := <-result; err != nil || !ended.Load() {
		t.Errorf("ended with %v, the handler %t", err, ended.Load())
	}
}

func TestServeGoesOnWithoutDescriptors(t *testing.T) {
	l := ownSocket(t)
	serve(t, l.UnixListener, sockets.DefaultLimits())
	client, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	f := os.NewFile(uintptr(client), "client")
	defer f.Close()
	var limit unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	low := limit
	low.Cur = uint64(client) + 20
	must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &low))
	var taken []int
	for {
		fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			break
		}
		taken = append(taken, fd)
	}
	cerr := unix.Connect(client, &unix.SockaddrUnix{Name: l.Path()})
	for range 1000 {
		runtime.Gosched() // the server meets the want, now or never
	}
	for _, fd := range taken {
		unix.Close(fd)
	}
	must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	must(t, cerr)
	wantAsk(t, l.Path(), os.Geteuid())
}

func TestServeSaysWhyItEnds(t *testing.T) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: folder(t) + "/s", Net: "unix"})
	must(t, err)
	s := sockets.Server{Gate: sockets.NewGate(sockets.DefaultLimits()), Closer: wire.NewCloser()}
	result := make(chan error, 1)
	go func() { result <- s.Serve(t.Context(), l) }()
	must(t, l.Close()) // before or within the accept
	if err := <-result; !errors.Is(err, net.ErrClosed) || !strings.Contains(err.Error(), "cannot accept") {
		t.Errorf("got %v", err)
	}
}
