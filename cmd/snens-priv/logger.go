package main

import (
	"io"
	"strings"

	"github.com/hashicorp/go-hclog"
)

// newLogger makes the log for administrators. It is no record of what happened
// (package audit keeps that) and may be lost.
func newLogger(w io.Writer, level string, journal bool) (hclog.Logger, error) {
	l := hclog.LevelFromString(level)
	if l == hclog.NoLevel || l == hclog.Trace || l == hclog.Off {
		return nil, usagef("cannot log at the level %q: the levels are debug, info, warn and error", level)
	}
	return hclog.New(&hclog.LoggerOptions{
		Name:        "snens-priv",
		Level:       l,
		Output:      escaping{w},
		DisableTime: journal, // it has its own
		TimeFormat:  "2006-01-02T15:04:05.000Z07:00",
	}), nil
}

// escaping makes each write one line with nothing in it that a terminal obeys:
// what is logged may quote a peer.
type escaping struct{ w io.Writer }

func (e escaping) Write(p []byte) (int, error) {
	if _, err := io.WriteString(e.w, line(strings.TrimRight(string(p), "\n"))+"\n"); err != nil {
		return 0, err
	}
	return len(p), nil
}
