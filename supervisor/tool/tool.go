// Package tool is the vocabulary of tools: what a tool is called, where it lies,
// how it describes itself, and why one is set aside. It does no I/O.
//
// Use it wherever tools are passed between packages. Finding tools is
// supervisor/discovery; their typed interface is supervisor/xsnens.
package tool

import (
	"fmt"
	"slices"
)

// Name is a tool's name: 1 to 64 characters of A-Z a-z 0-9 _ -, and none of
// the reserved names. Only ParseName makes one from outside text.
type Name string

// MaxName is the longest tool name in bytes.
const MaxName = 64

var reserved = []string{"run", "snens", "snens-priv"}

// Reserved lists the names no tool may have, sorted.
func Reserved() []string { return slices.Clone(reserved) }

// ParseName checks s and returns it as a Name. The error names the rule that
// was broken and is fit for a user.
func ParseName(s string) (Name, error) {
	switch {
	case s == "":
		return "", fmt.Errorf("a tool name must not be empty")
	case len(s) > MaxName:
		return "", fmt.Errorf("tool name is %d bytes long; at most %d are allowed", len(s), MaxName)
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return "", fmt.Errorf("tool name %q has a character outside A-Z a-z 0-9 _ -", s)
		}
	}
	if slices.Contains(reserved, s) {
		return "", fmt.Errorf("tool name %q is reserved", s)
	}
	return Name(s), nil
}

// Source says where a description came from.
type Source string

// The sources, in the order in which they are tried.
const (
	SourceHelpFile Source = "help.txt"
	SourceComments Source = "comments"
	SourceHelp     Source = "--help"
)

// Description is what a tool says about itself.
type Description struct {
	Essence string `json:"essence"` // one line; never empty for a healthy tool
	Usage   string `json:"usage"`   // one line; may be empty
	Source  Source `json:"source"`
	// NeedsStdin is set when essence or usage holds the word stdin.
	NeedsStdin bool `json:"needs_stdin"`
}

// Text is the description a model sees: essence, newline, usage.
func (d Description) Text() string {
	if d.Usage == "" {
		return d.Essence
	}
	return d.Essence + "\n" + d.Usage
}

// Tool is a healthy tool. Its typed interface, where it has one, is loaded
// from SchemaPath by whoever needs it.
type Tool struct {
	Name Name
	Dir  string // tools_dir/NAME, absolute
	Path string // tools_dir/NAME/NAME, absolute, link not followed
	Description
	// Schema is the content of schema.json, nil when there is none or it is not usable.
	Schema []byte
	// SchemaNote says why a schema.json that exists is not used; "" otherwise.
	SchemaNote string
}

// Ref says where a tool lies, without its description.
type Ref struct {
	Name Name
	Path string // tools_dir/NAME/NAME, absolute, link not followed
}

// Ref returns the tool's place.
func (t Tool) Ref() Ref { return Ref{Name: t.Name, Path: t.Path} }

// Quarantined is a tool that was set aside, with the cause.
type Quarantined struct {
	Name string `json:"name"`
	Path string `json:"path"`
	// Cause is one line fit for a user: no name, no path, no final stop.
	Cause string `json:"cause"`
	// Here: the cause is the state of this machine (no descriptors, processes,
	// memory or room left), and the tool may be as it should. Nothing of the tool
	// is to be mended, and another try may find it healthy.
	Here bool `json:"-"`
}

// Shadowed is a tool hidden by one of the same name in an earlier folder.
type Shadowed struct {
	Name Name   `json:"name"`
	Path string `json:"path"` // the hidden one
	By   string `json:"by"`   // the one that wins
}
