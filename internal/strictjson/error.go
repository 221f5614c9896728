package strictjson

import (
	"fmt"
	"strconv"
)

// Error says what was wrong, where in the bytes, and in which field.
type Error struct {
	Line   int    // from 1
	Column int    // from 1, in characters
	Path   string // "argv[2].flag"; "" at the top
	Msg    string // lower case, what is wrong and what is right
}

// Error gives "line 3, column 7: argv[2].flag: ...".
func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
	}
	return fmt.Sprintf("line %d, column %d: %s: %s", e.Line, e.Column, e.Path, e.Msg)
}

// Field is the path of the member name of the object at path: "a.b", or
// `a["b c"]` when the name is not made of letters, digits, _, - and $.
func Field(path, name string) string {
	if !plainName(name) {
		return path + "[" + strconv.Quote(name) + "]"
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// Index is the path of item i of the array at path: "a[3]".
func Index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

func plainName(s string) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '_', c == '-', c == '$':
		default:
			return false
		}
	}
	return s != ""
}
