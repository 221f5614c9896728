package engine

import (
	"bytes"
	"slices"
)

// redactedText stands where a secret stood.
const redactedText = "[redacted]"

// redactor replaces secrets in a stream that arrives in pieces. A secret cut
// by a piece's end is found all the same: the part that could be the beginning
// of one is held back until the next piece.
type redactor struct {
	secrets [][]byte // longest first, none empty
	held    []byte
}

// newRedactor returns nil when there is nothing to redact. Each secret is also
// looked for as a JSON string would hold it, in the usual spellings.
func newRedactor(secrets [][]byte) *redactor {
	var all [][]byte
	for _, s := range secrets {
		if len(s) > 0 {
			all = append(all, spellings(s)...)
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b []byte) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return bytes.Compare(a, b)
	})
	all = slices.CompactFunc(all, bytes.Equal)
	return &redactor{secrets: all}
}

// next takes a piece and returns what may be shown of the stream so far. The
// result is valid until the next call.
func (r *redactor) next(piece []byte) []byte {
	in := append(r.held, piece...)
	out := make([]byte, 0, len(in))
	for len(in) > 0 {
		at, n := r.first(in)
		// A longer secret may begin before or at this match and end in the
		// next piece: hold back from the earliest such beginning.
		if p := r.prefixAt(in, at); p >= 0 {
			out = append(out, in[:p]...)
			in = in[p:]
			break
		}
		if at < 0 {
			out = append(out, in...)
			in = nil
			break
		}
		out = append(out, in[:at]...)
		out = append(out, redactedText...)
		in = in[at+n:]
	}
	r.held = append([]byte(nil), in...)
	return out
}

// rest returns what was held back: the stream has ended.
func (r *redactor) rest() []byte {
	in := r.held
	r.held = nil
	var out []byte
	for {
		at, n := r.first(in)
		if at < 0 {
			return append(out, in...)
		}
		out = append(out, in[:at]...)
		out = append(out, redactedText...)
		in = in[at+n:]
	}
}

// first finds the earliest secret in b, the longest of those that begin there.
func (r *redactor) first(b []byte) (at, n int) {
	at = -1
	for _, s := range r.secrets {
		window := b
		if at >= 0 {
			window = b[:min(len(b), at+len(s)-1)] // only an earlier one matters
		}
		if i := bytes.Index(window, s); i >= 0 && (at < 0 || i < at) {
			at, n = i, len(s)
		}
	}
	return at, n
}

// prefixAt returns where in b a secret begins that b's end cuts off, when that
// is not after the match at (at < 0: no match); -1 when there is none.
func (r *redactor) prefixAt(b []byte, at int) int {
	best := -1
	for _, s := range r.secrets {
		for i := max(0, len(b)-len(s)+1); i < len(b); i++ {
			if at >= 0 && i > at {
				break
			}
			if bytes.HasPrefix(s, b[i:]) {
				if best < 0 || i < best {
					best = i
				}
				break
			}
		}
	}
	return best
}

// redactAll replaces every secret in b.
func redactAll(b []byte, secrets [][]byte) []byte {
	r := newRedactor(secrets)
	if r == nil {
		return b
	}
	out := append([]byte(nil), r.next(b)...)
	return append(out, r.rest()...)
}
