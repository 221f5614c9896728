package queue_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"snens/approval/prompt"
	"snens/approval/queue"
	"snens/approval/store"
	"snens/broker/action"
	"snens/internal/audit"
)

// With QUEUE_TEST_DIR the test binary is a broker that works on the files there
// and kills itself at step QUEUE_TEST_KILL. Every write is two steps: before it
// and after it.
func TestMain(m *testing.M) {
	dir := os.Getenv("QUEUE_TEST_DIR")
	if dir == "" {
		os.Exit(m.Run())
	}
	at, _ := strconv.Atoi(os.Getenv("QUEUE_TEST_KILL"))
	if err := broker(dir, int64(at)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// dying counts steps and dies at one of them; at 0 it never does.
type dying struct {
	at, now atomic.Int64
	queue.Store
	queue.Audit
	file string // gets a line for each run
}

func (d *dying) step() {
	if d.now.Add(1) == d.at.Load() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // no instruction of ours comes after it
	}
}

func (d *dying) around(write func() error) error {
	d.step()
	defer d.step()
	return write()
}

func (d *dying) Save(r *store.Record, durable bool) error {
	return d.around(func() error { return d.Store.Save(r, durable) })
}

func (d *dying) Remove(id action.RequestID) error {
	return d.around(func() error { return d.Store.Remove(id) })
}

func (d *dying) Append(at time.Time, e audit.Entry) error {
	return d.around(func() error { return d.Audit.Append(at, e) })
}

func (d *dying) AppendSync(at time.Time, e audit.Entry) error {
	return d.around(func() error { return d.Audit.AppendSync(at, e) })
}

func (d *dying) Reserve() (queue.Reservation, error) {
	r, err := d.Audit.Reserve()
	return &dyingSpace{d, r}, err
}

type dyingSpace struct {
	d *dying
	queue.Reservation
}

func (s *dyingSpace) Append(at time.Time, e audit.Entry) error {
	return s.d.around(func() error { return s.Reservation.Append(at, e) })
}

func (d *dying) Run(_ context.Context, id action.RequestID, _ *action.Sealed, started func(uint32)) queue.Ending {
	d.step()
	if err := note(d.file, id); err != nil {
		return queue.Ending{Reason: action.ReasonCannotStart}
	}
	d.step()
	started(77)
	d.step()
	return queue.Ending{Reason: action.ReasonExited}
}

func (d *dying) Clear(context.Context, action.RequestID) error { return nil }

// note adds a line to a file.
func note(path string, words ...any) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintln(f, words...)
	return err
}

// brokerAt is a queue on the files in dir.
func brokerAt(dir string, at int64, problem func(error)) (q *queue.Queue, closeFiles func(), err error) {
	w, err := audit.Open(audit.Options{Dir: filepath.Join(dir, "log"), StateDir: filepath.Join(dir, "state")}, time.Now())
	if err != nil {
		return nil, nil, err
	}
	s, err := store.Open(filepath.Join(dir, "requests"))
	if err != nil {
		return nil, nil, err
	}
	d := &dying{Store: s, Audit: queue.Log(w), file: filepath.Join(dir, "runs")}
	d.at.Store(at)
	q, err = queue.Open(context.Background(), queue.Options{Store: d, Audit: d, Policy: &policy{}, Runner: d, Problem: problem})
	return q, func() { _ = s.Close(); _ = w.Close() }, err
}

// What the broker that dies is asked: one request for each way that one can go.
var (
	detachedYes, detachedNo = action.RequestID{1}, action.RequestID{2}
	detachedAllowed         = action.RequestID{3}
	waitingYes, stays       = action.RequestID{4}, action.RequestID{5}
)

// broker goes through the lives of a few requests and says what it was told.
func broker(dir string, at int64) error {
	q, closeFiles, err := brokerAt(dir, at, func(err error) { fmt.Fprintln(os.Stderr, err) })
	if err != nil {
		return err
	}
	said := filepath.Join(dir, "said")
	t := new(testing.B) // plain needs something that can fail
	for _, id := range []action.RequestID{detachedYes, detachedNo, detachedAllowed, waitingYes, stays} {
		s := asks(plain(t, deploy, id.String(), detached))
		if id == waitingYes {
			s = asks(plain(t, deploy, id.String()))
		}
		s.ID, s.Allowed = id, id == detachedAllowed
		ticket, err := q.Submit(s)
		if err != nil {
			return err
		}
		if err := note(said, "submitted", id); err != nil {
			return err
		}
		d := action.Approve
		switch id {
		case stays:
			continue
		case detachedNo:
			d = action.Deny
		}
		if !s.Allowed {
			state, err := q.Answer(id, ballot(s.Request, peer(ann, ops), d), action.Seen{})
			if err != nil {
				return err
			}
			if err := note(said, state, id); err != nil {
				return err
			}
		}
		r, err := ticket.Wait(context.Background())
		if err != nil {
			return err
		}
		if err := note(said, "ended", id, r.State); err != nil {
			return err
		}
	}
	if err := q.Close(context.Background()); err != nil {
		return err
	}
	closeFiles()
	return nil
}

// Killed at every step of its work, and started again: nothing runs twice,
// nothing that was refused runs, nothing acknowledged is forgotten.
func TestKilledAtEveryStep(t *testing.T) {
	for step := 1; ; step++ {
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "QUEUE_TEST_DIR="+dir, fmt.Sprint("QUEUE_TEST_KILL=", step))
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		if err != nil && !strings.Contains(err.Error(), "killed") || out.Len() > 0 {
			t.Fatalf("step %d: %v %s", step, err, out.String())
		}
		afterwards(t, step, dir)
		if err == nil {
			if step < 50 {
				t.Errorf("only %d steps", step)
			}
			return
		}
	}
}

// afterwards starts the broker again, twice, and has everything approved that can be.
func afterwards(t *testing.T, step int, dir string) {
	t.Helper()
	said, before := lines(t, filepath.Join(dir, "said")), lines(t, filepath.Join(dir, "runs"))
	q, closeFiles, err := brokerAt(dir, 0, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	waiting := q.Pending(peer(bob, ops))
	for _, p := range waiting {
		if _, err := q.Answer(p.ID, ballot(p.Request, peer(bob, ops), action.Approve), action.Seen{}); err != nil {
			t.Errorf("step %d: %v", step, err)
		}
	}
	results := map[action.RequestID]action.Result{}
	for _, r := range q.Mine(peer(deploy)) {
		if results[r.ID], err = q.Wait(context.Background(), peer(deploy), r.ID); err != nil {
			t.Errorf("step %d: %v", step, err)
		}
	}
	again(t, dir, func() {
		if err := q.Close(context.Background()); err != nil {
			t.Error(err)
		}
		closeFiles()
	})
	runs := lines(t, filepath.Join(dir, "runs"))
	spent := recorded(t, dir, audit.Spent)
	for _, id := range []action.RequestID{detachedYes, detachedNo, detachedAllowed, waitingYes, stays} {
		name := id.String()
		ran := count(runs, name)
		wasWaiting := slices.ContainsFunc(waiting, func(p prompt.Pending) bool { return p.ID == id })
		r, known := results[id]
		switch {
		case ran > 1 || spent[id] < ran:
			t.Errorf("step %d: %s ran %d times, with %d records", step, name, ran, spent[id])
		case id != waitingYes && slices.Contains(said, "submitted "+name) && !known:
			t.Errorf("step %d: %s is forgotten", step, name)
		case slices.Contains(said, "denied "+name) && (ran > 0 || wasWaiting):
			t.Errorf("step %d: %s was denied, and ran %d times", step, name, ran)
		case id == waitingYes && (wasWaiting || count(runs, name) != count(before, name)):
			t.Errorf("step %d: %s was taken up though its requester is gone", step, name)
		case count(before, name) == 1 && (wasWaiting || known && r.State != action.Lost && r.State != action.Exited):
			t.Errorf("step %d: %s ran before and is %+v", step, name, r)
		case slices.Contains(said, "ended "+name+" "+action.Exited.String()) && known && r.State != action.Exited:
			t.Errorf("step %d: %s had exited, and is %s", step, name, r.State)
		}
	}
}

// again closes a broker and starts it once more: nothing runs then.
func again(t *testing.T, dir string, stop func()) {
	t.Helper()
	stop()
	before := lines(t, filepath.Join(dir, "runs"))
	q, closeFiles, err := brokerAt(dir, 0, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Close(context.Background()); err != nil {
		t.Error(err)
	}
	closeFiles()
	same(t, lines(t, filepath.Join(dir, "runs")), before)
}

// recorded verifies the log and counts the records of a kind.
func recorded(t *testing.T, dir string, kind audit.Kind) map[action.RequestID]int {
	t.Helper()
	head, err := audit.ReadHead(filepath.Join(dir, "state"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := audit.Verify(filepath.Join(dir, "log"), &head); err != nil {
		t.Fatal(err)
	}
	segments, err := audit.Segments(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	n := map[action.RequestID]int{}
	for _, s := range segments {
		for _, line := range lines(t, filepath.Join(dir, "log", s.Name)) {
			r, err := audit.ParseRecord([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			if r.Kind == kind {
				n[r.ID]++
			}
		}
	}
	return n
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' })
}

func count(all []string, line string) (n int) {
	for _, l := range all {
		if l == line {
			n++
		}
	}
	return n
}
