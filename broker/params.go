package broker

import (
	"time"

	"snens/broker/action"
	"snens/broker/prepare"
	"snens/internal/fields"
	"snens/internal/wire"
)

// What the parameters of a run may hold, beside what a line may.
const (
	maxSlots     = 64   // slots of a rule
	maxVariables = 4096 // clients send what they have
)

// runParams are the parameters of run.
type runParams struct {
	ask prepare.Ask
	fds int // descriptors that the client will send
}

// readRun reads them. The error is about the first one that is wrong.
func readRun(o *fields.Reader) (p runParams, err error) {
	readCommand(o, &p.ask)
	if f, ok := o.Optional("cwd"); ok {
		p.ask.Cwd = f.Text()
	}
	if f, ok := o.Optional("env"); ok {
		p.ask.Env = f.Texts(maxVariables)
	}
	if f, ok := o.Optional("stdin"); ok {
		text := f.Text()
		p.ask.Stdin = &text
	}
	if f, ok := o.Optional("fds"); ok {
		p.fds = int(f.Uint(wire.MaxFDs))
	}
	if f, ok := o.Optional("claims"); ok {
		p.ask.Claims = action.ReadClaims(f.Object())
	}
	if f, ok := o.Optional("ttl"); ok {
		p.ask.TTL = readTTL(f)
	}
	if f, ok := o.Optional("detach"); ok {
		p.ask.Detach = f.Bool()
	}
	return p, o.Close()
}

func readTTL(f fields.Field) time.Duration { return fields.Word(f, action.ParseDuration) }

// readCommand reads what is asked for: a rule with its slots, or a command.
func readCommand(o *fields.Reader, a *prepare.Ask) {
	rule, byRule := o.Optional("rule")
	slots, filled := o.Optional("slots")
	argv, byArgv := o.Optional("argv")
	switch {
	case byRule && byArgv:
		o.Failf("there are rule and argv; give one of them")
	case !byRule && !byArgv:
		o.Failf("there is neither rule nor argv; give one of them")
	case filled && !byRule:
		o.Failf("there are slots without their rule; give it, or the whole command as argv")
	}
	if byRule {
		a.Rule = fields.Word(rule, action.ParseRuleID)
	}
	if filled {
		a.Slots = readSlots(slots)
	}
	if byArgv {
		a.Argv = argv.Texts(action.MaxItems)
		if v := argv.Value(); len(v.Items) == 0 || len(a.Argv) > 0 && a.Argv[0] == "" {
			argv.Failf("must begin with the command, an absolute path or a name")
		}
	}
}

// readSlots reads an object of lists of words.
func readSlots(f fields.Field) map[string][]string {
	o := f.Object()
	members := f.Value().Members
	if len(members) > maxSlots {
		f.Failf("has %d slots; no rule has more than %d", len(members), maxSlots)
		return nil
	}
	slots := make(map[string][]string, len(members))
	for i := range members {
		slots[members[i].Name] = o.Field(members[i].Name).Texts(action.MaxItems)
	}
	return slots
}

// weigh refuses what would be too long for a review before anything is done
// about it. What the environment adds is known only when the rule is.
func weigh(a *prepare.Ask) error {
	n := len(a.Cwd) + words(a.Argv)
	for _, w := range a.Slots {
		n += words(w)
	}
	if a.Stdin != nil {
		n += len(*a.Stdin)
	}
	if n > action.MaxText {
		return &refusal{reason: action.ReasonTooLong}
	}
	return nil
}

func words(list []string) (n int) {
	for _, w := range list {
		n += len(w)
	}
	return n
}

// readRequest reads the parameters of the methods about one request; wait is
// nil where the method has no such parameter.
func readRequest(o *fields.Reader, wait *bool) (action.RequestID, error) {
	id := fields.Word(o.Field("request"), action.ParseRequestID)
	if wait != nil {
		if f, ok := o.Optional("wait"); ok {
			*wait = f.Bool()
		}
	}
	if err := o.Close(); err != nil {
		return id, malformed(err)
	}
	return id, nil
}

// none reads the parameters of methods without any.
func none(q wire.Request) error {
	if err := q.Fields().Close(); err != nil {
		return malformed(err)
	}
	return nil
}
