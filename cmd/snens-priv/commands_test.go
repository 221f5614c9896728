package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snens/internal/audit"
	"snens/internal/testneed"
)

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args   []string
		code   int
		stdout string
		stderr string
	}{
		{nil, 2, "", "snens-priv COMMAND"},
		{[]string{"--version"}, 0, "snens-priv 0.1.0-dev\n", ""},
		{[]string{"check", "--help"}, 0, checkHelp, ""},
		{[]string{"serve", "-h"}, 0, serveHelp, ""},
		{[]string{"audit", "verify", "--help"}, 0, verifyHelp, ""},
		{[]string{"audit"}, 2, "", `cannot do "audit"`},
		{[]string{"chek"}, 2, "", `cannot do "chek": there is no such command`},
		{[]string{"check", "--nonsense"}, 2, "", "nonsense"},
		{[]string{"check", "x"}, 2, "", `"x" is not expected`},
		{[]string{"\x1b[2J"}, 2, "", `\x1b[2J`},
		{[]string{"explain"}, 2, "", "no command"},
		{[]string{"explain", "--", "id"}, 2, "", "--as USER"},
		{[]string{"explain", "--as", "root", "--rule", "a b"}, 2, "", "cannot explain"},
		{[]string{"explain", "--as", "root", "--rule", "a", "unit"}, 2, "", "is not SLOT=WORD"},
		{[]string{"audit", "verify", "--no-head", "--state-dir", "/x"}, 2, "", "exclude each other"},
	} {
		code, out, errs := do(c.args...)
		if code != c.code || out != c.stdout || !strings.Contains(errs, c.stderr) || c.stderr == "" && errs != "" {
			t.Errorf("%q: status %d\n%s%s", c.args, code, out, errs)
		}
		if strings.Contains(errs, "\x1b") {
			t.Errorf("%q: an escape sequence reaches the terminal", c.args)
		}
	}
	if code, out, _ := do("--help"); code != 0 || strings.Count(out, "\n    ") != len(commands()) {
		t.Errorf("--help: %d\n%s", code, out)
	}
	for _, argv := range [][]string{nil, {}, {""}} {
		var out, errs strings.Builder
		if code := run(argv, nil, &out, &errs); code != 2 || errs.Len() == 0 || out.Len() > 0 {
			t.Errorf("argv %q: %d %s", argv, code, errs.String())
		}
	}
}

func TestCheck(t *testing.T) {
	testneed.Root(t) // whose the files are
	config := filepath.Join(folder(t), "priv.toml")
	write(t, config, policyText)
	if code, out, errs := do("check", "--config", config); code != 0 || !strings.HasSuffix(out, "5 rules in 1 file, 0 findings\n") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	must(t, os.Mkdir(strings.TrimSuffix(config, ".toml")+".d", 0o755))
	write(t, strings.TrimSuffix(config, ".toml")+".d/more.toml", `
[[rule]]
id = "gone"
decision = "allow"
command = "/usr/bin/no-such-program"
args = []
from = ["uid:54331"]
`)
	code, out, errs := do("check", "--config", config)
	if code != 0 || !strings.Contains(out, "warning: "+strings.TrimSuffix(config, ".toml")+".d/more.toml:3:") || !strings.HasSuffix(out, "6 rules in 2 files, 1 finding\n") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if code, _, errs := do("check", "--strict", "--config", config); code != 1 || errs != "" {
		t.Errorf("strict: %d %s", code, errs)
	}
	write(t, config, policyText+"[[rule]]\nid = \"x\"\nneeds = 1\n")
	code, _, errs = do("check", "--config", config)
	if code != 1 || !strings.HasPrefix(errs, "snens-priv: cannot use the policy") || !strings.Contains(errs, "priv.toml:") || !strings.Contains(errs, "needs") {
		t.Errorf("a fault: %d %s", code, errs)
	}
	if code, _, errs := do("check", "--config", config+"-none"); code != 1 || !strings.Contains(errs, "priv.toml-none") {
		t.Errorf("no file: %d %s", code, errs)
	}
}

func TestExplain(t *testing.T) {
	testneed.Root(t)
	config := write(t, filepath.Join(folder(t), "priv.toml"), policyText)
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--as", "54331", "--", "/usr/bin/echo", "hello", "you"}, []string{"matched  hello", "\nallow    by rule hello\n"}},
		{[]string{"--as", "54331", "--rule", "hello", "who=you"}, []string{"\nallow    by rule hello\n"}},
		{[]string{"--as", "54331", "--", "/usr/bin/echo", "hello", "YOU"}, []string{"args     hello: ", "slot who", "\ndeny "}},
		{[]string{"--as", "54331", "--", "/usr/bin/id", "-u"}, []string{"\nask      by rule whoami\n"}},
		{[]string{"--as", "nobody", "--", "/usr/bin/id", "-u"}, []string{"from     whoami: ", "\ndeny "}},
		{[]string{"--as", "root", "--", "/usr/bin/cat", "x"}, []string{"\ndeny     by rule never (rule_denies)"}},
	} {
		code, out, errs := do(append([]string{"explain", "--config", config}, c.args...)...)
		for _, want := range c.want {
			if code != 0 || !strings.Contains(out, want) {
				t.Errorf("%q: %d, want %q in\n%s%s", c.args, code, want, out, errs)
			}
		}
	}
	_, out, _ := do("explain", "--config", config, "--json", "--as", "54331", "--", "/usr/bin/id", "-u")
	var e struct{ Decision, Rule string }
	if err := json.Unmarshal([]byte(out), &e); err != nil || e.Decision != "ask" || e.Rule != "whoami" {
		t.Errorf("%s: %v", out, err)
	}
	for _, args := range [][]string{
		{"--as", "no-such-user", "--", "id"}, {"--as", "4294967295", "--", "id"}, {"--as", "-1", "--", "id"}, {"--as", "root", "--rule", "nothing"},
	} {
		if code, _, errs := do(append([]string{"explain", "--config", config}, args...)...); code != 1 || !strings.Contains(errs, "cannot explain") {
			t.Errorf("%q: %d %s", args, code, errs)
		}
	}
}

func TestVerify(t *testing.T) {
	dir := t.TempDir()
	logs, state := filepath.Join(dir, "log"), filepath.Join(dir, "state")
	must(t, os.Mkdir(state, 0o700))
	w, err := audit.Open(audit.Options{Dir: logs, StateDir: state}, time.Now())
	must(t, err)
	for range 5 {
		must(t, w.Append(time.Now(), audit.Entry{Kind: audit.Stop, Detail: "a test"}))
	}
	must(t, w.Close())
	verify := func(more ...string) (int, string, string) {
		return do(append([]string{"audit", "verify", "--log-dir", logs}, more...)...)
	}
	code, out, errs := verify("--state-dir", state)
	if code != 0 || !strings.Contains(out, "5 records in 1 file") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	segments, err := audit.Segments(logs)
	must(t, err)
	path := filepath.Join(logs, segments[0].Name)
	text, err := os.ReadFile(path)
	must(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	for name, c := range map[string]struct {
		text string
		want string
		bare int // status without a head
	}{
		"a changed byte":   {strings.Replace(string(text), "a test", "a best", 1), segments[0].Name + ":1: record 1", 1},
		"a missing record": {lines[0] + lines[1] + lines[3] + lines[4], "record 3", 1},
		"the tail cut off": {strings.Join(lines[:3], ""), "record", 0},
	} {
		must(t, os.WriteFile(path, []byte(c.text), 0o600))
		if code, _, errs := verify("--state-dir", state); code != 1 || !strings.Contains(errs, c.want) {
			t.Errorf("%s: %d, want %q in %s", name, code, c.want, errs)
		}
		if code, out, errs := verify("--no-head"); code != c.bare || code == 0 && !strings.Contains(out, "without a head") {
			t.Errorf("%s, without a head: %d %s%s", name, code, out, errs)
		}
	}
	if code, _, errs := verify("--state-dir", dir); code != 1 || !strings.Contains(errs, "--no-head") {
		t.Errorf("no head: %d %s", code, errs)
	}
}

func TestLogLevel(t *testing.T) {
	if _, err := newLogger(os.Stderr, "loud", false); err == nil {
		t.Error("there is a level called loud")
	}
	var out strings.Builder
	l, err := newLogger(&out, "info", true)
	must(t, err)
	l.Debug("nothing")
	l.Error("a \x1b[2J fault\nsnens-priv: all is well", "of", "x\u202ey\r")
	if got := out.String(); strings.Count(got, "\n") != 1 || strings.ContainsAny(got, "\x1b\r\u202e") || !strings.Contains(got, "[ERROR]") {
		t.Errorf("it logs %q", got)
	}
}
