package action

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// MaxDuration is the longest time limit or lifespan: 30 days.
const MaxDuration = 30 * 24 * time.Hour

var units = []struct {
	name string
	unit time.Duration
}{{"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}}

// FormatDuration is the one spelling of a duration in texts and JSON: hours,
// minutes, seconds and milliseconds, those that are not zero, largest first
// ("1h30m", "15m", "500ms"). d must be positive and a whole number of milliseconds.
func FormatDuration(d time.Duration) string {
	var b strings.Builder
	for _, u := range units {
		if n := d / u.unit; n > 0 {
			b.WriteString(strconv.FormatInt(int64(n), 10))
			b.WriteString(u.name)
			d -= n * u.unit
		}
	}
	return b.String()
}

// ParseDuration reads what FormatDuration writes, nothing else ("90s" is
// "1m30s"), up to MaxDuration.
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || checkDuration(d) != nil || FormatDuration(d) != s {
		return 0, fmt.Errorf("%q is no duration; write it like 1h30m, 15m or 500ms, at most 720h", s)
	}
	return d, nil
}

func checkDuration(d time.Duration) error {
	if d <= 0 || d > MaxDuration || d%time.Millisecond != 0 {
		return fmt.Errorf("%v is no duration of whole milliseconds from 1ms to 720h", d)
	}
	return nil
}
