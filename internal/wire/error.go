package wire

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"snens/internal/fields"
	"snens/internal/strictjson"
)

// Code is the word of an error for programs: small letters, digits and
// underscores, at most 64. Servers add codes of their own to the ones here.
type Code string

// The codes of the transport itself.
const (
	BadRequest     Code = "bad_request"         // not a line of this protocol, or wrong parameters
	BadVersion     Code = "unsupported_version" // the detail lists "versions"
	UnknownMethod  Code = "unknown_method"
	TooLarge       Code = "too_large"       // a line above the limit
	TooSlow        Code = "timeout"         // a line that did not end in time
	Busy           Code = "busy"            // a limit of the peer's uid, or of all
	BadDescriptors Code = "bad_descriptors" // where none belong, or not as announced
	Internal       Code = "internal"        // a fault of the server
)

// Error is an error that crosses the wire.
type Error struct {
	Code    Code
	Message string            // for people, one line; may quote the peer, so escape it for a terminal
	Detail  *strictjson.Value // an object for programs; nil for none
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Errorf makes an Error without a detail.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// maxMessage bounds messages in bytes: some quote what the peer sent.
const maxMessage = 1 << 10

func (e *Error) value() strictjson.Value {
	members := []strictjson.Member{
		fields.Member("code", strictjson.StringValue(string(e.Code))),
		fields.Member("message", strictjson.StringValue(clip(e.Message))),
	}
	if e.Detail != nil {
		members = append(members, fields.Member("detail", *e.Detail))
	}
	return fields.Object(members...)
}

func clip(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= maxMessage {
		return s
	}
	cut := maxMessage - len("...")
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}

func readError(r *fields.Reader) *Error {
	e := &Error{Code: fields.Word(r.Field("code"), parseCode), Message: r.Field("message").String()}
	if f, ok := r.Optional("detail"); ok {
		if e.Detail = f.Value(); e.Detail.Kind != strictjson.Object {
			f.Failf("must be an object")
		}
	}
	return e
}

func parseCode(s string) (Code, error) {
	if !isName(s, "_") || len(s) > 64 {
		return "", errors.New("must be a word of small letters, digits and _, at most 64")
	}
	return Code(s), nil
}

// isName: small letters, digits and the characters of more, a letter first.
func isName(s, more string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z'
		if !letter && (i == 0 || (c < '0' || c > '9') && !strings.Contains(more, string(rune(c)))) {
			return false
		}
	}
	return s != ""
}

// timedOut turns the runtime's word for a passed deadline into ours.
func timedOut(err error, what string) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return Errorf(TooSlow, "%s took too long", what)
	}
	return err
}
