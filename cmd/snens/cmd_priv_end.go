package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"snens/broker/action"
	"snens/broker/client"
	"snens/internal/escape"
)

// privEnd is what becomes of a request.
type privEnd struct {
	asked    string // in the caller's words
	rule     action.RuleID
	pending  client.Pending // zero when nobody was asked
	result   action.Result
	has      bool // result is there
	detached bool
	status   *os.File // of --status-fd; nil without
}

// privRecord is how a request ended, for programs: the result of --json and the
// line of --status-fd. What is not known is null.
type privRecord struct {
	ID       *string `json:"id"`
	Rule     *string `json:"rule"`
	State    *string `json:"state"`
	Reason   *string `json:"reason"`
	ExitCode *int    `json:"exit_code"` // the command's own
	Signal   *int    `json:"signal"`    // that ended the command by itself
	Started  *string `json:"started"`
	Ended    *string `json:"ended"`
	Ours     bool    `json:"ours"` // exit is the broker's or snens', not the command's
	Exit     int     `json:"exit"` // the exit status of snens
	Message  *string `json:"message"`
}

// finishPriv tells how it ended, by every way that was asked for, and returns
// what has the exit status. err is the error of asking.
func (a *app) finishPriv(end *privEnd, err error) error {
	record, failed := end.conclude(err)
	if end.status != nil {
		if line, err := json.Marshal(record); err == nil {
			_, _ = end.status.Write(append(tameJSON(line), '\n'))
		}
	}
	switch {
	case a.json:
		if err := a.printJSON(record); err != nil {
			return fail(action.ExitInternal, err)
		}
	case end.has && end.detached:
		fmt.Fprintln(a.out, end.result.ID)
	}
	if failed != nil {
		return failed
	}
	if record.Exit != 0 {
		return &failure{status: record.Exit}
	}
	return nil
}

// conclude puts the end into a record, and into words where it is not the
// command's own.
func (end *privEnd) conclude(err error) (privRecord, *failure) {
	r := privRecord{Ours: true, Rule: orNull(string(end.rule))}
	if id := end.pending.ID; !id.IsZero() {
		r.ID, r.Rule = orNull(id.String()), orNull(string(end.pending.Rule))
	}
	failed := end.failure(err)
	switch {
	case end.has:
		r.fill(&end.result)
		if end.detached && !end.result.State.Final() {
			r.Exit, r.Ours = 0, true
		}
	default:
		r.Exit = failed.status
		var refused *client.Refused
		if errors.As(err, &refused) {
			r.Reason = orNull(refused.Code)
			if refused.Rule != "" {
				r.Rule = orNull(string(refused.Rule))
			}
			if !refused.ID.IsZero() {
				r.ID = orNull(refused.ID.String())
			}
		} else {
			r.Reason = orNull(localReason(r.Exit).String())
		}
	}
	if failed != nil {
		r.Message = orNull(failed.Error())
	}
	return r, failed
}

// failure words an end that is not the command's own; nil where it is.
func (end *privEnd) failure(err error) *failure {
	var refused *client.Refused
	switch {
	case errors.As(err, &refused):
		return explainRefusal(end.asked, refused)
	case err != nil:
		return asFailure(err)
	case end.detached && !end.result.State.Final() || !end.result.Ours():
		return nil
	}
	return explainResult(end.asked, &end.result)
}

// localReason is the reason for what was not even sent.
func localReason(status int) action.Reason {
	switch status {
	case action.ExitUnreachable:
		return action.ReasonUnreachable
	case action.ExitTryLater:
		return action.ReasonCancelled
	}
	return action.ReasonBadRequest
}

// fill copies a result.
func (r *privRecord) fill(res *action.Result) {
	if !res.ID.IsZero() {
		r.ID = orNull(res.ID.String())
	}
	r.State = orNull(res.State.String())
	r.Ours, r.Exit = res.Ours(), res.ExitStatus()
	if res.Reason != 0 {
		r.Reason = orNull(res.Reason.String())
	}
	if res.Reason == action.ReasonExited {
		r.ExitCode = &res.Code
	}
	if res.Reason == action.ReasonSignalled {
		r.Signal = &res.Signal
	}
	r.Started, r.Ended = instant(res.Started), instant(res.Ended)
}

func instant(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return orNull(action.FormatInstant(t))
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// tellPending says on stderr that people were asked, and who.
func (a *app) tellPending(p client.Pending) {
	left := span(time.Until(p.Expires).Truncate(time.Second))
	fmt.Fprintf(a.notes, "snens: waiting at most %s for %s to approve %s (digest %s)\n",
		left, escape.Line(people(p.Approvers)), p.ID, p.Digest.Short())
	if p.Asked == 0 {
		fmt.Fprintf(a.notes, "hint: %s\n", a.ownHint("none of them is listening now; one of them can type: snens approve show "+p.ID.String()))
	}
}

// people puts approvers into words.
func people(list []string) string {
	switch len(list) {
	case 0:
		return "an approver"
	case 1:
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}
