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
	found := r.search(in)
	from := 0
	for cut := -1; from < len(in); {
		at, n := found.first(from)
		// A longer secret may begin before or at this match and end in the
		// next piece: hold back from the earliest such beginning.
		if cut < from {
			cut = r.prefixAt(in, from)
		}
		if cut <= at {
			out = append(out, in[from:cut]...)
			from = cut
			break
		}
		out = append(out, in[from:at]...)
		out = append(out, redactedText...)
		from = at + n
	}
	r.held = append([]byte(nil), in[from:]...)
	return out
}

// rest returns what was held back: the stream has ended.
func (r *redactor) rest() []byte {
	in := r.held
	r.held = nil
	var out []byte
	found := r.search(in)
	for from := 0; ; {
		at, n := found.first(from)
		out = append(out, in[from:at]...)
		if n == 0 {
			return out
		}
		out = append(out, redactedText...)
		from = at + n
	}
}

// search is a search for every secret in one text that goes over it once for
// each: an output full of secrets takes no longer than another.
type search struct {
	text    []byte
	secrets [][]byte
	next    []int // where each is found next, len(text) = nowhere; -1 = not looked for
}

func (r *redactor) search(text []byte) search {
	next := make([]int, len(r.secrets))
	for i := range next {
		next[i] = -1
	}
	return search{text, r.secrets, next}
}

// first finds the earliest secret at or after from, which never goes back, the
// longest of those that begin there. None is one of length 0 at the text's end.
func (s search) first(from int) (at, n int) {
	at = len(s.text)
	for i, secret := range s.secrets {
		if s.next[i] < from {
			s.next[i] = len(s.text)
			if to := bytes.Index(s.text[from:], secret); to >= 0 {
				s.next[i] = from + to
			}
		}
		if s.next[i] < at {
			at, n = s.next[i], len(secret)
		}
	}
	return at, n
}

// prefixAt returns where in b, at or after from, a secret begins that b's end
// cuts off; len(b) when there is none.
func (r *redactor) prefixAt(b []byte, from int) int {
	best := len(b)
	for _, s := range r.secrets {
		for i := max(from, len(b)-len(s)+1); i < best; i++ {
			if bytes.HasPrefix(s, b[i:]) {
				best = i
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
