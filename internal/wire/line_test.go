package wire_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"snens/internal/fields"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

func TestLinesOfEveryLengthAndCut(t *testing.T) {
	server, client := serverAndRaw(t, wire.Options{})
	var sent []string
	for _, n := range []int{0, 1, 4094, 4095, 4096, 4097, 10_000, 0, wire.MaxLine - 1, 5, wire.MaxLine - 1, 3} {
		sent = append(sent, strings.Repeat("x", n))
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		all := []byte(strings.Join(sent, "\n") + "\n")
		for cut := 1; len(all) > 0; cut = cut*3%7919 + 1 {
			n, err := client.Write(all[:min(cut, len(all))])
			if err != nil {
				t.Error(err)
				return
			}
			all = all[n:]
		}
		client.CloseWrite()
	})
	defer wg.Wait()
	for i, want := range sent {
		got, err := server.ReadLine()
		if err != nil || string(got) != want {
			t.Fatalf("line %d: %d bytes, %v, want %d", i, len(got), err, len(want))
		}
	}
	if _, err := server.ReadLine(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestTheEndWithinALine(t *testing.T) {
	server, client := serverAndRaw(t, wire.Options{})
	write(t, client, `{"id":1`)
	client.Close()
	if _, err := server.ReadRequest(0); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	if _, err := server.ReadRequest(0); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("later: %v", err)
	}
}

func TestALongLineEndsAtTheLimit(t *testing.T) {
	const gib = 1 << 30
	for name, greeted := range map[string]bool{"before the greeting": false, "after it": true} {
		t.Run(name, func(t *testing.T) {
			a, client := sockets(t)
			budget := wire.NewBudget(wire.BudgetPerUID, wire.BudgetTotal)
			server := newConn(t, a, wire.Options{UID: 7, Budget: budget})
			limit := wire.MaxLineGreeting
			if greeted {
				server.Greeted()
				limit = wire.MaxLine
			}
			written := make(chan int64, 1)
			go func() {
				n, _ := io.Copy(client, io.LimitReader(endless{}, gib)) // fails when the server hangs up
				written <- n
			}()
			var err error
			if greeted {
				_, err = server.ReadRequest(0)
			} else {
				_, err = server.Accept()
			}
			wantCode(t, err, wire.TooLarge, "longer than")
			if got := budget.InUse(7); got != 0 {
				t.Errorf("%d bytes are still held", got)
			}
			server.End()
			// What was read, and what fits into the socket's own buffer.
			if n := <-written; n < int64(limit) || n > 4<<20 {
				t.Errorf("the client got rid of %d bytes", n)
			}
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// Bytes that trickle in do not renew the time of the greeting or of a line.
func TestAByteASecondHoldsNothing(t *testing.T) {
	const hello = `{"hello":{"version":1,"capabilities":[]}}`
	for _, c := range []struct {
		name     string
		greeted  bool
		text     string
		settings int // of the deadline until the bytes are in
		limit    time.Duration
	}{
		{"greeting", false, hello, 2, time.Hour},
		{"request", true, `{"id":1,"method":"m","params":{"a":"0123456789"}}`, 2, 2 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, client := sockets(t)
			start := time.Now()
			server := newConn(t, a, wire.Options{Times: wire.Times{Hello: time.Hour, Line: 2 * time.Hour}})
			if c.greeted {
				server.Greeted()
			}
			var set []time.Time
			server.OnReadDeadline(func(at time.Time) time.Time { set = append(set, at); return at })
			// Each byte is read before the next one is sent; the last one is
			// replaced by the end of the time.
			result := make(chan error, 1)
			step := make(chan struct{})
			go func() {
				var err error
				if c.greeted {
					_, err = server.ReadRequest(0)
				} else {
					_, err = server.Accept()
				}
				result <- err
				close(step)
			}()
			for i := range c.text {
				write(t, client, c.text[i:i+1])
				eventually(t, "the byte is read", func() bool { return unread(t, client) == 0 })
			}
			if err := a.SetReadDeadline(time.Unix(1, 0)); err != nil { // the hour passes
				t.Fatal(err)
			}
			wantCode(t, <-result, wire.TooSlow, "took too long")
			<-step
			if len(set) != c.settings {
				t.Errorf("%d bytes set the deadline %d times, want %d", len(c.text), len(set), c.settings)
			}
			for _, at := range set {
				if !at.IsZero() && (at.Before(start.Add(c.limit)) || at.After(time.Now().Add(c.limit))) {
					t.Errorf("the deadline is %v after the start, want %v", at.Sub(start), c.limit)
				}
			}
		})
	}
}

func TestIdleTimeIsForTheFirstByteOnly(t *testing.T) {
	server, client := serverAndRaw(t, wire.Options{Times: wire.Times{Line: 5 * time.Hour}})
	var set []time.Duration
	server.OnReadDeadline(func(at time.Time) time.Time {
		set = append(set, time.Until(at).Round(time.Hour))
		return at
	})
	write(t, client, "{\"id\":1,\"method\":\"m\"}\n{\"id\":2,\"me")
	if _, err := server.ReadRequest(time.Hour); err != nil {
		t.Fatal(err)
	}
	write(t, client, "thod\":\"m\"}\n")
	if _, err := server.ReadRequest(time.Hour); err != nil {
		t.Fatal(err)
	}
	// The second line had begun before it was asked for.
	if len(set) != 3 || set[0] != time.Hour || set[1] != 5*time.Hour || set[2] != 5*time.Hour {
		t.Errorf("got %v", set)
	}
}

func TestASlowReaderIsLeft(t *testing.T) {
	server, _ := serverAndRaw(t, wire.Options{Times: wire.Times{Write: time.Millisecond}})
	big := fields.Object(fields.Member("a", fields.Text(strings.Repeat("x", 200<<10))))
	var err error
	for range 100 {
		if err = server.Reply(1, big); err != nil {
			break
		}
	}
	wantCode(t, err, wire.TooSlow, "reading our line")
	if again := server.Reply(1, fields.Object()); again != err {
		t.Errorf("after a line that was cut: %v", again)
	}
}

func TestEndWakesReaderAndWriter(t *testing.T) {
	server, _ := serverAndRaw(t, wire.Options{})
	results := make(chan error, 2)
	go func() {
		_, err := server.ReadRequest(0)
		results <- err
	}()
	go func() {
		big := fields.Object(fields.Member("a", fields.Text(strings.Repeat("x", 200<<10))))
		for {
			if err := server.Reply(1, big); err != nil {
				results <- err
				return
			}
		}
	}()
	server.End()
	for range 2 {
		if err := <-results; err == nil {
			t.Error("no error after the end")
		}
	}
	if err := server.Reply(1, fields.Object()); err == nil {
		t.Error("a reply after the end is no error")
	}
}

func TestBudgetBoundsAllConnections(t *testing.T) {
	budget := wire.NewBudget(64<<10, 100<<10)
	long := `{"id":1,"method":"m","params":{"a":"` + strings.Repeat("x", 30<<10)
	for i, c := range []struct {
		uid  uint32
		fits bool
	}{
		{1, true},  // 32 KiB of its 64
		{1, true},  // 64
		{1, false}, // it has 64 KiB, not 96
		{2, true},  // 96 of 100 in all
		{3, false}, // has used nothing, but all together have
		{0, true},  // beside the total
		{0, true},
		{0, false},
	} {
		server, client := serverAndRaw(t, wire.Options{UID: c.uid, Budget: budget})
		result := make(chan error, 1)
		go func() {
			_, err := server.ReadRequest(0)
			result <- err
		}()
		write(t, client, long)
		if c.fits {
			eventually(t, "the line is buffered", func() bool { return unread(t, client) == 0 })
			t.Cleanup(func() { server.End(); <-result })
			continue
		}
		err := <-result
		if wantCode(t, err, wire.Busy, "buffered"); t.Failed() {
			t.Fatalf("case %d", i)
		}
	}
}

func TestBudgetIsGivenBack(t *testing.T) {
	budget := wire.NewBudget(wire.BudgetPerUID, wire.BudgetTotal)
	server, client := serverAndRaw(t, wire.Options{UID: 9, Budget: budget})
	go client.Write([]byte(`{"id":1,"method":"m","params":{"a":"` + strings.Repeat("x", 200<<10) + "\"}}\n{\"id\":2,\"method\":\"m\"}\n"))
	for range 2 {
		if _, err := server.ReadRequest(0); err != nil {
			t.Fatal(err)
		}
	}
	if got := budget.InUse(9); got != server.BufferSize() {
		t.Errorf("%d bytes are held for a buffer of %d", got, server.BufferSize())
	}
	write(t, client, `{"id":3,"method":"m"}`+"\n")
	if _, err := server.ReadRequest(0); err != nil {
		t.Fatal(err)
	}
	if got := budget.InUse(9); got != 4<<10 || server.BufferSize() != 4<<10 {
		t.Errorf("%d bytes are held after a short line, in a buffer of %d", got, server.BufferSize())
	}
	server.End()
	if got := budget.InUse(9); got != 0 {
		t.Errorf("%d bytes are held after the end", got)
	}
	if _, err := server.ReadRequest(0); err == nil || budget.InUse(9) != 0 {
		t.Errorf("reading after the end: %v, %d bytes held", err, budget.InUse(9))
	}
}

func TestBudgetCoversAnswers(t *testing.T) {
	budget := wire.NewBudget(10<<10, 1<<20)
	server, client := serverAndRaw(t, wire.Options{UID: 9, Budget: budget})
	if err := server.Reply(1, strictjson.Value{Kind: strictjson.Object}); err != nil {
		t.Fatal(err)
	}
	err := server.Reply(1, fields.Object(fields.Member("a", fields.Text(strings.Repeat("x", 11<<10)))))
	wantCode(t, err, wire.Busy, "waiting to be read")
	if all, err := io.ReadAll(client); err != nil || !bytes.Equal(all, []byte("{\"id\":1,\"result\":{}}\n")) {
		t.Errorf("the client read %q, %v", all, err)
	}
	if got := budget.InUse(9); got != 0 {
		t.Errorf("%d bytes are held", got)
	}
}

// FuzzLines cuts any bytes anywhere: the lines are those that a split gives.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\n\nbc\r\nd"), uint8(1))
	f.Add(bytes.Repeat([]byte("x"), 5000), uint8(255))
	f.Fuzz(func(t *testing.T, data []byte, cut uint8) {
		data = data[:min(len(data), 100<<10)] // fits into a socket's buffer
		server, client := serverAndRaw(t, wire.Options{})
		for rest := data; len(rest) > 0; {
			n := min(len(rest), 1+int(cut)*16)
			write(t, client, string(rest[:n]))
			rest = rest[n:]
			if len(data)/n > 100 {
				cut = 255
			}
		}
		client.Close()
		lines := bytes.Split(data, []byte("\n"))
		for _, want := range lines[:len(lines)-1] {
			got, err := server.ReadLine()
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("got %q, %v, want %q", got, err, want)
			}
		}
		want := io.EOF
		if len(lines[len(lines)-1]) > 0 {
			want = io.ErrUnexpectedEOF
		}
		if _, err := server.ReadLine(); !errors.Is(err, want) {
			t.Fatalf("at the end: %v, want %v", err, want)
		}
	})
}
