package audit

import (
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/strictjson"
)

// Entry is what a record says. Which fields a kind needs and may have is a
// fixed table (shapes, in kind.go); others must be zero.
type Entry struct {
	Kind Kind

	ID     action.RequestID
	UID    action.UID // of the peer that did it
	GID    action.GID
	Result *action.Result // of the kinds that end a request

	Argv       []string // as asked
	Rule       action.RuleID
	RuleDigest action.Digest
	Decision   string // of the policy: allow, ask, deny
	Request    *action.Sealed
	Digest     action.Digest // what was reviewed; of a reload, the policy's; of a torn line, the line's
	NewDigest  action.Digest // what it would be now
	Claims     *action.Claims
	Seen       *action.Seen
	Reason     action.Reason

	Vote      action.Decision
	Principal string
	Presence  string
	Lifespan  action.Lifespan
	PID       uint32

	Count       uint64
	First, Last time.Time
	Reasons     []ReasonCount

	Version string
	Install action.InstallID

	File                   string // name of a file of the log
	Line                   uint64 // from 1
	Offset, Bytes          uint64
	MissingFrom, MissingTo uint64
	Unsynced               bool
	// Detail is for people; what is longer than MaxDetail bytes is cut.
	Detail string
}

// ReasonCount says how often something was refused for a reason.
type ReasonCount struct {
	Reason action.Reason
	Count  uint64
}

// MaxDetail bounds free text, MaxArgv the words of a request that was not
// taken apart yet: whoever records leaves longer ones out.
const (
	MaxDetail = 1024
	MaxArgv   = 64 << 10
)

// field is one column of the table: how it is written and read, and whether a
// value is there (for a number that may be 0, any is).
type field struct {
	name string
	set  func(*Entry) bool
	put  func(*Entry) strictjson.Value
	get  func(*Entry, fields.Field)
}

// text makes the column of a string type.
func text[T ~string](name string, at func(*Entry) *T, parse func(string) (T, error)) field {
	return field{
		name,
		func(e *Entry) bool { return *at(e) != "" },
		func(e *Entry) strictjson.Value { return fields.Text(string(*at(e))) },
		func(e *Entry, f fields.Field) {
			if *at(e) = T(f.Text()); parse != nil {
				*at(e) = fields.Word(f, parse)
			}
		},
	}
}

// word makes the column of a type with a text form.
func word[T interface {
	comparable
	String() string
}](name string, at func(*Entry) *T, parse func(string) (T, error)) field {
	return field{
		name,
		func(e *Entry) bool { var zero T; return *at(e) != zero },
		func(e *Entry) strictjson.Value { return fields.Text((*at(e)).String()) },
		func(e *Entry, f fields.Field) { *at(e) = fields.Word(f, parse) },
	}
}

// number makes the column of a number up to limit.
func number[T ~uint32 | ~uint64](name string, at func(*Entry) *T, limit uint64) field {
	return field{
		name,
		func(e *Entry) bool { return *at(e) != 0 },
		func(e *Entry) strictjson.Value { return fields.Uint(*at(e)) },
		func(e *Entry, f fields.Field) { *at(e) = T(f.Uint(limit)) },
	}
}

func instant(name string, at func(*Entry) *time.Time) field {
	return field{
		name,
		func(e *Entry) bool { return !at(e).IsZero() },
		func(e *Entry) strictjson.Value { return fields.Text(action.FormatInstant(*at(e))) },
		func(e *Entry, f fields.Field) { *at(e) = fields.Word(f, action.ParseInstant) },
	}
}

// table is every field, in the order in which they stand in a line.
var table = []field{
	word("id", func(e *Entry) *action.RequestID { return &e.ID }, action.ParseRequestID),
	number("uid", func(e *Entry) *action.UID { return &e.UID }, action.NoID-1),
	number("gid", func(e *Entry) *action.GID { return &e.GID }, action.NoID-1),
	{"argv", func(e *Entry) bool { return e.Argv != nil }, func(e *Entry) strictjson.Value { return fields.List(e.Argv, fields.Text) }, func(e *Entry, f fields.Field) { e.Argv = append([]string{}, f.Texts(MaxArgv)...) }},
	text("decision", func(e *Entry) *string { return &e.Decision }, parseDecision),
	text("rule", func(e *Entry) *action.RuleID { return &e.Rule }, action.ParseRuleID),
	word("rule_digest", func(e *Entry) *action.Digest { return &e.RuleDigest }, action.ParseDigest),
	{"request", func(e *Entry) bool { return e.Request != nil }, func(e *Entry) strictjson.Value { return e.Request.Value() }, getRequest},
	word("digest", func(e *Entry) *action.Digest { return &e.Digest }, action.ParseDigest),
	word("new_digest", func(e *Entry) *action.Digest { return &e.NewDigest }, action.ParseDigest),
	word("vote", func(e *Entry) *action.Decision { return &e.Vote }, action.ParseDecision),
	text("principal", func(e *Entry) *string { return &e.Principal }, nil),
	text("presence", func(e *Entry) *string { return &e.Presence }, parsePresence),
	word("lifespan", func(e *Entry) *action.Lifespan { return &e.Lifespan }, action.ParseLifespan),
	number("pid", func(e *Entry) *uint32 { return &e.PID }, math.MaxInt32),
	{"result", func(e *Entry) bool { return e.Result != nil }, func(e *Entry) strictjson.Value { return e.Result.Value() }, func(e *Entry, f fields.Field) { r := action.ReadResult(f.Object()); e.Result = &r }},
	word("reason", func(e *Entry) *action.Reason { return &e.Reason }, action.ParseReason),
	number("count", func(e *Entry) *uint64 { return &e.Count }, math.MaxUint64),
	instant("first", func(e *Entry) *time.Time { return &e.First }),
	instant("last", func(e *Entry) *time.Time { return &e.Last }),
	{"reasons", func(e *Entry) bool { return e.Reasons != nil }, putReasons, getReasons},
	text("version", func(e *Entry) *string { return &e.Version }, nil),
	word("install", func(e *Entry) *action.InstallID { return &e.Install }, action.ParseInstallID),
	text("file", func(e *Entry) *string { return &e.File }, nil),
	number("line", func(e *Entry) *uint64 { return &e.Line }, math.MaxUint64),
	number("offset", func(e *Entry) *uint64 { return &e.Offset }, math.MaxUint64),
	number("bytes", func(e *Entry) *uint64 { return &e.Bytes }, math.MaxUint64),
	number("missing_from", func(e *Entry) *uint64 { return &e.MissingFrom }, math.MaxUint64),
	number("missing_to", func(e *Entry) *uint64 { return &e.MissingTo }, math.MaxUint64),
	{"unsynced", func(e *Entry) bool { return e.Unsynced }, func(e *Entry) strictjson.Value { return fields.Bool(e.Unsynced) }, func(e *Entry, f fields.Field) { e.Unsynced = f.Bool() }},
	{"claims", func(e *Entry) bool { return e.Claims != nil }, func(e *Entry) strictjson.Value { return e.Claims.Value() }, func(e *Entry, f fields.Field) { c := action.ReadClaims(f.Object()); e.Claims = &c }},
	{"seen", func(e *Entry) bool { return e.Seen != nil }, func(e *Entry) strictjson.Value { return e.Seen.Value() }, func(e *Entry, f fields.Field) { s := action.ReadSeen(f.Object()); e.Seen = &s }},
	{"detail", func(e *Entry) bool { return e.Detail != "" }, func(e *Entry) strictjson.Value { return fields.Text(cut(e.Detail)) }, func(e *Entry, f fields.Field) { e.Detail = f.Text() }},
}

// readable refuses a value that could not be read back, such as a word that is
// none. A request is sealed and needs no second look.
func (f field) readable(column strictjson.Member) error {
	if f.name == "request" {
		return nil
	}
	v := fields.Object(column)
	o := fields.Of(&v, "record")
	f.get(new(Entry), o.Field(f.name))
	return o.Close()
}

// mayBeZero are the needed fields whose zero is a value.
var mayBeZero = map[string]bool{"uid": true, "gid": true, "offset": true, "bytes": true, "unsynced": true}

func parseDecision(s string) (string, error) { return oneOf("decision", s, "allow", "ask", "deny") }
func parsePresence(s string) (string, error) { return oneOf("presence", s, "peer", "sshsig", "tty") }

func oneOf(what, s string, allowed ...string) (string, error) {
	for _, a := range allowed {
		if a == s {
			return s, nil
		}
	}
	return "", fmt.Errorf("%q is no %s; allowed are %v", s, what, allowed)
}

func getRequest(e *Entry, f fields.Field) {
	if f.Value() == nil {
		return
	}
	s, err := action.DecodeValue(f.Value())
	if err != nil {
		f.Failf("%v", err)
		return
	}
	e.Request = s
}

func putReasons(e *Entry) strictjson.Value {
	return fields.List(e.Reasons, func(c ReasonCount) strictjson.Value {
		return fields.Object(fields.Member("reason", fields.Text(c.Reason.String())), fields.Member("count", fields.Uint(c.Count)))
	})
}

func getReasons(e *Entry, f fields.Field) {
	e.Reasons = []ReasonCount{}
	for _, item := range f.Items(math.MaxUint8) {
		o := item.Object()
		e.Reasons = append(e.Reasons, ReasonCount{fields.Word(o.Field("reason"), action.ParseReason), o.Field("count").Uint(math.MaxUint64)})
	}
}

// cut shortens a text for people, on the edge of a character.
func cut(s string) string {
	const mark = " [cut]"
	if len(s) <= MaxDetail {
		return s
	}
	n := MaxDetail - len(mark)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + mark
}

// check refuses an entry whose fields are not those of its kind.
func (e *Entry) check() error {
	form, ok := shapes[e.Kind]
	if !ok {
		return fmt.Errorf("%q is no kind of record", e.Kind)
	}
	for _, f := range table {
		set := f.set(e)
		switch {
		case form.needs(f.name) && !set && !mayBeZero[f.name]:
			return fmt.Errorf("a %s record needs %s", e.Kind, f.name)
		case set && !form.needs(f.name) && !form.takes(f.name):
			return fmt.Errorf("a %s record has no %s", e.Kind, f.name)
		}
	}
	if e.UID == action.NoID || e.GID == action.NoID {
		return fmt.Errorf("a %s record with an id that is none", e.Kind)
	}
	if e.Result != nil {
		if err := e.Result.Check(); err != nil {
			return err
		}
		if e.Result.ID != e.ID || e.Result.State.String() != string(e.Kind) {
			return fmt.Errorf("a %s record with the result of another request or state", e.Kind)
		}
	}
	return nil
}
