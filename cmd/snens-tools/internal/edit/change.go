// Package edit replaces exact text in a file's content: one place, or all of
// them when that is asked for. A text that occurs twice is refused with the
// lines where it occurs, one that does not occur with the nearest thing that
// does, so that the next attempt can be right.
//
// ParseChange reads a change, Apply applies it to content in memory, and
// Unified and Show say what happened. Nothing here touches files; atomicfile
// writes them.
package edit

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"snens/cmd/snens-tools/internal/visible"
	"snens/internal/strictjson"
)

// MaxChange is the longest change in bytes of JSON.
const MaxChange = 16 << 20

// Change is one replacement. Old is never empty.
type Change struct {
	Old, New string
	All      bool // every occurrence, instead of the only one
}

// ParseChange reads the JSON object {"old": ..., "new": ..., "all": ...}.
// Names are exact, each may stand once, and unknown ones are refused.
func ParseChange(r io.Reader) (Change, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxChange+1))
	switch {
	case err != nil:
		return Change{}, fmt.Errorf("cannot read the change from stdin: %w", err)
	case len(data) > MaxChange:
		return Change{}, fmt.Errorf("the change is longer than %s", visible.Size(MaxChange))
	case len(bytes.TrimSpace(data)) == 0:
		return Change{}, errors.New("no change on stdin")
	}
	value, err := strictjson.Parse(data, strictjson.Options{MaxBytes: MaxChange, MaxDepth: 4, MaxTokens: 16})
	if err != nil {
		return Change{}, fmt.Errorf("the change on stdin is not right: %w", err)
	}
	c, err := fields(value)
	if err != nil {
		return Change{}, fmt.Errorf("the change on stdin is not right: %w", err)
	}
	return c, nil
}

func fields(value strictjson.Value) (Change, error) {
	var c Change
	if value.Kind != strictjson.Object {
		return c, fmt.Errorf("it must be an object, not a value of type %s", value.Kind)
	}
	for _, m := range value.Members {
		switch m.Name {
		case "old", "new":
			if m.Value.Kind != strictjson.String {
				return c, fmt.Errorf("field %q must be a string, not of type %s", m.Name, m.Value.Kind)
			}
		case "all":
			if m.Value.Kind != strictjson.Bool && m.Value.Kind != strictjson.Null {
				return c, fmt.Errorf("field %q must be true or false", m.Name)
			}
			c.All = m.Value.Bool
		default:
			return c, fmt.Errorf("field %q is unknown; known are old, new, all", m.Name)
		}
	}
	before, after := value.Get("old"), value.Get("new")
	if before == nil || after == nil {
		return c, errors.New(`it needs the fields "old" and "new"`)
	}
	c.Old, c.New = before.Text, after.Text
	switch {
	case c.Old == "":
		return c, errors.New(`"old" must not be empty; write creates files`)
	case c.Old == c.New:
		return c, errors.New(`"old" and "new" are the same: nothing would change`)
	}
	return c, nil
}
