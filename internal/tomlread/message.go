package tomlread

import (
	"regexp"
	"strings"
)

// repeats are the places where the library's messages repeat what stands in the
// file, and what is left of them without. Names of keys may stay.
var repeats = [...]struct{ text, by string }{
	{`(?s),? but (?:got|found) .*$`, ""},
	{`(?s)^(Invalid (?:integer|float)) ".*": `, "$1: "},
	{`(?s)^((?:[Ii]nvalid|not an?|cannot use) [^:'"]*): ['"].*$`, "$1"},
	{`(?s)^.* is out of (range|the safe)`, "the number is out of $1"},
	{`(?s)^Escaped character '.*' is`, "the escaped character is"},
}

// withoutText is a message of the library without text of the file: that may be
// a secret, and errors are kept in logs. Line and column say where it is.
func withoutText(message string) string {
	if strings.HasSuffix(strings.TrimSuffix(message, " instead"), " but got end of file") || strings.HasPrefix(message, "Key '") {
		return message
	}
	for _, r := range repeats {
		// Compiled here: a start without such an error does not pay for it.
		message = regexp.MustCompile(r.text).ReplaceAllString(message, r.by)
	}
	return message
}
