package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	serviceKey = "sk-service-0123456789"
	grantedKey = "granted-key-0123456789"
	setKey     = "set-key-0123456789"
)

// A key in the environment of snens is in no child: not in that of a call, not
// in that of a probe, not in that of a self-test.
func TestNoChildGetsTheServicesKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setenv("OPENAI_API_KEY", serviceKey)
	w.setenv("WEATHER_TOKEN", grantedKey)
	w.config("[tool.other]\nenv_pass = [\"WEATHER_TOKEN\"]\n")
	w.tool("show", "env; cat /proc/$PPID/environ 2>/dev/null | tr '\\0' '\\n' >parent; exit 0")
	w.file("tools/probed/probed", "#!/bin/sh\nenv\n", 0o755)
	w.file("tools/show/selftest.sh", "#!/bin/sh\nenv\nexit 1\n", 0o755)
	for _, args := range [][]string{
		{"call", "show"},
		{"call", "--json", "show"},
		{"tools", "--json", "--refresh"},
		{"tools", "probed"},
		{"check"},
		{"test", "show"},
	} {
		r := w.run(args...)
		for _, key := range []string{serviceKey, grantedKey} {
			if strings.Contains(r.stdout+r.stderr, key) {
				t.Errorf("%v shows %s", args, key)
			}
		}
	}
	if r := w.run("call", "show"); !strings.Contains(r.stdout, "SNENS_CALL_ID=") || strings.Contains(r.stdout, "OPENAI") {
		t.Errorf("the environment of a call:\n%s", r.stdout)
	}
}

// Granted values and secret fields are redacted in every result, in every
// spill file, and wherever a piece of the output is cut.
func TestGrantsAreRedacted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setenv("WEATHER_TOKEN", grantedKey)
	w.config("[tool.leaky]\nenv_pass = [\"WEATHER_TOKEN\"]\nenv = {OTHER = \"" + setKey + "\"}\nlimits = {output = \"1KiB\"}\n")
	w.tool("leaky", `cat >field
i=0; while [ $i -lt 2000 ]; do echo "a $WEATHER_TOKEN b $OTHER c $(cat field)"; echo "e $WEATHER_TOKEN" >&2; i=$((i+1)); done; exit 1`)
	w.file("tools/leaky/schema.json", `{"type": "object", "properties": {"pin": {"type": "string", "secret": true}},
		"x-snens": {"argv": [], "stdin": {"mode": "field", "field": "pin"}}}`, 0o644)
	const pin = "pin-0123456789"
	r := w.run("call", "--json", "leaky", "pin="+pin)
	rec := readRecord(t, r.stdout)
	if r.status != 1 || rec.Spill == nil {
		t.Fatalf("%d, %q, %+v", r.status, r.stderr, rec)
	}
	line := "a [redacted] b [redacted] c [redacted]\n"
	kept, err := os.ReadFile(rec.Spill.Stdout)
	if err != nil || string(kept) != strings.Repeat(line, 2000) {
		t.Errorf("the spill file has %d bytes, begins %q, %v", len(kept), kept[:min(len(kept), 80)], err)
	}
	keptErr, err := os.ReadFile(rec.Spill.Stderr)
	if err != nil || string(keptErr) != strings.Repeat("e [redacted]\n", 2000) {
		t.Errorf("the spill file of stderr has %d bytes, %v", len(keptErr), err)
	}
	if rec.Truncated.Stdout != int64(2000*len(line)) {
		t.Errorf("truncated %+v", rec.Truncated)
	}
	files := w.shell(`grep -rlE "` + grantedKey + `|` + setKey + `|` + pin + `" home | grep -v snens.toml || true`)
	if files != "" || strings.Contains(r.stdout+r.stderr, "0123456789") {
		t.Errorf("a secret is in the result, or in the files\n%s", files)
	}
	// Where nothing could be redacted, nothing is started.
	must(t, os.Remove(filepath.Join(w.work, "field")))
	if r := w.run("call", "leaky", "pin="+pin); r.status != 125 || !strings.Contains(r.stderr, "\nhint: call it with --json") || strings.Contains(r.stderr, pin) {
		t.Errorf("a plain call: %+v", r)
	}
	if _, err := os.Stat(filepath.Join(w.work, "field")); err == nil {
		t.Error("the plain call was started")
	}
}
