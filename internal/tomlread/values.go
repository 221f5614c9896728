package tomlread

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"snens/internal/escape"
	"snens/internal/spelling"
)

// parseDuration reads "90s", "1m30s", "0.5s" and the like.
func parseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf(`%s is no time; write one as "90s" or "1m30s", or a number of seconds`, Quote(s))
	}
	return d, nil
}

var units = []struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"B", 1},
}

// parseSize reads "64KiB", "512MiB", "2GiB", "1TiB", "100B" and plain "4096".
func parseSize(s string) (int64, error) {
	number, unit := s, int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(s, u.name); ok {
			number, unit = rest, u.bytes
			break
		}
	}
	n, err := strconv.ParseUint(number, 10, 63)
	if err != nil || (n > 0 && int64(n) > math.MaxInt64/unit) {
		return 0, fmt.Errorf(`%s is no size; write one as "64KiB", "512MiB", "2GiB", or a number of bytes`, Quote(s))
	}
	return int64(n) * unit, nil
}

// SizeText prints a size in the largest unit that divides it.
func SizeText(n int64) string {
	for _, u := range []int{3, 2, 1, 0} {
		if n != 0 && n%units[u].bytes == 0 {
			return Quote(strconv.FormatInt(n/units[u].bytes, 10) + units[u].name)
		}
	}
	return strconv.FormatInt(n, 10)
}

// Quote prints a text as a string of the file, fit for a terminal.
func Quote(s string) string {
	return `"` + escape.Line(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)) + `"`
}

// QuoteAll prints a list of strings as the file would hold it.
func QuoteAll(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = Quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// nearest is the name closest to what was written, "" when none is close: at
// most a third of the letters may differ.
func nearest(written string, names []string) string {
	if len(written) > 64 {
		return ""
	}
	best, least := "", 1+max(1, len(written)/3)
	for _, name := range names {
		if d := spelling.Distance(written, name); d < least {
			best, least = name, d
		}
	}
	return best
}
