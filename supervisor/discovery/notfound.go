package discovery

import (
	"fmt"
	"slices"
	"strings"

	"snens/internal/spelling"
	"snens/supervisor/tool"
)

// NotFoundError says that no tools folder holds a tool of that name.
type NotFoundError struct {
	Name string
	// Near are up to three names that are there and look like it, the nearest first.
	Near []string
	// Why is set when no tool can ever have that name.
	Why error
}

func (e *NotFoundError) Error() string {
	if e.Why != nil {
		return fmt.Sprintf("cannot find tool: %v", e.Why)
	}
	return fmt.Sprintf("cannot find tool %q", e.Name)
}

// maxNear is how many names a hint holds.
const maxNear = 3

func (f *Finder) notFound(name string) error {
	_, why := tool.ParseName(name)
	if len(name) > tool.MaxName {
		return &NotFoundError{Name: name, Why: why}
	}
	var there []string
	for _, group := range f.newPass().scan().groups {
		if n := group[0].name; validCause(n) == "" {
			there = append(there, n)
		}
	}
	return &NotFoundError{Name: name, Near: nearest(name, there), Why: why}
}

// nearest returns the names that are at most a third of their length away
// from name, or begin with it.
func nearest(name string, there []string) []string {
	type hit struct {
		name string
		away int
	}
	var hits []hit
	for _, n := range there {
		away := spelling.Distance(strings.ToLower(name), strings.ToLower(n))
		switch {
		case away <= max(1, len(name)/3):
			hits = append(hits, hit{n, away})
		case len(name) >= 2 && strings.HasPrefix(n, name):
			hits = append(hits, hit{n, tool.MaxName + len(n)})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		if a.away != b.away {
			return a.away - b.away
		}
		return strings.Compare(a.name, b.name)
	})
	var names []string
	for _, h := range hits[:min(len(hits), maxNear)] {
		names = append(names, h.name)
	}
	return names
}
