package tomlread_test

import (
	"errors"
	"strings"
	"testing"

	"snens/internal/tomlread"
)

// A value that is no TOML may be a secret all the same: nobody repeats it.
func TestSyntaxErrorsRepeatNoValue(t *testing.T) {
	for value, want := range map[string]string{
		"TOPSECRET99":            "1:12: expected value",
		"trueSECRET":             "1:12: expected value",
		"'a' SECRET":             "expected a comma or an inline table terminator '}'",
		"[1 SECRET]":             "expected a comma (',') or array terminator (']')",
		"\"\\uSECRET\"":          `expected four hexadecimal digits after '\u'`,
		"\"\\U0000d8SECRET\"":    `expected eight hexadecimal digits after '\U'`,
		"\"\\ud877\"":            "the escaped character is not valid UTF-8",
		"8877.":                  "Invalid float",
		"8877.e":                 "Invalid float",
		"88__77":                 "Invalid integer: underscores must be surrounded by digits",
		"08877":                  "Invalid integer: cannot have leading zeroes",
		"8877887788778877887788": "the number is out of range for int64",
		"8877e8877":              "the number is out of range for float64",
		"8877-88-77":             "invalid datetime",
		"0xSECRET":               "not a hexadecimal number",
		"+0x8877":                "cannot use sign with non-decimal numbers",
		"\"SECRET":               "strings cannot contain newlines",
		"SECRET = 1":             "expected value",
	} {
		_, _, err := tomlread.Open("f", "env = {TOK="+value+"}\n")
		var f *tomlread.Fault
		if !errors.As(err, &f) || f.Line != 1 || !strings.Contains(f.Error(), want) {
			t.Errorf("%s: %v, want %s", value, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "8877")) {
			t.Errorf("%s: repeated: %v", value, err)
		}
	}
	for text, want := range map[string]string{
		"a.b = 1\na.b = 2": "f:2:1: Key 'a.b' has already been defined.",
		"a = [1":           "f:1:6: expected a comma (',') or array terminator (']'), but got end of file",
		"a = 1 b":          "f:1:6: expected a top-level item to end with a newline, comment, or EOF",
	} {
		if _, _, err := tomlread.Open("f", text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
