package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snens/broker/action"
	"snens/internal/audit"
)

// world is a folder with a log.
type world struct {
	t   *testing.T
	dir string
	w   *audit.Writer
	at  time.Time
}

func newWorld(t *testing.T, o audit.Options) *world {
	t.Helper()
	dir := t.TempDir()
	o.Dir, o.StateDir = filepath.Join(dir, "log"), filepath.Join(dir, "state")
	if err := os.Mkdir(o.StateDir, 0o700); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: o.Dir, at: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)}
	var err error
	if w.w, err = audit.Open(o, w.at); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.w.Close() })
	return w
}

func (w *world) add(entries ...audit.Entry) {
	w.t.Helper()
	for _, e := range entries {
		w.at = w.at.Add(time.Minute)
		if err := w.w.Append(w.at, e); err != nil {
			w.t.Fatal(err)
		}
	}
}

// do runs the program.
func (w *world) do(args ...string) (code int, stdout, stderr string) {
	w.t.Helper()
	var out, errs bytes.Buffer
	argv := append([]string{"snens-audit", args[0], "--log-dir", w.dir}, args[1:]...)
	code = run(context.Background(), argv, &out, &errs)
	return code, out.String(), errs.String()
}

// lines runs the program, which must succeed, and gives what it printed.
func (w *world) lines(args ...string) []string {
	w.t.Helper()
	code, out, errs := w.do(args...)
	if code != 0 || errs != "" {
		w.t.Fatalf("%v: status %d, %s", args, code, errs)
	}
	return strings.Split(strings.TrimSuffix(out, "\n"), "\n")
}

func id(n byte) (id action.RequestID) {
	id[0], id[15] = 0xab, n
	return id
}

func received(n byte, uid action.UID, argv ...string) audit.Entry {
	return audit.Entry{Kind: audit.Received, ID: id(n), UID: uid, GID: 100, Argv: argv}
}

func decided(n byte, rule action.RuleID, decision string) audit.Entry {
	e := audit.Entry{Kind: audit.Decided, ID: id(n), Rule: rule, Decision: decision}
	if rule != "" {
		e.RuleDigest = action.DigestOf("rule")
	}
	return e
}

func pending(n byte) audit.Entry {
	return audit.Entry{Kind: audit.Pending, ID: id(n), Digest: action.DigestOf(fmt.Sprint(n))}
}

// numbers are the numbers of the records that are shown.
func numbers(t *testing.T, lines []string) string {
	t.Helper()
	var out []string
	for _, l := range lines {
		if f := strings.Fields(l); len(f) > 1 {
			out = append(out, f[1])
		}
	}
	return strings.Join(out, " ")
}
