package policy_test

import (
	"slices"
	"strings"
	"testing"

	"snens/broker/action"
	"snens/broker/policy"
)

const restartWeb = `
[[rule]]
id       = "restart-web"
about    = "Restart a web server"
decision = "ask"
command  = "/usr/bin/systemctl"
args     = ["restart", {slot = "unit", kind = "enum", values = ["nginx.service", "caddy.service"]}]
from     = ["user:deploy", "group:snens"]
run_as   = {user = "root", group = "root"}
env      = {SYSTEMD_PAGER = "cat"}
timeout  = "60s"
approve  = {from = ["group:ops"], need = 1, presence = "peer", ttl = "10m", reason = "required"}
match    = [["restart", "nginx.service"]]
no_match = [["restart", "sshd.service"], ["restart", "--now"]]
`

func TestJudge(t *testing.T) {
	p := load(t, restartWeb+
		rule("status", "allow", `args = ["status", {slot = "unit", kind = "unit", many = 2}]`)+
		rule("no-ssh", "deny", `args = [{slot = "verb", kind = "word", pattern = "[a-z]+"}, "sshd.service"]`, `from = ["everyone"]`)+
		rule("catch-all", "ask", `args = [{slot = "words", kind = "word", pattern = "[a-z.@-]+", many = 3, optional = true}]`, `from = ["user:bob"]`, `i_know = true`))
	for _, c := range []struct {
		who    policy.Subject
		argv   string
		want   policy.Decision
		reason action.Reason
		by     policy.RuleID
		detail string
	}{
		{deploy, "/usr/bin/systemctl restart nginx.service", policy.Ask, 0, "restart-web", ""},
		{deploy, "systemctl restart caddy.service", policy.Ask, 0, "restart-web", ""},
		{bob, "systemctl restart nginx.service", policy.Ask, 0, "restart-web", ""}, // by his group
		{deploy, "systemctl restart sshd.service", policy.Deny, action.ReasonRuleDenies, "no-ssh", "rule no-ssh denies this"},
		{deploy, "systemctl restart other.service", policy.Deny, action.ReasonDenied, "", `rule restart-web: slot unit: "other.service": must be one of "nginx.service", "caddy.service"`},
		{deploy, "systemctl restart --now", policy.Deny, action.ReasonDenied, "", "a word that begins with a dash fills no slot"},
		{deploy, "systemctl restart", policy.Deny, action.ReasonDenied, "", "rule restart-web: slot unit: the words end here"},
		{deploy, "systemctl restart nginx.service caddy.service", policy.Deny, action.ReasonDenied, "", `the word "caddy.service" is one too many`},
		{deploy, "systemctl status a.service b.socket", policy.Allow, 0, "status", ""},
		{deploy, "systemctl status a.service b.socket c.timer", policy.Deny, action.ReasonDenied, "", "one too many"},
		{deploy, "systemctl status sshd.service", policy.Deny, action.ReasonRuleDenies, "no-ssh", ""}, // written later, judged first
		{deploy, "/bin/systemctl restart nginx.service", policy.Deny, action.ReasonDenied, "", `no rule lets you run "/bin/systemctl"`},
		{deploy, "id", policy.Deny, action.ReasonDenied, "", `no rule lets you run "id"`},
		{deploy, "../systemctl restart nginx.service", policy.Deny, action.ReasonBadRequest, "", "absolute path"},
		{deploy, "/usr/bin/../bin/systemctl restart nginx.service", policy.Deny, action.ReasonBadRequest, "", "absolute path"},
		{deploy, "systemctl", policy.Deny, action.ReasonDenied, "", ""},
		{bob, "systemctl", policy.Ask, 0, "catch-all", ""},
		{bob, "systemctl a b c", policy.Ask, 0, "catch-all", ""},
		{bob, "systemctl a b c d", policy.Deny, action.ReasonDenied, "", ""},
		// Whoever no rule names learns nothing.
		{ann, "systemctl restart nginx.service", policy.Deny, action.ReasonDenied, "", "-"},
		{carl, "systemctl restart sshd.service", policy.Deny, action.ReasonDenied, "", "-"},
		{carl, "../x", policy.Deny, action.ReasonDenied, "", "-"},
		{carl, "id", policy.Deny, action.ReasonDenied, "", "-"},
		{root, "systemctl restart nginx.service", policy.Deny, action.ReasonDenied, "", "-"},
		{policy.Subject{UID: policy.NoID, GID: policy.NoID}, "systemctl restart nginx.service", policy.Deny, action.ReasonDenied, "", "-"},
	} {
		j := p.Judge(request(c.who, strings.Fields(c.argv)...))
		by := policy.RuleID("")
		if j.Rule != nil {
			by = j.Rule.ID
		}
		if j.Decision != c.want || j.Reason != c.reason || by != c.by || !strings.Contains(j.Detail, strings.Trim(c.detail, "-")) || c.detail == "-" && j.Detail != "" {
			t.Errorf("%s by uid %d: %v %v by %q: %s", c.argv, c.who.UID, j.Decision, j.Reason, by, j.Detail)
		}
		if (j.Decision == policy.Deny) == (j.Reason == 0) {
			t.Errorf("%s: %v with the reason %v", c.argv, j.Decision, j.Reason)
		}
	}
}

// A request without words, or with words no program can get.
func TestBadRequests(t *testing.T) {
	p := load(t, restartWeb)
	for _, req := range []policy.Request{
		{},
		{Argv: []string{}},
		{Argv: []string{""}},
		{Argv: []string{"", "restart"}},
		{Argv: []string{"systemctl", "a\x00b"}},
		{Argv: slices.Repeat([]string{"systemctl"}, 2000)},
		{Argv: []string{"./systemctl"}},
		{Argv: []string{"/usr//bin/systemctl"}},
		{Rule: "restart-web", Argv: []string{"systemctl"}},
		{Argv: []string{"systemctl"}, Slots: map[string][]string{"unit": {"x"}}},
		{Rule: "restart-web"},
		{Rule: "restart-web", Slots: map[string][]string{"unit": {}}},
		{Rule: "restart-web", Slots: map[string][]string{"unit": {"nginx.service", "caddy.service"}}},
		{Rule: "restart-web", Slots: map[string][]string{"unit": {"nginx.service"}, "more": {"x"}}},
		{Rule: "no-such"},
		{Rule: "restart-web", Slots: map[string][]string{"unit": {"a\x00"}}},
	} {
		req.From = deploy
		if j := p.Judge(req); j.Decision != policy.Deny || j.Reason != action.ReasonBadRequest || j.Detail == "" || j.Rule != nil {
			t.Errorf("%.200v: %+v", req, j)
		}
		req.From = carl
		if j := p.Judge(req); j.Reason != action.ReasonDenied || j.Detail != "" || j.Argv != nil {
			t.Errorf("%.200v by a stranger: %+v", req, j)
		}
	}
}

func TestARuleByNameOnlyBuildsTheCommand(t *testing.T) {
	p := load(t, rule("careful", "ask", `args = ["restart", "nginx.service"]`)+
		rule("no-db", "deny", `args = [{slot = "verb", kind = "word", pattern = ".*"}, "db.service"]`)+
		rule("any", "allow", `args = ["restart", {slot = "unit", kind = "unit", many = 3}]`)+
		rule("secret", "allow", `args = ["stop"]`, `from = ["user:bob"]`))
	for _, c := range []struct {
		rule   policy.RuleID
		slots  map[string][]string
		want   policy.Decision
		reason action.Reason
		by     policy.RuleID
	}{
		{"any", map[string][]string{"unit": {"caddy.service"}}, policy.Allow, 0, "any"},
		{"any", map[string][]string{"unit": {"a.service", "b.service", "c.service"}}, policy.Allow, 0, "any"},
		{"any", map[string][]string{"unit": {"nginx.service"}}, policy.Deny, action.ReasonRuleShadowed, "careful"},
		{"any", map[string][]string{"unit": {"db.service"}}, policy.Deny, action.ReasonRuleShadowed, "no-db"},
		{"any", map[string][]string{"unit": {"--now"}}, policy.Deny, action.ReasonDenied, ""},
		{"any", map[string][]string{"unit": {"a.service b.service"}}, policy.Deny, action.ReasonDenied, ""},
		{"careful", nil, policy.Ask, 0, "careful"},
		{"no-db", map[string][]string{"verb": {"x"}}, policy.Deny, action.ReasonBadRequest, ""}, // a deny is not for asking
		{"secret", nil, policy.Deny, action.ReasonBadRequest, ""},                               // nor is a rule for somebody else
		{"nothing", nil, policy.Deny, action.ReasonBadRequest, ""},
	} {
		j := p.Judge(policy.Request{From: deploy, Rule: c.rule, Slots: c.slots})
		by := policy.RuleID("")
		if j.Rule != nil {
			by = j.Rule.ID
		}
		if j.Decision != c.want || j.Reason != c.reason || by != c.by {
			t.Errorf("%s %v: %v %v by %q: %s", c.rule, c.slots, j.Decision, j.Reason, by, j.Detail)
		}
	}
	a := p.Judge(policy.Request{From: deploy, Rule: "secret"}).Detail
	b := p.Judge(policy.Request{From: deploy, Rule: "nosuch"}).Detail
	if strings.Replace(a, "secret", "nosuch", 1) != b {
		t.Errorf("a rule for others and no rule read differently: %q, %q", a, b)
	}
}

// What the zero values say must be no.
func TestNothingIsNo(t *testing.T) {
	var d policy.Decision
	if d != policy.Deny || new(policy.Judgement).Decision != policy.Deny || policy.Decision(7).String() != "deny" || policy.Decision(-1).String() != "deny" {
		t.Error("a zero or unknown decision is not deny")
	}
	if j := load(t, "").Judge(request(deploy, "true")); j.Decision != policy.Deny || j.Reason != action.ReasonDenied {
		t.Errorf("an empty policy: %+v", j)
	}
}

// A bare name means what secure_path says, and nothing is looked up for a
// name that no rule is about.
func TestBareNames(t *testing.T) {
	m := &machine{links: map[string]string{}}
	p, err := m.parse("secure_path = ['/opt/bin', '/usr/bin']\n" + rule("r", "allow", `command = "/usr/bin/nginx"`, `args = ["-t"]`))
	must(t, err)
	m.absent = map[string]bool{"/opt/bin/nginx": true}
	if j := p.Judge(request(deploy, "nginx", "-t")); j.Decision != policy.Allow || j.Argv[0] != "/usr/bin/nginx" {
		t.Errorf("%+v", j)
	}
	m.absent = nil // somebody put another nginx first
	if j := p.Judge(request(deploy, "nginx", "-t")); j.Decision != policy.Deny || j.Argv[0] != "/opt/bin/nginx" {
		t.Errorf("%+v", j)
	}
	m.looked = nil
	for _, argv := range [][]string{{"other"}, {"/etc/shadow"}, {"nginx/x"}, {"/usr/bin/nginx", "-s"}, {"/root/.ssh/id", "-t"}} {
		p.Judge(request(deploy, argv...))
	}
	if len(m.looked) > 0 {
		t.Errorf("looked at %q for requests that no rule matches", m.looked)
	}
	// Nothing at all is looked up for somebody whom no rule names.
	for _, argv := range [][]string{{"nginx"}, {"nginx", "-t"}, {"/usr/bin/nginx", "-t"}} {
		if j := p.Judge(request(carl, argv...)); j.Reason != action.ReasonDenied || j.Argv != nil {
			t.Errorf("%q by a stranger: %+v", argv, j)
		}
	}
	if len(m.looked) > 0 {
		t.Errorf("looked at %q for a stranger", m.looked)
	}
}

func TestPeople(t *testing.T) {
	p := load(t, restartWeb+"[[person]]\nname = 'Ann'\nuids = [1002, 1004]\nprincipals = ['ann@example']\n[[person]]\nname = 'Key'\nprincipals = ['key@example']\n")
	r := p.Rule("restart-web")
	if !r.Approve.Holds(ann) || !r.Approve.Holds(bob) || r.Approve.Holds(deploy) || r.Approve.Holds(root) || r.Approve.Holds(carl) {
		t.Error("the approvers are not those of group ops")
	}
	if !p.SamePerson(1002, 1004) || p.SamePerson(1002, 1003) || !p.SamePerson(7, 7) || p.SamePerson(7, 8) {
		t.Error("persons are not told apart")
	}
	if id := p.PersonOf(9); id != "uid:9" {
		t.Errorf("a uid in no entry is %q", id)
	}
	if id, ok := p.PersonOfPrincipal("ann@example"); !ok || id != "Ann" {
		t.Errorf("ann@example is %q, %v", id, ok)
	}
	if id, ok := p.PersonOfPrincipal("eve@example"); ok || id != "" {
		t.Errorf("a principal in no entry is %q", id)
	}
	if v := p.Visible(deploy); len(v) != 1 || v[0] != r || len(p.Visible(ann)) != 0 || p.Names(carl) || !p.Names(bob) {
		t.Error("the wrong people see the rule")
	}
	if p.Rule("none") != nil {
		t.Error("a rule that does not exist")
	}
}
