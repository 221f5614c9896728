package action

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// UID is a kernel user id. 4294967295, which the kernel takes for "no change",
// is no UID: ParseUID refuses it and Seal refuses a request with it.
type UID uint32

// GID is a kernel group id, with the same exception.
type GID uint32

// NoID is what no UID and no GID can be. The kernel says it for an audit login
// uid that was never set.
const NoID = math.MaxUint32

func (u UID) String() string { return strconv.FormatUint(uint64(u), 10) }
func (g GID) String() string { return strconv.FormatUint(uint64(g), 10) }

// ParseUID reads a user id in plain digits: no sign, blank, prefix or leading
// zero, from 0 to 4294967294.
func ParseUID(s string) (UID, error) {
	n, err := parseID(s, "user")
	return UID(n), err
}

// ParseGID reads a group id as ParseUID does.
func ParseGID(s string) (GID, error) {
	n, err := parseID(s, "group")
	return GID(n), err
}

func parseID(s, what string) (uint32, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n == NoID || strconv.FormatUint(n, 10) != s {
		return NoID, fmt.Errorf("%q is no %s id; write plain digits, from 0 to %d", s, what, uint32(NoID-1))
	}
	return uint32(n), nil
}

// RuleID names a rule of the policy: a letter or digit, then letters, digits,
// dot, dash and underscore, at most 64 in all.
type RuleID string

// reservedRules are words of the command line that takes a rule's name.
var reservedRules = []string{"cancel", "check", "list", "result", "rules"}

// ParseRuleID accepts a rule's name.
func ParseRuleID(s string) (RuleID, error) {
	for i := range len(s) {
		c := s[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && (i == 0 || !strings.ContainsRune("._-", rune(c))) {
			return "", fmt.Errorf("%q is no rule id; begin with a letter or digit and use letters, digits, '.', '-' and '_'", s)
		}
	}
	if s == "" || len(s) > 64 {
		return "", fmt.Errorf("a rule id has 1 to 64 characters, not %d", len(s))
	}
	for _, word := range reservedRules {
		if s == word {
			return "", fmt.Errorf("%q cannot be a rule id: it is a command; reserved are %s", s, strings.Join(reservedRules, ", "))
		}
	}
	return RuleID(s), nil
}

// Digest is a SHA-256 sum; as text, 64 hexadecimal digits in lower case.
type Digest [sha256.Size]byte

// DigestOf hashes s.
func DigestOf(s string) Digest { return sha256.Sum256([]byte(s)) }

func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// IsZero says that the digest was never set.
func (d Digest) IsZero() bool { return d == Digest{} }

// ShortDigits is how many digits of a digest people read and type: 48 bits.
// A requester cannot search for a second request that shares them, because the
// nonce is chosen by the daemon after the request was made.
const ShortDigits = 12

// Short is the form for people: the first 12 digits.
func (d Digest) Short() string { return d.String()[:ShortDigits] }

// Matches says that typed is the digest or a beginning of it of at least
// ShortDigits digits. Upper case is fine here: a person typed it.
func (d Digest) Matches(typed string) bool {
	return len(typed) >= ShortDigits && strings.HasPrefix(d.String(), strings.ToLower(typed))
}

// ParseDigest reads the 64 digits.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	return d, parseHex(d[:], s, "a SHA-256 digest")
}

// Nonce makes every request different; chosen at random by the daemon.
type Nonce [16]byte

func (n Nonce) String() string { return hex.EncodeToString(n[:]) }

// ParseNonce reads the 32 digits.
func ParseNonce(s string) (Nonce, error) {
	var n Nonce
	return n, parseHex(n[:], s, "a nonce")
}

// InstallID names one installation of the broker, so that an approval for one
// host is worth nothing on another.
type InstallID [16]byte

func (i InstallID) String() string { return hex.EncodeToString(i[:]) }

// ParseInstallID reads the 32 digits.
func ParseInstallID(s string) (InstallID, error) {
	var i InstallID
	return i, parseHex(i[:], s, "an install id")
}

func parseHex(dst []byte, s, what string) error {
	raw, err := hex.DecodeString(s)
	if err != nil || len(raw) != len(dst) || strings.ToLower(s) != s {
		return fmt.Errorf("%q is not %s: %d hexadecimal digits in lower case", s, what, 2*len(dst))
	}
	copy(dst, raw)
	return nil
}

// RequestID is how people and programs name a request: 128 random bits, so it
// cannot be guessed. As text, 26 lower-case letters and digits.
type RequestID [16]byte

var idText = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

func (id RequestID) String() string { return idText.EncodeToString(id[:]) }

// IsZero says that the id was never set.
func (id RequestID) IsZero() bool { return id == RequestID{} }

// ParseRequestID reads the text form.
func ParseRequestID(s string) (RequestID, error) {
	var id RequestID
	raw, err := idText.DecodeString(s)
	if err == nil && len(raw) == len(id) {
		copy(id[:], raw)
	}
	if id.String() != s || id.IsZero() {
		return RequestID{}, fmt.Errorf("%q is no request id: 26 letters and digits as `list` prints them", s)
	}
	return id, nil
}
