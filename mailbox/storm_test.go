package mailbox_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"snens/mailbox"
)

// The storm: 50 senders with 200 messages each, at most so many at once, and
// receivers beside them; all are killed at random times and started again.
const (
	senders   = 50
	each      = 200
	atOnce    = 6
	receivers = 4
)

// note appends one line to the log that all processes share; the kernel keeps
// the lines whole and in one order.
func note(f *os.File, word string, id mailbox.ID) {
	if _, err := fmt.Fprintf(f, "%s %s %s\n", os.Getenv("MAILBOX_RUN"), word, id); err != nil {
		panic(err)
	}
}

func sharedLog(dir string) *os.File {
	f, err := os.OpenFile(filepath.Join(filepath.Dir(dir), "log"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		panic(err)
	}
	return f
}

// doom kills this process at a random time, unless it is one that shall live.
func doom() {
	if os.Getenv("MAILBOX_LIVES") == "" {
		time.AfterFunc(time.Duration(20+rand.IntN(600))*time.Millisecond, die)
	}
}

func playSender(b *mailbox.Box) int {
	doom()
	log := sharedLog(os.Getenv("MAILBOX_DIR"))
	count, err := strconv.Atoi(os.Getenv("MAILBOX_COUNT"))
	for i := 0; i < count && err == nil; i++ {
		var id mailbox.ID
		if id, err = b.Send(text("x")); err == nil {
			note(log, "sent", id)
		}
	}
	return report(err)
}

// playReceiver has up to five messages in hand, so that death finds it with some.
func playReceiver(b *mailbox.Box) int {
	doom()
	log := sharedLog(os.Getenv("MAILBOX_DIR"))
	for {
		var hand []*mailbox.Claim
		c, err := b.Wait(context.Background(), 200*time.Millisecond, 0)
		for err == nil {
			note(log, "took", c.Message.ID)
			if hand = append(hand, c); len(hand) == 5 {
				break
			}
			c, err = b.Receive(0)
		}
		if err != nil && !errors.Is(err, mailbox.ErrEmpty) {
			return report(err)
		}
		for _, c := range hand {
			note(log, "done", c.Message.ID)
			if err := c.Ack(); err != nil {
				return report(err)
			}
		}
		if hand == nil {
			return 0
		}
	}
}

// storm counts runs and what they left in the log.
type storm struct {
	t    *testing.T
	dir  string
	mu   sync.Mutex
	runs int
	dead map[int]bool // runs that were killed
}

// run plays a part once and says which run it was and whether it was killed.
func (s *storm) run(part string, env ...string) (int, bool) {
	s.mu.Lock()
	s.runs++
	run := s.runs
	s.mu.Unlock()
	err := player(s.t, s.dir, part, append(env, "MAILBOX_RUN="+strconv.Itoa(run))...).Run()
	var exit *exec.ExitError
	dead := errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
	if err != nil && !dead {
		s.t.Errorf("%s: %v", part, err)
	}
	s.mu.Lock()
	s.dead[run] = dead
	s.mu.Unlock()
	return run, dead
}

// sentBy counts the acknowledged messages of one run.
func (s *storm) sentBy(run int) int {
	data, err := os.ReadFile(filepath.Join(filepath.Dir(s.dir), "log"))
	if err != nil {
		return 0
	}
	return strings.Count("\n"+string(data), fmt.Sprintf("\n%d sent ", run))
}

// memory is a folder in memory, where there is one: what a killed process leaves
// does not depend on the disk, and 20,000 syncs of a busy one take minutes.
func memory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "snens-mailbox-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	return dir
}

func TestStorm(t *testing.T) {
	dir := filepath.Join(memory(t), "mail")
	must(t, mailbox.Create(dir))
	s := &storm{t: t, dir: dir, dead: map[int]bool{}}
	var sending, receiving sync.WaitGroup
	slots := make(chan bool, atOnce)
	for range senders {
		sending.Go(func() {
			slots <- true
			defer func() { <-slots }()
			for left := each; left > 0 && !t.Failed(); {
				run, _ := s.run("send-storm", "MAILBOX_COUNT="+strconv.Itoa(left))
				left -= s.sentBy(run)
			}
		})
	}
	over := make(chan bool)
	for range receivers {
		receiving.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					s.run("receive-storm")
				}
			}
		})
	}
	sending.Wait()
	close(over)
	receiving.Wait()
	s.run("receive-storm", "MAILBOX_LIVES=1")
	s.judge()
	if left := append(files(t, dir, "new"), files(t, dir, "cur")...); len(left) != 0 {
		t.Errorf("%d messages are left: %q", len(left), left)
	}
	if dead := files(t, dir, "dead"); len(dead) != 0 {
		t.Errorf("dead: %q", dead)
	}
}

// judge reads the log: everything acknowledged was taken and done with, and
// nobody took what another one had, unless that one was killed and did nothing
// any more.
func (s *storm) judge() {
	data, err := os.ReadFile(filepath.Join(filepath.Dir(s.dir), "log"))
	must(s.t, err)
	sent, done := map[string]bool{}, map[string]bool{}
	holder, last := map[string]int{}, map[int]int{}
	type handover struct{ from, line int }
	var handed []handover
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		f := strings.Fields(line)
		run, err := strconv.Atoi(f[0])
		must(s.t, err)
		id := f[2]
		last[run] = i
		switch f[1] {
		case "sent":
			sent[id] = true
		case "took":
			if from, ok := holder[id]; ok {
				handed = append(handed, handover{from, i})
			}
			holder[id] = run
		case "done":
			done[id] = true
		}
	}
	for _, h := range handed {
		if !s.dead[h.from] || last[h.from] > h.line {
			s.t.Errorf("line %d: a message was taken from run %d, which had it", h.line, h.from)
		}
	}
	lost, kills := 0, 0
	for id := range sent {
		if !done[id] {
			lost++
		}
	}
	for _, dead := range s.dead {
		if dead {
			kills++
		}
	}
	if lost > 0 || len(sent) < senders*each {
		s.t.Errorf("%d acknowledged, %d of them lost", len(sent), lost)
	}
	if kills < 10 || len(handed) == 0 {
		s.t.Errorf("only %d of %d runs were killed, %d messages handed over: nothing was proven", kills, s.runs, len(handed))
	}
	s.t.Logf("%d acknowledged, %d handed over after a kill, %d of %d runs killed", len(sent), len(handed), kills, s.runs)
}
