package action

import (
	"fmt"
	"slices"
)

// Reason says why a request ended, or why a call was refused: the code that
// programs read, in replies, results and audit records. The list is closed. The
// zero value is no reason, and no reason ever means yes.
type Reason uint8

// Why a request ended.
const (
	ReasonExited    Reason = iota + 1 // ran to its own end
	ReasonSignalled                   // ended by a signal that the broker did not send
	ReasonTimedOut
	ReasonKilled     // an approver or root ended it
	ReasonUnkillable // told to end, and did not

	ReasonDenied         // the one answer to whoever no rule names
	ReasonRuleDenies     // a rule says deny
	ReasonRuleShadowed   // named one rule, decided by another
	ReasonApproverDenied // a person said no
	ReasonReasonRequired // the rule wants words from the requester
	ReasonBadRequest
	ReasonBadDescriptors
	ReasonTooLong
	ReasonBusy
	ReasonDuplicate
	ReasonCoolingDown // denied a moment ago
	ReasonNoRecord    // cannot be recorded, so it is not run
	ReasonInternal

	ReasonExpired

	ReasonCancelled     // by the requester
	ReasonRequesterGone // closed the connection
	ReasonDaemonRestart
	ReasonShutdown

	ReasonStaleRule
	ReasonStaleFile

	ReasonCannotStart
	ReasonCommandMissing

	ReasonLost

	// Answers that end no request.

	ReasonUnreachable     // no broker there
	ReasonUntrustedBroker // somebody else's socket
	ReasonNotFound        // no such request, or not yours to see
	ReasonGone            // too late: it ended before the answer came
	ReasonSelfApproval    // who asks may not approve
	ReasonNotApprover     // may deny, may not approve
	ReasonDigestMismatch  // answered another text
	ReasonLifespanRefused // not offered by the rule
	ReasonPresenceMissing // the rule wants more than an identity
	ReasonBadSignature
	ReasonUnknownPrincipal // in no person's entry
	ReasonAlreadyVoted
)

// Exit statuses of the command that asks. A command's own status passes
// through; the number for a signal is 128 and the signal's.
const (
	ExitFailed      = 1 // of the approving commands
	ExitBadRequest  = 64
	ExitUnreachable = 69
	ExitInternal    = 70
	ExitTryLater    = 75 // busy, stale, duplicate, cancelled: nothing ran
	ExitExpired     = 76
	ExitDenied      = 77
	ExitTimedOut    = 124
	ExitNotRunnable = 126
	ExitMissing     = 127
	ExitSignal      = 128
	exitKilled      = ExitSignal + 9
	exitOwn         = -1 // the command's own
)

type reasonRow struct {
	reason Reason
	code   string
	states []State // the final states it can explain; none: it ends no request
	exit   int
	text   string // what it says to a person, after the command's name
}

// reasons is the one table of what can be wrong. Its order is that of the
// constants, which a test compares.
var reasons = []reasonRow{
	{ReasonExited, "exited", []State{Exited}, exitOwn, "the command ended"},
	{ReasonSignalled, "signalled", []State{Exited}, exitOwn, "the command was ended by a signal"},
	{ReasonTimedOut, "timed_out", []State{Exited}, ExitTimedOut, "the command was ended: it ran longer than the rule allows"},
	{ReasonKilled, "killed", []State{Exited}, exitKilled, "the command was ended by a person"},
	{ReasonUnkillable, "unkillable", []State{Exited}, ExitInternal, "the command was told to end and is still there"},

	{ReasonDenied, "denied", []State{Denied}, ExitDenied, "this is not allowed"},
	{ReasonRuleDenies, "rule_denies", []State{Denied}, ExitDenied, "a rule denies this"},
	{ReasonRuleShadowed, "rule_shadowed", []State{Denied}, ExitDenied, "an earlier rule than the one named decides about this command"},
	{ReasonApproverDenied, "approver_denied", []State{Denied}, ExitDenied, "an approver said no"},
	{ReasonReasonRequired, "reason_required", []State{Denied}, ExitBadRequest, "the rule asks for a reason (--reason TEXT)"},
	{ReasonBadRequest, "bad_request", []State{Denied}, ExitBadRequest, "the request is malformed"},
	{ReasonBadDescriptors, "bad_descriptors", []State{Denied}, ExitBadRequest, "the passed descriptors cannot be used"},
	{ReasonTooLong, "too_long", []State{Denied}, ExitBadRequest, "the request is too long for a person to review"},
	{ReasonBusy, "busy", []State{Denied}, ExitTryLater, "too many requests are waiting already"},
	{ReasonDuplicate, "duplicate", []State{Denied}, ExitTryLater, "the same request is waiting already"},
	{ReasonCoolingDown, "cooling_down", []State{Denied}, ExitTryLater, "the same request was denied a moment ago"},
	{ReasonNoRecord, "no_record", []State{Denied}, ExitTryLater, "the audit log cannot be written, so nothing is run"},
	{ReasonInternal, "internal", []State{Denied, FailedToStart}, ExitInternal, "the broker made a mistake; its log says more"},

	{ReasonExpired, "expired", []State{Expired}, ExitExpired, "nobody answered in time"},

	{ReasonCancelled, "cancelled", []State{Cancelled, Exited}, ExitTryLater, "the request was cancelled"},
	{ReasonRequesterGone, "requester_gone", []State{Cancelled, Exited, FailedToStart}, ExitTryLater, "the requester closed the connection"},
	{ReasonDaemonRestart, "daemon_restart", []State{Cancelled}, ExitTryLater, "the broker was restarted"},
	{ReasonShutdown, "shutdown", []State{Cancelled, Exited, Denied}, ExitTryLater, "the broker is stopping"},

	{ReasonStaleRule, "stale_rule", []State{Stale}, ExitTryLater, "the rule or its approvers changed after the request"},
	{ReasonStaleFile, "stale_file", []State{Stale, FailedToStart}, ExitTryLater, "the command's file changed after the request"},

	{ReasonCannotStart, "cannot_start", []State{FailedToStart}, ExitNotRunnable, "the command could not be started"},
	{ReasonCommandMissing, "command_missing", []State{FailedToStart}, ExitMissing, "the command is not there"},

	{ReasonLost, "lost", []State{Lost}, ExitInternal, "the broker died while the command ran; how it ended is not known"},

	{ReasonUnreachable, "unreachable", nil, ExitUnreachable, "no broker answers"},
	{ReasonUntrustedBroker, "untrusted_broker", nil, ExitUnreachable, "the socket belongs to somebody else than the broker"},
	{ReasonNotFound, "not_found", nil, ExitBadRequest, "there is no such request"},
	{ReasonGone, "gone", nil, ExitFailed, "too late: the request has ended"},
	{ReasonSelfApproval, "self_approval", nil, ExitFailed, "who asks may not approve"},
	{ReasonNotApprover, "not_approver", nil, ExitFailed, "the rule does not list you as an approver"},
	{ReasonDigestMismatch, "digest_mismatch", nil, ExitFailed, "the answer is about another text"},
	{ReasonLifespanRefused, "lifespan_refused", nil, ExitFailed, "the rule does not offer that lifespan"},
	{ReasonPresenceMissing, "presence_missing", nil, ExitFailed, "the rule asks for a stronger proof that you are there"},
	{ReasonBadSignature, "bad_signature", nil, ExitFailed, "the signature does not fit"},
	{ReasonUnknownPrincipal, "unknown_principal", nil, ExitFailed, "the signature's principal belongs to no person"},
	{ReasonAlreadyVoted, "already_voted", nil, ExitFailed, "this person has answered already"},
}

// row is nil for what is no reason.
func (r Reason) row() *reasonRow {
	if r == 0 || int(r) > len(reasons) {
		return nil
	}
	return &reasons[r-1]
}

// Reasons are all reasons, in the order of the documentation.
func Reasons() []Reason {
	all := make([]Reason, len(reasons))
	for i := range reasons {
		all[i] = reasons[i].reason
	}
	return all
}

// String is the code.
func (r Reason) String() string {
	if row := r.row(); row != nil {
		return row.code
	}
	return fmt.Sprintf("invalid(%d)", uint8(r))
}

// ParseReason reads a code.
func ParseReason(code string) (Reason, error) {
	for i := range reasons {
		if reasons[i].code == code {
			return reasons[i].reason, nil
		}
	}
	return 0, fmt.Errorf("%q is no reason code", code)
}

// Text says it to a person, without a full stop.
func (r Reason) Text() string {
	if row := r.row(); row != nil {
		return row.text
	}
	return "no reason was given"
}

// States are the final states that the reason can explain; none when it is
// only an answer to a call.
func (r Reason) States() []State {
	if row := r.row(); row != nil {
		return slices.Clone(row.states)
	}
	return nil
}

// Explains says that a request can end in s for this reason.
func (r Reason) Explains(s State) bool {
	row := r.row()
	return row != nil && slices.Contains(row.states, s)
}
