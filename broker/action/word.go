package action

import (
	"fmt"
	"strings"
)

// words are the spellings of an enumeration; the first, of the zero value, is
// empty and never accepted.
type words []string

func (w words) at(i uint8) string {
	if i == 0 || int(i) >= len(w) {
		return fmt.Sprintf("invalid(%d)", i)
	}
	return w[i]
}

func (w words) parse(what, s string) (uint8, error) {
	for i, word := range w {
		if i > 0 && word == s {
			return uint8(i), nil
		}
	}
	return 0, fmt.Errorf("%q is no %s; allowed are %s", s, what, strings.Join(w[1:], ", "))
}

var stdinWords = words{"", "none", "sealed", "pass"}

func (m StdinMode) String() string { return stdinWords.at(uint8(m)) }

// ParseStdinMode reads none, sealed or pass.
func ParseStdinMode(s string) (StdinMode, error) {
	m, err := stdinWords.parse("mode of stdin", s)
	return StdinMode(m), err
}
