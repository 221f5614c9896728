package logs

import (
	"testing"
	"time"
)

var (
	zone = time.FixedZone("X", 2*3600)
	now  = time.Date(2026, 3, 10, 15, 30, 20, 0, zone)
)

func TestParseTime(t *testing.T) {
	for in, want := range map[string]string{
		"now":                       "2026-03-10T15:30:20+02:00",
		"today":                     "2026-03-10T00:00:00+02:00",
		"yesterday":                 "2026-03-09T00:00:00+02:00",
		"20s":                       "2026-03-10T15:30:00+02:00",
		"30m":                       "2026-03-10T15:00:20+02:00",
		"30min":                     "2026-03-10T15:00:20+02:00",
		"2h":                        "2026-03-10T13:30:20+02:00",
		"7d":                        "2026-03-03T15:30:20+02:00",
		"1w":                        "2026-03-03T15:30:20+02:00",
		"09:05":                     "2026-03-10T09:05:00+02:00",
		"2026-01-02":                "2026-01-02T00:00:00+02:00",
		"2026-01-02 03:04":          "2026-01-02T03:04:00+02:00",
		"2026-01-02 03:04:05":       "2026-01-02T03:04:05+02:00",
		"2026-01-02T03:04:05Z":      "2026-01-02T03:04:05Z",
		"2026-01-02T03:04:05-07:00": "2026-01-02T03:04:05-07:00",
	} {
		if got, err := ParseTime(in, now); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%q: %s, %v; want %s", in, got.Format(time.RFC3339), err, want)
		}
	}
	for _, bad := range []string{"", "tomorrow", "2 h", "-2h", "1.5h", "25:00", "2026-13-01", "99999999d", "5y", "@1"} {
		if got, err := ParseTime(bad, now); err == nil {
			t.Errorf("%q is taken for %s", bad, got)
		}
	}
}

func TestStamp(t *testing.T) {
	for in, want := range map[string]string{
		"2026-01-02T03:04:05.123456+01:00 host x: y":                        "2026-01-02T03:04:05+01:00",
		"2026-01-02T03:04:05Z x":                                            "2026-01-02T03:04:05Z",
		"2026-01-02 03:04:05 status installed":                              "2026-01-02T03:04:05+02:00",
		"[2026-01-02 03:04:05,678] x":                                       "2026-01-02T03:04:05+02:00",
		"2026-01-02 03:04:05 +0100 x":                                       "2026-01-02T03:04:05+01:00",
		"Mar 10 15:00:00 host sshd[1]: x":                                   "2026-03-10T15:00:00+02:00",
		"Jan  2 03:04:05 host sshd[1]: x":                                   "2026-01-02T03:04:05+02:00",
		"Dec 31 23:59:59 host sshd[1]: x":                                   "2025-12-31T23:59:59+02:00",
		`1.2.3.4 - - [02/Jan/2026:03:04:05 -0500] "GET / HTTP/1.1" 200 612`: "2026-01-02T03:04:05-05:00",
	} {
		if got, ok := stamp(in, now); !ok || got.Format(time.RFC3339) != want {
			t.Errorf("%q: %s, %v; want %s", in, got.Format(time.RFC3339), ok, want)
		}
	}
	for _, none := range []string{"", "  at main.go:3", "Start-Date: 2026-01-02  03:04:05", "2026-99-02 03:04:05", "12:00:00 x"} {
		if got, ok := stamp(none, now); ok {
			t.Errorf("%q has the time %s", none, got)
		}
	}
}
