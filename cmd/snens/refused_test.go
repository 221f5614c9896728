package main

import (
	"encoding/json"
	"strings"
	"testing"

	"snens/supervisor/call"
)

// However early a call is refused, with --json there is one whole record.
func TestEveryRefusalHasARecord(t *testing.T) {
	for _, c := range []struct {
		args, tool string
		class      call.Class
	}{
		{"call --json x --timeout bad", "x", call.ClassRefused},
		{"call x --timeout bad --json", "x", call.ClassRefused},
		{"--json call x --nonsense", "x", call.ClassRefused},
		{"call --json", "", call.ClassRefused},
		{"call x --json --status-fd 987", "x", call.ClassRefused},
		{"call x --json --cwd=", "x", call.ClassRefused},
		{"call --json none", "none", call.ClassStart},
	} {
		status, stdout, stderr := newRunner(t).run(strings.Fields(c.args)...)
		var r call.Record
		if err := json.Unmarshal([]byte(stdout), &r); err != nil {
			t.Errorf("%s: %v in %q", c.args, err, stdout)
			continue
		}
		if r.Tool != c.tool || r.Class != c.class || len(r.CallID) != 26 || !r.Capture || !strings.HasPrefix(r.Cwd, "/") || r.Content == "" {
			t.Errorf("%s: %s", c.args, stdout)
		}
		if status != r.ExitStatus() && status != 127 || stderr == "" {
			t.Errorf("%s: exit status %d, stderr %q", c.args, status, stderr)
		}
	}
	if _, stdout, _ := newRunner(t).run("call", "x", "--nonsense", "--", "--json"); stdout != "" {
		t.Errorf("a word of the tool's is taken for our option: %q", stdout)
	}
}

func TestAnEmptyValueIsNotTheDefault(t *testing.T) {
	for _, c := range []struct {
		args   string
		status int
		option string
	}{
		{"--config= tools", 2, "config"},
		{"--session= tools", 2, "session"},
		{"--tools-dir= tools", 2, "tools-dir"},
		{"--tools-dir=/ --tools-dir= tools", 2, "tools-dir"},
		{"--config=", 2, "config"},
		{"call x --cwd=", 125, "cwd"},
		{"--config= call x", 125, "config"},
	} {
		want := "snens: cannot use --" + c.option + ": its value is empty\nhint: give it a value, or leave --" + c.option + " out\n"
		if status, stdout, stderr := newRunner(t).run(strings.Fields(c.args)...); status != c.status || stdout != "" || stderr != want {
			t.Errorf("%s: got %d, %q, %q", c.args, status, stdout, stderr)
		}
	}
}
