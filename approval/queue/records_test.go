package queue_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"snens/approval/queue"
	"snens/broker/action"
	"snens/internal/audit"
)

// twice is an Audit that also writes to a real log.
type twice struct {
	*log
	real queue.Audit
}

func (a twice) Append(at time.Time, e audit.Entry) error {
	return errors.Join(a.real.Append(at, e), a.log.Append(at, e))
}

func (a twice) AppendSync(at time.Time, e audit.Entry) error {
	return errors.Join(a.real.AppendSync(at, e), a.log.AppendSync(at, e))
}

func (a twice) Reserve() (queue.Reservation, error) { return a.real.Reserve() }

// The real log takes every record that the queue makes.
func TestEveryRecordFitsTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		real, err := audit.Open(audit.Options{Dir: filepath.Join(dir, "log"), StateDir: filepath.Join(dir, "state")}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		defer real.Close()
		w := newWorld(t, queue.Limits{})
		w.closeOld(w.q)
		w.runner.run = untilStopped
		a := twice{w.log, queue.Log(real)}
		if w.q, err = queue.Open(context.Background(), queue.Options{
			Store: w.store, Audit: a, Policy: w.policy, Runner: w.runner, Problem: func(err error) { t.Error(err) },
		}); err != nil {
			t.Fatal(err)
		}
		cancelled, denied, killed := asks(plain(t, deploy, "cancelled")), asks(plain(t, deploy, "denied")), asks(plain(t, deploy, "killed"))
		stale, expired := asks(plain(t, deploy, "stale")), asks(plain(t, deploy, "expired", detached))
		for _, s := range []queue.Submission{cancelled, denied, killed, stale, expired} {
			w.submit(s)
		}
		if err := w.q.Cancel(cancelled.Peer, cancelled.ID); err != nil {
			t.Fatal(err)
		}
		_, err = w.says(denied, deploy, action.Approve)
		refused(t, err, action.ReasonSelfApproval)
		if _, err := w.says(denied, ann, action.Deny); err != nil {
			t.Fatal(err)
		}
		w.approve(killed)
		synctest.Wait()
		if err := w.q.Kill(peer(ann, ops), killed.ID, action.Seen{PID: 5}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.policy.changed = &queue.Change{Reason: action.ReasonStaleFile, NewDigest: action.DigestOf("new"), Detail: "/bin/true"}
		w.approve(stale)
		pass(ttl)
		synctest.Wait()
		w.policy.changed = nil
		w.runner.run = func(context.Context, func(uint32)) queue.Ending {
			return queue.Ending{Reason: action.ReasonCommandMissing, Detail: "/bin/true"}
		}
		missing := queue.Submission{ID: queue.NewID(), Peer: peer(deploy), Request: plain(t, deploy, "a"), Allowed: true}
		w.ends(w.submit(missing), action.FailedToStart, action.ReasonCommandMissing)
		w.close()

		head := real.Head()
		if _, err := audit.Verify(filepath.Join(dir, "log"), &head); err != nil {
			t.Error(err)
		}
		have := recorded(t, dir, audit.Expired)[expired.ID]
		if have != 1 || !slices.Contains(w.log.kinds(denied.ID), audit.VoteRefused) || !slices.Contains(w.log.kinds(killed.ID), audit.Kill) {
			t.Errorf("%v", w.log.entries)
		}
	})
}
