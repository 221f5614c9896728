package policy_test

import (
	"slices"
	"strings"
	"testing"

	"snens/broker/policy"
)

// slotted is a policy of one rule with one slot, called s.
func slotted(t testing.TB, m *machine, slot string) *policy.Policy {
	t.Helper()
	p, err := m.parse(rule("r", "allow", `command = "/usr/local/sbin/tool"`, `args = [{slot = "s", `+slot+`}]`))
	must(t, err)
	return p
}

// What each kind of slot takes and what it does not.
func TestSlots(t *testing.T) {
	for _, c := range []struct {
		slot     string
		yes, not []string
	}{
		{
			`kind = "enum", values = ["a", "B c", "é"]`,
			[]string{"a", "B c", "é"},
			[]string{"", "A", "a ", "B", "c", "a,B c", "-a", "e\u0301"},
		},
		{`kind = "enum", values = ["--now"], allow_dash = true`, []string{"--now"}, []string{"-", "--no", "--now=1"}},
		{
			`kind = "int", min = 1, max = 65535`,
			[]string{"1", "22", "65535"},
			[]string{"0", "65536", "-1", "+1", "01", "1.0", "0x1", "1e3", " 1", "1 ", "١", "", "99999999999999999999", "1\n"},
		},
		{`kind = "int", min = -5, max = 5, allow_dash = true`, []string{"-5", "0", "5"}, []string{"-6", "-0", "--5"}},
		{
			`kind = "word", pattern = "[a-z]+|x.y"`,
			[]string{"abc", "x.y", "x-y"},
			[]string{"", "abc1", "1abc", "abc\n", "abc\nabc", "x\ny", "ab cd", "-abc", "ABC", strings.Repeat("a", 256)},
		},
		{`kind = "word", pattern = "a.*", max = 3`, []string{"a", "abc"}, []string{"abcd", "aé\xff", "a\xff"}},
		{`kind = "word", pattern = ".*", allow_dash = true`, []string{"-x", "--root=/x"}, []string{""}},
		{`kind = "user"`, []string{"ann", "deploy", "daemon"}, []string{"root", "nosuch", "0", "1002", "-ann", "ann ", "all", "", "#0", "ann,bob"}},
		{`kind = "user", min = 0`, []string{"root", "ann"}, []string{"nosuch"}},
		{`kind = "user", min = 1000, max = 1002`, []string{"ann", "deploy"}, []string{"daemon", "bob"}},
		{
			`kind = "unit"`,
			[]string{"nginx.service", "getty@tty1.service", "a-b_c:d.socket", `dev-disk-by\x2duuid.swap`, "x.timer"},
			[]string{"nginx", "nginx.*", "*.service", "[a].service", "--now", "-H", "--root=/x", "/tmp/x.service", "../x.service", "a b.service", "nginx.service\n", ".service", "x.conf", "x.serviceX", strings.Repeat("a", 300) + ".service", ""},
		},
		{`kind = "unit", pattern = "web-.*"`, []string{"web-1.service"}, []string{"db-1.service", "xweb-1.service", "web-/x.service"}},
		{
			`kind = "path", beneath = "/srv/www"`,
			[]string{"/srv/www/a", "/srv/www/a/b c", "/srv/www/..."},
			[]string{
				"/srv/www", "/srv/www/", "/srv/wwwx", "/srv/www/../x", "/srv/www/a/..", "/srv/www//a", "/srv/www/./a", "/srv/www/a/", "a", "./a", "srv/www/a", "/etc/passwd", "",
				"/srv/www" + strings.Repeat("/a", 5000), "/srv/www/" + strings.Repeat("a", 5000), "-/srv/www/a",
			},
		},
		{`kind = "path", beneath = "/"`, []string{"/x", "/x/y"}, []string{"/", "//x", "x"}},
	} {
		p := slotted(t, new(machine), c.slot)
		for _, w := range c.yes {
			if j := p.Judge(request(deploy, "/usr/local/sbin/tool", w)); j.Decision != policy.Allow {
				t.Errorf("%s does not take %.80q: %s", c.slot, w, j.Detail)
			}
		}
		for _, w := range c.not {
			if j := p.Judge(request(deploy, "/usr/local/sbin/tool", w)); j.Decision != policy.Deny {
				t.Errorf("%s takes %.80q", c.slot, w)
			}
		}
		// One slot, one word.
		if len(c.yes) > 1 {
			if j := p.Judge(request(deploy, "/usr/local/sbin/tool", c.yes[0], c.yes[1])); j.Decision != policy.Deny {
				t.Errorf("%s takes two words", c.slot)
			}
		}
		if j := p.Judge(request(deploy, "/usr/local/sbin/tool")); j.Decision != policy.Deny {
			t.Errorf("%s takes no word", c.slot)
		}
	}
}

// Options are not smuggled in through slots.
func TestOptionSmuggling(t *testing.T) {
	p := load(t, rule("r", "allow", `args = ["restart", {slot = "unit", kind = "unit", many = 4}]`))
	for _, w := range []string{"--now", "-H", "-Hroot@host", "--root=/x", "--host=x", "-", "--", "-M", "--machine=x", "--image=/x", "-f"} {
		for _, argv := range [][]string{{"restart", w}, {"restart", "a.service", w}, {"restart", w, "a.service"}, {w, "restart", "a.service"}, {"restart", "a.service " + w}} {
			if j := p.Judge(request(deploy, append([]string{"/usr/bin/systemctl"}, argv...)...)); j.Decision != policy.Deny {
				t.Errorf("%q is let through", argv)
			}
		}
	}
}

// Several slots that take several words share them in one way only, and every
// word is declared.
func TestManyWords(t *testing.T) {
	p := load(t, rule("r", "allow", `command = "/usr/bin/tool"`, `args = ["add", {slot = "a", kind = "word", pattern = "[a-z]+", many = 2}, {slot = "b", kind = "word", pattern = "[a-z0-9]+", many = 3, optional = true}, "end"]`))
	r := p.Rule("r")
	for _, c := range []struct {
		words string
		a, b  string
	}{
		{"add x end", "x", ""},
		{"add x y end", "x y", ""},
		{"add x y z end", "x y", "z"},
		{"add x 1 2 end", "x", "1 2"},
		{"add x y 1 2 3 end", "x y", "1 2 3"},
		{"add end end", "end", ""},
		{"add end end end", "end end", ""},
		{"add x y 1 2 3 4 end", "", ""},
		{"add end", "", ""},
		{"add 1 end", "", ""},
		{"add x", "", ""},
		{"add x end x", "", ""},
	} {
		slots := r.Slots(strings.Fields(c.words))
		if got := strings.Join(slots["a"], " "); got != c.a {
			t.Errorf("%s: a = %q", c.words, got)
		}
		if got := strings.Join(slots["b"], " "); got != c.b {
			t.Errorf("%s: b = %q", c.words, got)
		}
		if (slots != nil) != r.Fits(strings.Fields(c.words)) || (slots != nil) != (c.a != "") {
			t.Errorf("%s: fits %v, slots %v", c.words, r.Fits(strings.Fields(c.words)), slots)
		}
	}
}

// Slots that could share words in a great many ways are still judged at once.
func TestManyWaysAreNotWalked(t *testing.T) {
	var args []string
	for i := range 20 {
		args = append(args, `{slot = "s`+string(rune('a'+i))+`", kind = "word", pattern = "a", many = 20, optional = true}`)
	}
	p := load(t, rule("r", "allow", `command = "/usr/bin/tool"`, `args = [`+strings.Join(args, ", ")+`, "end"]`))
	words := append([]string{"/usr/bin/tool"}, slices.Repeat([]string{"a"}, 200)...)
	if j := p.Judge(request(deploy, append(words, "other")...)); j.Decision != policy.Deny || !strings.Contains(j.Detail, `"other"`) {
		t.Errorf("%v: %s", j.Decision, j.Detail)
	}
	if j := p.Judge(request(deploy, append(words, "end")...)); j.Decision != policy.Allow {
		t.Errorf("%v: %s", j.Decision, j.Detail)
	}
}

// The machine has the last word on a path, at every judgement, and a requester
// is not told what it said.
func TestPathsAreLookedAtAgain(t *testing.T) {
	m := &machine{untrusted: map[string]string{}, escapes: map[string]bool{}}
	p := slotted(t, m, `kind = "path", beneath = "/srv/www"`)
	ask := func() policy.Judgement { return p.Judge(request(deploy, "/usr/local/sbin/tool", "/srv/www/in/x")) }
	if j := ask(); j.Decision != policy.Allow {
		t.Fatalf("%+v", j)
	}
	m.untrusted["/srv/www/in"] = "belongs to uid 1001"
	first := ask()
	delete(m.untrusted, "/srv/www/in")
	m.escapes["/srv/www/in/x"] = true
	second := ask()
	for _, j := range []policy.Judgement{first, second} {
		if j.Decision != policy.Deny || j.Detail != "rule r: an argument cannot be used on this machine" {
			t.Errorf("%+v", j)
		}
	}
	if e := p.Explain(request(deploy, "/usr/local/sbin/tool", "/srv/www/in/x")); len(e.Attempts) != 1 || e.Attempts[0].Step != policy.StepHost || !strings.Contains(e.Attempts[0].Why, "leaves /srv/www") {
		t.Errorf("the administrator is not told: %+v", e)
	}
	// Nothing is looked up when somebody asks who is not in from.
	m.looked = nil
	p.Judge(request(ann, "/usr/local/sbin/tool", "/srv/www/in/x"))
	if len(m.looked) > 0 {
		t.Errorf("looked at %q for a stranger", m.looked)
	}
}

func TestPathsAsDescriptors(t *testing.T) {
	m := &machine{untrusted: map[string]string{"/home": "belongs to somebody"}}
	p, err := m.parse(rule("r", "allow", `command = "/usr/local/sbin/tool"`, `args = ["load", {slot = "f", kind = "path", beneath = "/home", as = "fd"}, "now"]`))
	must(t, err)
	j := p.Judge(request(deploy, "/usr/local/sbin/tool", "load", "/home/deploy/x", "now"))
	if j.Decision != policy.Allow || j.FD == nil || *j.FD != (policy.PathFD{Word: 2, Path: "/home/deploy/x", Beneath: "/home"}) {
		t.Errorf("%+v %+v", j, j.FD)
	}
	if j := p.Judge(request(deploy, "/usr/local/sbin/tool", "load", "/home/../etc/shadow", "now")); j.Decision != policy.Deny || j.FD != nil {
		t.Errorf("%+v", j)
	}
}

// A rule that denies is not got round by the way a word is written.
func TestDeniesAreWide(t *testing.T) {
	long := strings.Repeat("x", 3000)
	p := load(t, rule("all", "allow", `command = "/usr/bin/tool"`, `args = [{slot = "w", kind = "word", pattern = "(?s).*", max = 4096, many = 8, optional = true, allow_dash = true}]`)+
		rule("etc", "deny", `command = "/usr/bin/tool"`, `args = ["read", {slot = "p", kind = "path", beneath = "/etc"}]`)+
		rule("x", "deny", `command = "/usr/bin/tool"`, `args = ["x", {slot = "w", kind = "word", pattern = "x.*", many = 1000}]`)+
		rule("other", "allow", `command = "/usr/bin/other"`, `args = [{slot = "w", kind = "word", pattern = ".*", optional = true}]`)+
		rule("none", "deny", `command = "/usr/bin/other"`)+
		rule("user", "deny", `command = "/usr/bin/tool"`, `args = ["user", {slot = "u", kind = "user", min = 0}]`))
	for _, argv := range [][]string{
		{"tool", "read", "/etc/shadow"},
		{"tool", "read", "/etc//shadow"},
		{"tool", "read", "/srv/../etc/shadow"},
		{"tool", "read", "/etc/./shadow"},
		{"tool", "read", "/etc/shadow/"},
		{"tool", "x", "x\ny"},
		{"tool", "x", long},
		{"tool", "x", "x\xff"},
		{"tool", "user", "root"},
		{"tool", "user", "gone"},
		{"other"},
		{"other", "anything"},
	} {
		if j := p.Judge(request(deploy, argv...)); j.Decision != policy.Deny || j.Rule == nil {
			t.Errorf("%.60q: %v by %v", argv, j.Decision, j.Rule)
		}
	}
	for _, argv := range [][]string{{"tool"}, {"tool", "read", "/srv/x"}, {"tool", "read", "/etcx"}, {"tool", "y", "x"}} {
		if j := p.Judge(request(deploy, argv...)); j.Decision != policy.Allow {
			t.Errorf("%q: %v: %s", argv, j.Decision, j.Detail)
		}
	}
}

func TestEnvironmentDefaults(t *testing.T) {
	p := load(t, rule("r", "allow", `command = "/usr/bin/tool"`))
	r := p.Rule("r")
	if r.Timeout.String() != "1m0s" || r.Cwd != "/" || r.Umask != 0o022 || r.Detach || r.RunAs.UID != 0 || r.RunAs.User != "root" || !slices.Equal(r.RunAs.Groups, []policy.GID{0}) {
		t.Errorf("%+v", r)
	}
	a := load(t, restartWeb).Rule("restart-web").Approve
	b := load(t, rule("r", "ask")).Rule("r").Approve
	if a.Need != 1 || a.TTL != b.TTL || a.Presence != policy.PresencePeer || b.Presence != a.Presence || !a.ReasonRequired || b.ReasonRequired || b.Need != 1 {
		t.Errorf("%+v\n%+v", a, b)
	}
}
