package session_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"snens/session"
	"snens/supervisor/call"
)

// With SESSION_TEST_MODE the test binary is another process that uses the
// folder of calls SESSION_TEST_ROOT:
//
//	hold   makes calls, prints their ids and "ready", closes them when stdin ends
//	scan   waits for a line, prints every leftover it is handed
//	churn  makes and closes calls until it is killed, "ready" after each 10
func TestMain(m *testing.M) {
	mode := os.Getenv("SESSION_TEST_MODE")
	if mode == "" {
		os.Exit(m.Run())
	}
	c, err := session.OpenCalls(os.Getenv("SESSION_TEST_ROOT"))
	if err == nil {
		err = map[string]func(*session.Calls) error{"hold": hold, "scan": scanOnce, "churn": churn}[mode](c)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, mode+":", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func hold(c *session.Calls) error {
	n, err := strconv.Atoi(os.Getenv("SESSION_TEST_CALLS"))
	if err != nil {
		return err
	}
	var folders []*session.Folder
	for range n {
		f, err := c.New(session.NewCallID(), session.Meta{Tool: "hold"})
		if err != nil {
			return err
		}
		if err := f.Record(json.RawMessage(strconv.Quote("identity of " + string(f.ID)))); err != nil {
			return err
		}
		fmt.Println(f.ID)
		folders = append(folders, f)
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	for _, f := range folders {
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

func scanOnce(c *session.Calls) error {
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	return c.Leftovers(func(l session.Leftover) error {
		fmt.Printf("%s %s\n", l.ID, l.Identity)
		return nil
	})
}

func churn(c *session.Calls) error {
	for i := 1; ; i++ {
		f, err := c.New(session.NewCallID(), session.Meta{})
		if err == nil {
			err = f.Record(json.RawMessage(`1`))
		}
		if err == nil {
			_, err = f.TempFile("x", []byte("x"))
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			return err
		}
		if i%10 == 0 {
			fmt.Println("ready")
		}
	}
}

// process is one such process.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(t *testing.T, mode, state string, calls int) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), "SESSION_TEST_MODE="+mode, "SESSION_TEST_ROOT="+state+"/calls", "SESSION_TEST_CALLS="+strconv.Itoa(calls))
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	must(t, err)
	out, err := p.cmd.StdoutPipe()
	must(t, err)
	p.in, p.out = in, bufio.NewReader(out)
	must(t, p.cmd.Start())
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	return p
}

// lines reads until "ready" or the end.
func (p *process) lines(t *testing.T) []string {
	t.Helper()
	var out []string
	for {
		line, err := p.out.ReadString('\n')
		if err == io.EOF || line == "ready\n" {
			return out
		}
		must(t, err)
		out = append(out, strings.TrimSuffix(line, "\n"))
	}
}

func (p *process) kill(t *testing.T) {
	t.Helper()
	must(t, p.cmd.Process.Kill())
	_ = p.cmd.Wait()
}

// Supervisors die in mid-call while others run: of several processes that look
// at once each dead call reaches exactly one, and no live one reaches any.
func TestKilledCallsAreFoundExactlyOnce(t *testing.T) {
	_, state := openCalls(t)
	var dying, living []*process
	var want []string
	for i := range 6 {
		p := start(t, "hold", state, 5)
		ids := p.lines(t)
		if len(ids) != 5 {
			t.Fatalf("a holder made %v", ids)
		}
		if i%2 == 0 {
			dying = append(dying, p)
			for _, id := range ids {
				want = append(want, fmt.Sprintf("%s %q", id, "identity of "+id))
			}
		} else {
			living = append(living, p)
		}
	}
	var scanners []*process
	for range 6 {
		scanners = append(scanners, start(t, "scan", state, 0))
	}
	for _, p := range dying {
		p.kill(t)
	}
	for _, s := range scanners {
		_, err := s.in.Write([]byte("go\n"))
		must(t, err)
	}
	var got []string
	for _, s := range scanners {
		got = append(got, s.lines(t)...)
		must(t, s.cmd.Wait())
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("handed over:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if left := inUse(t, state+"/calls"); len(left) != 15 {
		t.Errorf("%d folders are left, want those of the living: %v", len(left), left)
	}
	for _, p := range living {
		must(t, p.in.Close())
		must(t, p.cmd.Wait())
	}
	if left := inUse(t, state+"/calls"); left != nil {
		t.Errorf("left at the end: %v", left)
	}
}

// A supervisor killed anywhere in making or removing a folder leaves at most
// that one call, and nothing that stops others.
func TestKilledInBetween(t *testing.T) {
	c, state := openCalls(t)
	for range 15 {
		p := start(t, "churn", state, 0)
		p.lines(t)
		p.kill(t)
		if got := scan(t, c); len(got) > 1 {
			t.Errorf("one killed process left %v", got)
		}
	}
	for _, name := range inUse(t, state+"/calls") {
		if !strings.HasPrefix(name, ".new-") { // too young to be cleared
			t.Errorf("left: %s", name)
		}
	}
}

// 200 calls at once, each looking for leftovers at its start as snens does,
// with one real leftover among them.
func TestParallelCallsNeverTakeEachOther(t *testing.T) {
	c, state := openCalls(t)
	lost := dead(t, c, `1`)
	var mu sync.Mutex
	var found []call.ID
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			err := c.Leftovers(func(l session.Leftover) error {
				mu.Lock()
				defer mu.Unlock()
				found = append(found, l.ID)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			f, err := c.New(session.NewCallID(), session.Meta{})
			if err != nil {
				t.Error(err)
				return
			}
			if err := f.Record(json.RawMessage(`2`)); err != nil {
				t.Error(err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if !slices.Equal(found, []call.ID{lost}) {
		t.Errorf("handed over: %v, want only %s", found, lost)
	}
	if left := inUse(t, state+"/calls"); left != nil {
		t.Errorf("left: %v", left)
	}
}

func BenchmarkFolder(b *testing.B) {
	c, _ := openCalls(b)
	for b.Loop() {
		f, err := c.New(session.NewCallID(), session.Meta{Tool: "true"})
		must(b, err)
		must(b, f.Record(json.RawMessage(`{"pid":1}`)))
		must(b, f.Close())
	}
}
