package session

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"

	"snens/supervisor/call"
)

// ID names a session: a ULID, 26 upper-case characters that sort by time, to
// the millisecond. It is never reused and safe as a file name.
type ID string

// NewID returns a fresh session id.
func NewID() ID { return ID(newULID()) }

// ParseID checks s and returns it as an ID.
func ParseID(s string) (ID, error) {
	if _, err := parseULID(s); err != nil {
		return "", fmt.Errorf("session id %q %w", s, err)
	}
	return ID(s), nil
}

// NewCallID returns a fresh id of a call, in the form of a session id.
func NewCallID() call.ID { return call.ID(newULID()) }

// ParseCallID checks s and returns it as the id of a call.
func ParseCallID(s string) (call.ID, error) {
	if _, err := parseULID(s); err != nil {
		return "", fmt.Errorf("call id %q %w", s, err)
	}
	return call.ID(s), nil
}

// newULID takes all its random bits from the system: processes that start in
// the same millisecond must not meet.
func newULID() string {
	return ulid.MustNew(ulid.Now(), rand.Reader).String() // the reader never fails
}

// parseULID accepts the one spelling that newULID has, and returns its time.
func parseULID(s string) (time.Time, error) {
	id, err := ulid.ParseStrict(s)
	if err != nil || id.String() != s {
		return time.Time{}, fmt.Errorf("is not one: it has 26 characters of 0-9 and A-Z without I, L, O, U")
	}
	return ulid.Time(id.Time()), nil
}
