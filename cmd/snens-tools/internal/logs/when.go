package logs

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// lazily compiles an expression at its first use: most calls of this program
// need none of them.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

var ago = lazily(`^([0-9]{1,6})(s|m|min|h|d|w)$`)

// ParseTime reads a point in time: "30m", "2h", "7d" (before now), "today",
// "yesterday", "now", "15:04" (today), "2006-01-02", "2006-01-02 15:04",
// "2006-01-02 15:04:05" in the zone of now, or RFC 3339.
func ParseTime(s string, now time.Time) (time.Time, error) {
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch s {
	case "now":
		return now, nil
	case "today":
		return midnight, nil
	case "yesterday":
		return midnight.AddDate(0, 0, -1), nil
	}
	if m := ago().FindStringSubmatch(s); m != nil {
		n, _ := strconv.Atoi(m[1])
		unit := map[string]time.Duration{
			"s": time.Second, "m": time.Minute, "min": time.Minute,
			"h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
		}[m[2]]
		return now.Add(-time.Duration(n) * unit), nil
	}
	for _, layout := range []string{"2006-01-02", "2006-01-02 15:04", "2006-01-02 15:04:05", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t, nil
		}
	}
	if t, err := time.ParseInLocation("15:04", s, now.Location()); err == nil {
		return midnight.Add(time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute), nil
	}
	return time.Time{}, fmt.Errorf(`must be like 30m, 2h, 7d, today, yesterday, 15:04, "2006-01-02 15:04" or RFC 3339, not %q`, s)
}

var (
	isoStamp    = lazily(`^\[?(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,]\d+)?\s?(Z|[+-]\d\d:?\d\d)?`)
	accessStamp = lazily(`\[(\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\]`)
)

// stamp finds the time at which a line of a log file was written. Lines
// without a year are of the last twelve months.
func stamp(line string, now time.Time) (time.Time, bool) {
	if m := isoStamp().FindStringSubmatch(line); m != nil {
		zone := strings.ReplaceAll(m[3], ":", "")
		if zone == "Z" {
			zone = "+0000"
		}
		if zone == "" {
			t, err := time.ParseInLocation("2006-01-02 15:04:05", m[1]+" "+m[2], now.Location())
			return t, err == nil
		}
		t, err := time.Parse("2006-01-02 15:04:05 -0700", m[1]+" "+m[2]+" "+zone)
		return t, err == nil
	}
	if len(line) >= len(time.Stamp) {
		if t, err := time.ParseInLocation(time.Stamp, line[:len(time.Stamp)], now.Location()); err == nil {
			t = t.AddDate(now.Year(), 0, 0)
			if t.After(now.AddDate(0, 0, 1)) {
				t = t.AddDate(-1, 0, 0)
			}
			return t, true
		}
	}
	// Web servers write it further in.
	if m := accessStamp().FindStringSubmatch(line[:min(len(line), 300)]); m != nil {
		t, err := time.Parse("02/Jan/2006:15:04:05 -0700", m[1])
		return t, err == nil
	}
	return time.Time{}, false
}
