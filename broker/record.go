package broker

import (
	"fmt"
	"time"

	"snens/broker/action"
	"snens/internal/audit"
)

// record writes what was asked and how it was judged. why is the reason of a
// denial, 0 for what goes on.
func (a *attempt) record(now time.Time, why action.Reason) error {
	asked := audit.Entry{
		Kind: audit.Received, ID: a.id, UID: a.who.UID, GID: a.who.GID,
		Argv: a.ask.Argv, Rule: a.ask.Rule, Claims: &a.ask.Claims, Seen: &a.seen,
	}
	if len(asked.Argv) == 0 {
		asked.Argv = a.judged.Argv // what the rule's name and the slots build
	}
	if words(asked.Argv) > audit.MaxArgv {
		asked.Argv = nil
	}
	decided := audit.Entry{
		Kind: audit.Decided, ID: a.id, Decision: a.judged.Decision.String(),
		Reason: why, Detail: a.judged.Detail,
	}
	if r := a.judged.Rule; r != nil {
		decided.Rule, decided.RuleDigest = r.ID, r.Digest
	}
	if a.made != nil {
		decided.Request, decided.Digest = a.made.Request, a.made.Request.Digest()
	}
	for _, e := range []audit.Entry{asked, decided} {
		if err := a.s.o.Log.Append(now, e); err != nil {
			return fmt.Errorf("cannot record request %s: %w", a.id, err)
		}
	}
	return nil
}
