package policy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"snens/broker/policy"
)

func TestExplain(t *testing.T) {
	m := new(machine)
	p, err := m.parse(rule("bob", "allow", "from = ['user:bob']") + rule("other", "ask", "command = '/usr/bin/other'") +
		restartWeb + rule("deny", "deny", `args = ["stop"]`) + rule("last", "allow", `args = ["restart", {slot = "a", kind = "unit"}, "x"]`) +
		rule("restart", "allow", `args = ["restart", {slot = "u", kind = "unit"}]`) + rule("never", "allow", `args = ["never"]`))
	must(t, err)
	e := p.Explain(request(deploy, "systemctl", "restart", "db.service"))
	want := []struct {
		id        policy.RuleID
		step      policy.Step
		arg, word string
		why       string
	}{
		{"deny", policy.StepArgs, "argument 1", "restart", `argument 1: "restart": must be "stop"`},
		{"bob", policy.StepFrom, "", "", "the requester is not in from"},
		{"other", policy.StepCommand, "", "", `the rule is about "/usr/bin/other"`},
		{"restart-web", policy.StepArgs, "slot unit", "db.service", `slot unit: "db.service": must be one of "nginx.service", "caddy.service"`},
		{"last", policy.StepArgs, "argument 3", "", `argument 3: must be "x"`},
		{"restart", policy.StepMatched, "", "", "decides: allow"},
	}
	if len(e.Attempts) != len(want) {
		t.Fatalf("%d attempts:\n%s", len(e.Attempts), e)
	}
	for i, w := range want {
		if a := e.Attempts[i]; a.ID != w.id || a.Step != w.step || a.Arg != w.arg || a.Word != w.word || a.Why != w.why {
			t.Errorf("attempt %d: %+v, want %+v", i, a, w)
		}
	}
	if e.Decision != "allow" || e.Rule != "restart" || e.Reason != "" || e.Argv[0] != "/usr/bin/systemctl" {
		t.Errorf("%+v", e)
	}
	const text = `command  "/usr/bin/systemctl" "restart" "db.service"
args     deny: argument 1: "restart": must be "stop"
from     bob: the requester is not in from
command  other: the rule is about "/usr/bin/other"
args     restart-web: slot unit: "db.service": must be one of "nginx.service", "caddy.service"
args     last: argument 3: must be "x"
matched  restart: decides: allow
allow    by rule restart
`
	if got := e.String(); got != text {
		t.Errorf("got\n%s", got)
	}
	data, err := json.Marshal(e)
	must(t, err)
	if !strings.Contains(string(data), `{"rule":"restart-web","step":"args","arg":"slot unit","word":"db.service","why":"slot unit:`) {
		t.Errorf("as JSON: %s", data)
	}
}

func TestExplainRefusals(t *testing.T) {
	m := &machine{links: map[string]string{"/bin/systemctl": "/usr/bin/systemctl"}}
	p, err := m.parse(restartWeb)
	must(t, err)
	for _, c := range []struct {
		req  policy.Request
		want []string
	}{
		{request(deploy, "/bin/systemctl", "restart", "nginx.service"), []string{"which is the same file by another path", "deny     (denied): no rule lets you run"}},
		{request(deploy), []string{"deny     (bad_request): there is no command\n"}},
		{request(carl, "systemctl", "restart", "nginx.service"), []string{"from     restart-web: the requester is not in from", "deny     (denied)"}},
		{policy.Request{From: deploy, Rule: "restart-web", Slots: map[string][]string{"unit": {"x\x1b[2J"}}}, []string{`slot unit: "x\u{1b}[2J": must be one of`}},
	} {
		got := p.Explain(c.req).String()
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%v:\n%s\nlacks %s", c.req, got, want)
			}
		}
		if strings.Contains(got, "\x1b") {
			t.Errorf("not fit for a terminal: %q", got)
		}
	}
	j := p.Judge(request(deploy, "systemctl", "restart", "x\x1b[2J\u202e"))
	if strings.ContainsAny(j.Detail, "\x1b\u202e") || j.Detail == "" {
		t.Errorf("not fit for a terminal: %q", j.Detail)
	}
}
