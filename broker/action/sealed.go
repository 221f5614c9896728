package action

import (
	"fmt"
)

// Sealed is a request that was checked and can no longer change, with its
// review text and its digests. Make one with Seal, Parse or DecodeJSON.
type Sealed struct {
	request Request
	text    string
	digest  Digest
	key     Key
}

// Key is the same for the same action asked again: same argv, files, folder,
// environment, identity, umask, limits, modes, input and rule, whoever asks.
// Grants and duplicates are bound to it together with the requester's uid.
type Key [32]byte

func (k Key) String() string { return Digest(k).String() }

// Seal checks r and makes its text. The error names the field, the rule and
// the fix; ErrTooLong is part of it when there is too much to read.
func Seal(r Request) (*Sealed, error) {
	r = r.Clone()
	r.emptyIsNil()
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("cannot take the request: %w", err)
	}
	text := r.render()
	if len(text) > MaxText {
		return nil, fmt.Errorf("cannot take the request: its review text has %d bytes, at most %d can be read by a person: %w", len(text), MaxText, ErrTooLong)
	}
	return &Sealed{request: r, text: text, digest: DigestOf(text), key: Key(DigestOf(r.renderKey()))}, nil
}

// Request is a copy of the request.
func (s *Sealed) Request() Request { return s.request.Clone() }

// Text is the review text: lines, each with its end.
func (s *Sealed) Text() string { return s.text }

// Digest is the SHA-256 of Text.
func (s *Sealed) Digest() Digest { return s.digest }

// Key is the request key.
func (s *Sealed) Key() Key { return s.key }

func (r *Request) emptyIsNil() {
	r.Argv = orNil(r.Argv)
	r.Interpreters = orNil(r.Interpreters)
	r.Opened = orNil(r.Opened)
	r.Env = orNil(r.Env)
	r.RunAs.Groups = orNil(r.RunAs.Groups)
	r.Requester.Groups = orNil(r.Requester.Groups)
}

// orNil makes the empty list the missing one: a text says 0 for both.
func orNil[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}
