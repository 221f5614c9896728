package policy

import (
	"fmt"

	"snens/internal/tomlread"
)

// quote prints untrusted text for a message.
func quote(s string) string { return tomlread.Quote(s) }

func quoteEach(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = quote(s)
	}
	return out
}

// errMissing is the error for what this version cannot do.
func errMissing(what string) error {
	return fmt.Errorf("%s is not available in this version; remove it", what)
}
