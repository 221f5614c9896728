package wire

import (
	"errors"
	"fmt"

	"snens/internal/fields"
	"snens/internal/strictjson"
)

// ID is the number a client gives its request: 1 to 2^53-1. Zero stands for no
// request at all (null on the wire).
type ID uint64

// Hello is the first line of both sides.
type Hello struct {
	Version      int
	Capabilities []string // what the sender can do beyond this version; unknown words are to be ignored
}

// Request asks for something. Params is an object, empty when the line has none.
type Request struct {
	ID     ID
	Method string
	Params strictjson.Value
}

// Fields reads the parameters.
func (r *Request) Fields() *fields.Reader { return fields.Of(&r.Params, "params") }

// Reply is one answer. Exactly one of Result (an object) and Err is there. An
// Err with ID 0 is about the connection, which ends after it.
type Reply struct {
	ID     ID
	More   bool // further replies to the same request follow
	Result strictjson.Value
	Err    *Error
}

// Fields reads the result.
func (r *Reply) Fields() *fields.Reader { return fields.Of(&r.Result, "result") }

func options(maxBytes int) strictjson.Options {
	return strictjson.Options{MaxBytes: maxBytes, MaxDepth: MaxDepth, MaxTokens: MaxTokens}
}

// ParseHello reads the line of a greeting. Every version is accepted here; what
// to do with a strange one is the server's decision.
func ParseHello(line []byte) (Hello, error) {
	var h Hello
	r := fields.Parse(line, "line", options(MaxLineGreeting))
	in := r.Field("hello").Object()
	h.Version = int(in.Field("version").Uint(1 << 20))
	h.Capabilities = fields.Words(in.Field("capabilities"), maxCapabilities, parseCapability)
	if err := r.Close(); err != nil {
		return Hello{}, err
	}
	return h, nil
}

func parseCapability(s string) (string, error) {
	if !isName(s, "_.-") || len(s) > 64 {
		return "", errors.New("must be a word of small letters, digits, _, . and -, at most 64")
	}
	return s, nil
}

func (h Hello) value() strictjson.Value {
	return fields.Object(fields.Member("hello", fields.Object(
		fields.Member("version", fields.Int(int64(h.Version))),
		fields.Member("capabilities", fields.List(h.Capabilities, strictjson.StringValue)),
	)))
}

// ParseRequest reads the line of a request.
func ParseRequest(line []byte) (Request, error) {
	q := Request{Params: fields.Object()}
	r := fields.Parse(line, "line", options(MaxLine))
	q.ID = readID(r.Field("id"))
	q.Method = fields.Word(r.Field("method"), parseMethod)
	if f, ok := r.Optional("params"); ok {
		if q.Params = *f.Value(); q.Params.Kind != strictjson.Object {
			f.Failf("must be an object")
		}
	}
	if err := r.Close(); err != nil {
		return Request{}, err
	}
	return q, nil
}

func readID(f fields.Field) ID {
	id := ID(f.Uint(maxID))
	if id == 0 {
		f.Failf("must be a whole number from 1 to %d", uint64(maxID))
	}
	return id
}

func parseMethod(s string) (string, error) {
	if !isName(s, "_") || len(s) > 32 {
		return "", errors.New("must be a word of small letters, digits and _, at most 32")
	}
	return s, nil
}

func (r *Request) value() strictjson.Value {
	return fields.Object(
		fields.Member("id", fields.Uint(uint64(r.ID))),
		fields.Member("method", strictjson.StringValue(r.Method)),
		fields.Member("params", r.Params),
	)
}

// ParseReply reads the line of a reply.
func ParseReply(line []byte) (Reply, error) {
	var p Reply
	r := fields.Parse(line, "line", options(MaxLine))
	if f := r.Field("id"); f.Value() != nil && f.Value().Kind != strictjson.Null {
		p.ID = readID(f)
	}
	if f, ok := r.Optional("error"); ok {
		p.Err = readError(f.Object())
	} else {
		if more, ok := r.Optional("more"); ok {
			if p.More = more.Bool(); !p.More {
				more.Failf("must be true, or not be there")
			}
		}
		f := r.Field("result")
		if v := f.Value(); v != nil {
			if p.Result = *v; v.Kind != strictjson.Object {
				f.Failf("must be an object")
			}
		}
		if p.ID == 0 {
			r.Failf("a result belongs to a request; its id cannot be null")
		}
	}
	if err := r.Close(); err != nil {
		return Reply{}, err
	}
	return p, nil
}

func (r *Reply) value() strictjson.Value {
	id := strictjson.Value{}
	if r.ID != 0 {
		id = fields.Uint(uint64(r.ID))
	}
	members := []strictjson.Member{fields.Member("id", id)}
	switch {
	case r.Err != nil:
		members = append(members, fields.Member("error", r.Err.value()))
	case r.More:
		members = append(members, fields.Member("more", fields.Bool(true)), fields.Member("result", r.Result))
	default:
		members = append(members, fields.Member("result", r.Result))
	}
	return fields.Object(members...)
}

// encode makes a line of a value that we built. What we could not read
// ourselves is not sent.
func encode(v strictjson.Value, limit int) ([]byte, error) {
	line := append(v.JSON(), '\n')
	if len(line) > limit {
		return nil, Errorf(TooLarge, "the line has %d bytes, more than %d", len(line), limit)
	}
	if _, err := strictjson.Parse(line, options(limit)); err != nil {
		return nil, fmt.Errorf("cannot send this line: %w", err)
	}
	return line, nil
}
