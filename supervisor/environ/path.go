package environ

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// DefaultPath is the PATH of a call when the caller has none that is usable.
const DefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// CleanPath returns a PATH without empty and relative entries (they would mean
// the working directory, where anybody's file may lie), without repeated ones
// and without the folder links ("" = none). What remains keeps its order; when
// nothing remains it is DefaultPath. notes says what was dropped, fit for -v;
// for repeated entries and links nothing is said.
//
// The result is the PATH on which system commands are looked for. A call's
// PATH is links, then this.
func CleanPath(path, links string) (clean string, notes []string) {
	var kept []string
	if links != "" {
		links = filepath.Clean(links)
	}
	if path != "" {
		for entry := range strings.SplitSeq(path, ":") {
			switch {
			case entry == "":
				notes = append(notes, "PATH: dropped an empty entry")
			case !filepath.IsAbs(entry):
				notes = append(notes, fmt.Sprintf("PATH: dropped the relative entry %q", entry))
			case filepath.Clean(entry) == links, slices.Contains(kept, entry):
			default:
				kept = append(kept, entry)
			}
		}
	}
	if kept == nil {
		return DefaultPath, append(notes, "PATH: nothing usable in it, using the default")
	}
	return strings.Join(kept, ":"), notes
}
