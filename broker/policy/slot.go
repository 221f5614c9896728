package policy

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is what may fill a slot.
type Kind string

// The kinds of slots.
const (
	KindEnum Kind = "enum" // one of Values
	KindInt  Kind = "int"  // a whole number from Min to Max, in plain digits
	KindWord Kind = "word" // what Pattern matches as a whole, at most Max bytes
	KindUser Kind = "user" // a user that exists, with a uid from Min to Max
	KindUnit Kind = "unit" // the full name of one systemd unit
	KindPath Kind = "path" // an absolute path beneath Beneath
)

// As is how a path reaches the command.
type As string

// The words of as.
const (
	AsText As = "text" // as it is; everything above it must be root's
	AsFD   As = "fd"   // as /proc/self/fd/3, opened with the requester's rights
)

// Slot is a free argument of a rule.
type Slot struct {
	Name      string   `toml:"slot"`
	Kind      Kind     `toml:"kind"`
	Values    []string `toml:"values"`
	Min       int64    `toml:"min"`
	Max       int64    `toml:"max"`
	Pattern   string   `toml:"pattern"`
	Beneath   string   `toml:"beneath"`
	As        As       `toml:"as"`
	Many      int      `toml:"many"`       // how many words may fill it; 1 without the key
	Optional  bool     `toml:"optional"`   // no word may fill it as well
	AllowDash bool     `toml:"allow_dash"` // a word may begin with a dash

	pattern *regexp.Regexp
}

const (
	maxWordDefault = 255
	maxPath        = 4095
	maxComponents  = 256
	maxUnit        = 255
)

var unitForm = regexp.MustCompile(`\A[A-Za-z0-9:_.\\@-]+\.(service|socket|device|mount|automount|swap|target|path|timer|slice|scope)\z`)

// reject says why the word cannot fill the slot by its text alone, "" when it can.
// loose is for rules that deny: what is no text matches as well, and a path is
// what it means rather than how it is written.
func (s *Slot) reject(word string, loose bool) string {
	switch {
	case word == "":
		return "an empty word fills no slot"
	case word[0] == '-' && !s.AllowDash:
		return "a word that begins with a dash fills no slot without allow_dash"
	}
	switch s.Kind {
	case KindEnum:
		if !slices.Contains(s.Values, word) {
			return "must be one of " + strings.Join(quoteEach(s.Values), ", ")
		}
	case KindInt:
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != word || n < s.Min || n > s.Max {
			return fmt.Sprintf("must be a whole number from %d to %d in plain digits", s.Min, s.Max)
		}
	case KindWord:
		if int64(len(word)) > s.Max {
			return fmt.Sprintf("must have at most %d bytes", s.Max)
		}
		if !loose && !utf8.ValidString(word) || !s.pattern.MatchString(word) {
			return "must match the pattern " + quote(s.Pattern)
		}
	case KindUser:
		if accountName(word) != nil {
			return "must be the name of a user"
		}
	case KindUnit:
		if len(word) > maxUnit || !unitForm.MatchString(word) || !s.alsoMatches(word) {
			return s.unitWants()
		}
	case KindPath:
		return s.rejectPath(word, loose)
	default:
		return "the slot is of no known kind"
	}
	return ""
}

func (s *Slot) alsoMatches(word string) bool {
	return s.pattern == nil || s.pattern.MatchString(word)
}

func (s *Slot) unitWants() string {
	if s.pattern != nil {
		return "must be the full name of a unit that matches the pattern " + quote(s.Pattern)
	}
	return "must be the full name of a unit, such as nginx.service"
}

func (s *Slot) rejectPath(word string, loose bool) string {
	if loose {
		word = path.Clean(word)
	}
	switch {
	case len(word) > maxPath || strings.Count(word, "/") > maxComponents:
		return "is too long for a path"
	case !path.IsAbs(word) || path.Clean(word) != word:
		return "must be an absolute path without //, . and .."
	case !beneath(s.Beneath, word):
		return "must lie beneath " + quote(s.Beneath)
	}
	return ""
}

// beneath says that the clean path p lies below the clean folder.
func beneath(folder, p string) bool {
	rest, ok := strings.CutPrefix(p, folder)
	return ok && len(rest) > 1 && (rest[0] == '/' || folder == "/") || folder == "/" && len(p) > 1
}

// look asks the machine what the text cannot tell. reveal is for the
// administrator; a requester must not learn what exists.
func (s *Slot) look(word string, host Host) (reveal error) {
	switch {
	case s.Kind == KindUser:
		account, err := host.Accounts.User(word)
		if err != nil {
			return err
		}
		if int64(account.UID) < s.Min || int64(account.UID) > s.Max {
			return fmt.Errorf("user %s has the uid %d, which is not from %d to %d", quote(word), account.UID, s.Min, s.Max)
		}
	case s.Kind == KindPath && s.As == AsText:
		// What does not exist is made by the command; who could make it first
		// is what counts.
		if err := host.Files.Trusted(path.Dir(word)); err != nil {
			return err
		}
		return host.Files.Beneath(s.Beneath, word)
	}
	return nil
}
