package action

import (
	"fmt"
	"strings"

	"snens/internal/fields"
	"snens/internal/strictjson"
)

// What a requester may claim, in bytes. More is refused, not cut.
const (
	MaxClaim  = 128  // session, tool
	MaxReason = 1024 // the reason
)

// Claims are what the requester says. Nothing is checked, nothing depends on
// it: it is shown below the review text as a claim, and recorded.
type Claims struct {
	Session string
	Tool    string
	Reason  string
}

// Check refuses claims that are too long to be shown.
func (c Claims) Check() error {
	for _, f := range []struct {
		name, value string
		limit       int
	}{{"session", c.Session, MaxClaim}, {"tool", c.Tool, MaxClaim}, {"reason", c.Reason, MaxReason}} {
		if len(f.value) > f.limit {
			return fmt.Errorf("%s: has %d bytes, at most %d are taken", f.name, len(f.value), f.limit)
		}
	}
	return nil
}

// HasReason says that the reason is more than blanks.
func (c Claims) HasReason() bool { return strings.TrimSpace(c.Reason) != "" }

// Value is the JSON form; what is empty is left out.
func (c Claims) Value() strictjson.Value {
	return texts("session", c.Session, "tool", c.Tool, "reason", c.Reason)
}

// ReadClaims reads what Value makes.
func ReadClaims(o *fields.Reader) Claims {
	c := Claims{Session: optional(o, "session"), Tool: optional(o, "tool"), Reason: optional(o, "reason")}
	if err := c.Check(); err != nil {
		o.Failf("%v", err)
	}
	return c
}

// Seen is what the daemon looked up about the requester when he connected. It
// is a hint for people: all of it can have changed a moment later.
type Seen struct {
	PID     int
	Command string // the kernel's name of the process
	Exe     string // path of its executable
	Cgroup  string
	Login   Login
}

// Login is the audit login uid: who logged in, whatever the process became
// since. The zero value is a process that no login began.
type Login struct {
	UID UID
	Set bool
}

// Value is the JSON form; what is empty is left out.
func (s Seen) Value() strictjson.Value {
	out := texts("command", s.Command, "exe", s.Exe, "cgroup", s.Cgroup)
	if s.PID != 0 {
		out.Members = append(out.Members, fields.Member("pid", fields.Int(int64(s.PID))))
	}
	if s.Login.Set {
		out.Members = append(out.Members, fields.Member("login_uid", fields.Uint(s.Login.UID)))
	}
	return out
}

// ReadSeen reads what Value makes.
func ReadSeen(o *fields.Reader) Seen {
	s := Seen{Command: optional(o, "command"), Exe: optional(o, "exe"), Cgroup: optional(o, "cgroup")}
	if f, ok := o.Optional("pid"); ok {
		s.PID = int(f.Uint(1 << 30))
	}
	if f, ok := o.Optional("login_uid"); ok {
		s.Login = Login{UID: readUID(f), Set: true}
	}
	return s
}

// texts makes an object of the pairs whose text is not empty.
func texts(pairs ...string) strictjson.Value {
	out := fields.Object()
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out.Members = append(out.Members, fields.Member(pairs[i], fields.Text(pairs[i+1])))
		}
	}
	return out
}

func optional(o *fields.Reader, name string) string {
	f, ok := o.Optional(name)
	if !ok {
		return ""
	}
	return f.Text()
}
