package mailbox

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxLease is the longest lease. What says more has a wrong clock behind it.
const maxLease = 24 * time.Hour

// Receipt names one claim: the claimed file in cur. Every claim of a message has
// another one.
type Receipt string

// ParseReceipt checks s and returns it as a Receipt.
func ParseReceipt(s string) (Receipt, error) {
	if _, ok := parseClaimed(s); !ok {
		return "", fmt.Errorf("receipt %q is not one: it looks like NAME:1:1767225600", s)
	}
	return Receipt(s), nil
}

// freshName is a name that no other message has and that sorts by time:
// seconds, nanoseconds, 64 random bits.
func freshName(now time.Time) string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return fmt.Sprintf("%010d.%09d.%s", now.Unix(), now.Nanosecond(), hex.EncodeToString(random[:]))
}

// claimed is what the name of a file in cur says.
type claimed struct {
	base  string
	count uint32
	until int64 // seconds since 1970; 0 without a lease
}

func (c claimed) name() string { return fmt.Sprintf("%s:%d:%d", c.base, c.count, c.until) }

// leased says whether the claim holds at now whoever lives.
func (c claimed) leased(now time.Time) bool {
	return c.until > now.Unix() && c.until <= now.Add(maxLease).Unix()+1
}

// parseClaimed accepts exactly what name prints.
func parseClaimed(s string) (claimed, bool) {
	part := strings.Split(s, ":")
	if len(part) != 3 || !plain(part[0]) {
		return claimed{}, false
	}
	count, err := strconv.ParseUint(part[1], 10, 32)
	if err != nil || count == 0 {
		return claimed{}, false
	}
	until, err := strconv.ParseInt(part[2], 10, 64)
	if err != nil || until < 0 {
		return claimed{}, false
	}
	c := claimed{base: part[0], count: uint32(count), until: until}
	return c, c.name() == s
}
