package discovery

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"snens/supervisor/tool"
)

// failureLife is how long a failed probe is believed.
const failureLife = 10 * time.Minute

// entry is what was read about one tool, with everything it depends on.
type entry struct {
	path  string // tools_dir/NAME/NAME
	scope string // uid, version, language: see scopeOf

	link       string
	target     fileID
	schemaID   fileID
	helpID     fileID
	interp     string // a script's interpreter, "" for others
	interpID   fileID
	env        string // what a script gives to env, "" for others
	written    int64  // wall clock, ns since 1970
	cause      string
	desc       tool.Description
	schema     string // content of schema.json, "" when not used
	schemaNote string
}

func newEntry(l sight, now time.Time) entry {
	return entry{
		path: l.path(), link: l.link, target: l.target, schemaID: l.schema, helpID: l.help,
		written: now.UnixNano(),
	}
}

// fits: nothing that the entry depends on has changed.
func (e *entry) fits(l sight, interp fileID) bool {
	return e.link == l.link && e.target == l.target && e.schemaID == l.schema && e.helpID == l.help && e.interpID == interp
}

// fresh: a success always, a failure for a while. A clock that was set back
// must not keep a failure, so one from the future is not believed.
func (e *entry) fresh(now time.Time) bool {
	if e.cause == "" {
		return true
	}
	age := now.Sub(time.Unix(0, e.written))
	return age >= 0 && age < failureLife
}

// scopeOf names what all descriptions depend on: the user, the version of
// SNENS and the language. Different scopes live side by side in one cache.
func scopeOf(version string, env []string) string {
	last := map[string]string{}
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if name == "LANG" || strings.HasPrefix(name, "LC_") {
			last[name] = kv
		}
	}
	parts := []string{fmt.Sprint(unix.Geteuid()), version}
	names := make([]string, 0, len(last))
	for _, kv := range last {
		names = append(names, kv)
	}
	slices.Sort(names)
	return strings.Join(append(parts, names...), "\x00")
}
