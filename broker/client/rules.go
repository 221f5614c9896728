package client

import (
	"context"
	"math"
	"time"

	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/strictjson"
)

// Decision is what a rule says. The zero value says nothing.
type Decision string

// The decisions. Allow runs at once, Ask asks people first.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// Rule is what one may ask for.
type Rule struct {
	ID       action.RuleID
	About    string
	Decision Decision // Allow or Ask
	Command  string   // path of the program
	Args     []Arg
	RunAs    string // a user's name
	Stdin    string // none, sealed or pass
	Detach   bool   // may run on without the one who asks
	Cwd      string
	EnvPass  []string // variables that one may pass
	Timeout  time.Duration

	// For Ask:
	Approvers      []string // "group:ops"
	TTL            time.Duration
	ReasonRequired bool

	Raw strictjson.Value // as it came
}

// Arg is one place of a rule's arguments: a fixed Text, or a slot.
type Arg struct {
	Text     string
	Slot     string // its name; "" for a fixed text
	Kind     string
	Values   []string // of an enum
	Min, Max *int64
	Pattern  string
	Beneath  string
	Many     int // how many words at most; 0 and 1 are one
	Optional bool
}

// Rules gives the rules under which one may ask, in the policy's order.
func (c *Client) Rules(ctx context.Context) (rules []Rule, err error) {
	err = c.askMany(ctx, "rules", func(o *fields.Reader) {
		f := o.Field("rule")
		r := readRule(f.Object())
		if v := f.Value(); v != nil {
			r.Raw = v.Clone()
		}
		rules = append(rules, r)
	})
	return rules, err
}

func readRule(o *fields.Reader) (r Rule) {
	r.ID = fields.Word(o.Field("id"), action.ParseRuleID)
	r.About = text(o, "about")
	r.Decision = Decision(o.Field("decision").String())
	r.Command = text(o, "command")
	if f, ok := o.Optional("args"); ok {
		for _, item := range f.Items(maxItems) {
			r.Args = append(r.Args, readArg(item.Object()))
		}
	}
	r.RunAs = text(o, "run_as")
	r.Stdin = text(o, "stdin")
	r.Detach = flag(o, "detach")
	r.Cwd = text(o, "cwd")
	r.EnvPass = texts(o, "env_pass")
	r.Timeout = duration(o, "timeout")
	r.Approvers = texts(o, "approvers")
	r.TTL = duration(o, "ttl")
	r.ReasonRequired = flag(o, "reason_required")
	return r
}

func readArg(o *fields.Reader) (a Arg) {
	a.Text = text(o, "text")
	a.Slot = text(o, "slot")
	a.Kind = text(o, "kind")
	a.Values = texts(o, "values")
	a.Min, a.Max = number(o, "min"), number(o, "max")
	a.Pattern = text(o, "pattern")
	a.Beneath = text(o, "beneath")
	if f, ok := o.Optional("many"); ok {
		a.Many = int(f.Uint(math.MaxInt32))
	}
	a.Optional = flag(o, "optional")
	return a
}

func text(o *fields.Reader, name string) string {
	if f, ok := o.Optional(name); ok {
		return f.Text()
	}
	return ""
}

func texts(o *fields.Reader, name string) []string {
	if f, ok := o.Optional(name); ok {
		return f.Texts(maxItems)
	}
	return nil
}

func flag(o *fields.Reader, name string) bool {
	if f, ok := o.Optional(name); ok {
		return f.Bool()
	}
	return false
}

func number(o *fields.Reader, name string) *int64 {
	if f, ok := o.Optional(name); ok {
		n := f.Int()
		return &n
	}
	return nil
}

func duration(o *fields.Reader, name string) time.Duration {
	if f, ok := o.Optional(name); ok {
		return fields.Word(f, action.ParseDuration)
	}
	return 0
}
