package policy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"snens/broker/policy"
	"snens/internal/tomlread"
)

// with is a rule that is right but for one line of the test's, which is line 5.
func with(line string) string {
	text := "[[rule]]\nid = 'r'\ndecision = 'ask'\ncommand = '/usr/bin/systemctl'\n"
	rest := "from = ['user:deploy']\napprove = {from = ['group:ops']}\n"
	key, _, _ := strings.Cut(line, " ")
	text = strings.Replace(text, "\n"+key+" =", "\n# "+key+" =", 1)
	rest = strings.Replace("\n"+rest, "\n"+key+" =", "\n# "+key+" =", 1)[1:]
	return text + line + "\n" + rest
}

// Each fault, with the place and the words it is reported with.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		// What is no key, and what is no key yet.
		{"rul = 1", "1:1: unknown key rul (did you mean rule?); known here: secure_path, rule, person"},
		{with("alow = true"), "5:1: unknown key rule[0].alow"},
		{with("root = '/x'"), "unknown key rule[0].root"},
		{with("chroot = '/x'"), "unknown key rule[0].chroot"},
		{with("Command = 'x'"), "unknown key rule[0].Command (did you mean command?)"},
		{with("tty = true"), "5:1: rule[0].tty: a terminal for the command is not available in this version; remove it"},
		{with("record = false"), "5:1: rule[0].record: the recording of an action is not available in this version; remove it"},
		{with("kind = 'write'"), "5:1: rule[0].kind: a kind of rule that writes files or bundles commands is not available"},
		{with("approve = {from = ['group:ops'], need = 2}"), "5:41: rule[0].approve.need: more than one approver for a request is not available in this version"},
		{with("approve = {from = ['group:ops'], presence = 'sshsig'}"), `5:45: rule[0].approve.presence: presence = "sshsig", an approval by signature, is not available in this version`},
		{with("approve = {from = ['group:ops'], remember = ['15m']}"), "5:45: rule[0].approve.remember: an approval that is remembered is not available"},
		{with("approve = {from = ['principal:ann@example']}"), "5:20: rule[0].approve.from[0]: a principal, who approves by a signature, is not available"},
		{with("approve = {from = ['group:ops'], presence = 'tty'}"), `"tty" is for --user mode; write "peer"`},
		{with("approve = {from = ['group:ops'], uses = 3}"), "unknown key rule[0].approve.uses"},
		// What a rule cannot do without.
		{"[[rule]]", "1:3: rule[0]: a rule needs id"},
		{"[[rule]]", "1:3: rule[0]: a rule needs from"},
		{"[[rule]]", "1:3: rule[0]: a rule needs command"},
		{"[[rule]]", "1:3: rule[0]: a rule needs decision"},
		{"rule = 1", "1:8: rule: must be tables, each written as [[rule]], not an integer"},
		{"[rule]\nid = 'x'", "rule: must be tables, each written as [[rule]], not a table"},
		{"rule = [1]", "1:9: rule[0]: must be a table, not an integer"},
		{with("approve = {ttl = '5m'}"), "1:3: rule[0]: a rule that asks needs approve = {from = [...]}"},
		{with("approve = {from = []}"), "5:19: rule[0].approve.from: must name somebody"},
		{with("from = []"), "5:8: rule[0].from: must name somebody"},
		// Values.
		{with("id = 'list'"), `5:6: rule[0].id: "list" cannot be a rule id`},
		{with("id = 'result'"), `"result" cannot be a rule id`},
		{with("id = 'rules'"), `"rules" cannot be a rule id`},
		{with("id = 'a b'"), "is no rule id"},
		{with("id = 'a=b'"), "is no rule id"},
		{with("id = ''"), "a rule id has 1 to 64 characters"},
		{with("id = 1"), "5:6: rule[0].id: must be a string, not an integer"},
		{with("about = \"two\\nlines\""), "5:9: rule[0].about: must be one line without control characters"},
		{with("about = '" + strings.Repeat("x", 300) + "'"), "must have at most 200 bytes"},
		{with("decision = 'maybe'"), `5:12: rule[0].decision: "maybe" is not known; write one of allow, ask, deny`},
		{with("decision = 'Allow'"), `"Allow" is not known`},
		{with("command = 'systemctl'"), `5:11: rule[0].command: "systemctl" must be the absolute path of a program`},
		{with("command = '/usr/bin/../bin/x'"), "must be the absolute path of a program"},
		{with("command = '/'"), "must be the absolute path of a program"},
		{with("command = '/usr/bin/'"), "must be the absolute path of a program"},
		{with("args = 'restart'"), "5:8: rule[0].args: must be a list of texts and slots, not a string"},
		{with("args = ['a', 1]"), `5:14: rule[0].args[1]: must be a text, or a slot such as {slot = "unit", kind = "unit"}, not an integer`},
		{with("args = [\"a\\u0000\"]"), "5:9: rule[0].args[0]: an argument cannot hold a NUL"},
		{with("timeout = '0s'"), "5:11: rule[0].timeout: must be from 1s to 168h"},
		{with("cwd = 'tmp'"), `5:7: rule[0].cwd: "tmp" must be "requester", or an absolute path`},
		{with("umask = '22'"), `5:9: rule[0].umask: "22" is no umask; write three octal digits after a 0, "0027"`},
		{with("umask = 0o022"), `rule[0].umask: must be an octal number as a text, "0027", not an integer`},
		{with("umask = '0888'"), "is no umask"},
		{with("stdin = 'open'"), `"open" is not known; write one of none, sealed, pass`},
		{with("stdin = 'pass'"), `5:9: rule[0].stdin: an approver cannot see input that is passed; write "sealed", or i_know = true`},
		{with("sha256 = 'abc'"), "must be 64 hexadecimal digits in lower case"},
		{with("limits = {memory = 5}"), `5:20: rule[0].limits.memory: must be from "1MiB"`},
		{with("limits = {cpu = '1500ms'}"), "must be whole seconds"},
		{with("limits = {threads = 5}"), "unknown key rule[0].limits.threads"},
		{with("approve = {from = ['group:ops'], reason = 'always'}"), `"always" is not known; write one of optional, required`},
		{with("approve = 'ops'"), "5:11: rule[0].approve: must be a table, not a string"},
		{with("match = ['restart']"), "5:10: rule[0].match[0]: must be a list of strings, not a string"},
		{with("i_know = 'yes'"), "5:10: rule[0].i_know: must be true or false, not a string"},
		// Rules that contradict themselves.
		{with("match = [['x']]"), `5:10: rule[0].match[0]: ["x"] does not match: the word "x" is one too many`},
		{with("no_match = [['y'], []]"), "5:20: rule[0].no_match[1]: [] does match"},
		{strings.Replace(with("about = 'x'"), "'ask'", "'allow'", 1), `7:1: rule[0].approve: only a rule with decision = "ask" is approved`},
		{strings.Replace(with("env = {A = 'x'}"), "'ask'", "'deny'", 1), "5:1: rule[0].env: a rule that denies runs nothing; remove it"},
		{with("env = {A = '1'}\nenv_pass = ['A']"), "6:12: rule[0].env_pass: A is set by env already"},
		{with("from = ['everyone']"), "5:9: rule[0].from[0]: only a rule that denies can be about everyone"},
		{with("approve = {from = ['everyone']}"), "5:20: rule[0].approve.from[0]: an approver must be named"},
		{with("about = 'x'") + with("about = 'y'"), "9:6: rule[1].id: there is a rule r already, at priv.toml:2:1"},
		{"secure_path = ['bin']", `1:16: secure_path[0]: "bin" must be an absolute path`},
		{"secure_path = []", "1:15: secure_path: must name a folder"},
		// Persons.
		{"[[person]]\nuids = [1]", "1:3: person[0]: a person needs a name"},
		{"[[person]]\nname = 'A'", "1:3: person[0]: a person needs uids or principals"},
		{"[[person]]\nname = 'uid:5'\nuids = [1]", `2:8: person[0].name: "uid:5" cannot name a person`},
		{"[[person]]\nname = 'A'\nuids = [4294967295]", "3:9: person[0].uids[0]: must be from 0 to 4294967294"},
		{"[[person]]\nname = 'A'\nuids = [-1]", "must be from 0 to"},
		{"[[person]]\nname = 'A'\nuids = ['1']", "must be an integer"},
		{"[[person]]\nname = 'A'\nprincipals = ['*@example']", "cannot be a principal"},
		{"[[person]]\nname = 'A'\nuids = [1]\n[[person]]\nname = 'A'\nuids = [1]", `5:8: person[1].name: there is a person "A" already`},
		{"[[person]]\nname = 'A'\nuids = [1]\n[[person]]\nname = 'B'\nuids = [2, 1]", `6:8: person[1].uids: the uid 1 belongs to person "A" already`},
		{"[[person]]\nname = 'A'\nprincipals = ['x']\n[[person]]\nname = 'B'\nprincipals = ['x']", `the principal "x" belongs to person "A" already`},
		{"[[person]]\nname = 'A'\nuids = [1]\nkey = 1", "unknown key person[0].key"},
		// Text that is no TOML.
		{"[[rule]", "1:"},
		{"a = \"\xff\"", "invalid UTF-8"},
		{"x = 1\nx = 2", "2:1:"},
	} {
		_, err := new(machine).parse(c.text)
		if err == nil || !strings.Contains(err.Error(), "priv.toml:") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}

// Every way in which a slot can make no sense.
func TestSlotFaults(t *testing.T) {
	for slot, want := range map[string]string{
		`{kind = "unit"}`:                                                  "a slot needs slot (its name) and kind",
		`{slot = "a"}`:                                                     "a slot needs slot (its name) and kind",
		`{slot = "A b", kind = "unit"}`:                                    "cannot be the name of a slot",
		`{slot = "a", kind = "file"}`:                                      `"file" is not known; write one of enum, int, word, user, unit, path`,
		`{slot = "a", kind = "enum"}`:                                      "a slot of kind enum needs values",
		`{slot = "a", kind = "enum", values = []}`:                         "must name a value",
		`{slot = "a", kind = "enum", values = [""]}`:                       "an empty word fills no slot",
		`{slot = "a", kind = "enum", values = ["x", "x"]}`:                 `"x" stands here twice`,
		`{slot = "a", kind = "enum", values = ["--now"]}`:                  `"--now" begins with a dash; write allow_dash = true`,
		`{slot = "a", kind = "enum", values = ["x"], max = 3}`:             "a slot of kind enum does not take it; it takes slot, kind, many, optional, values, allow_dash",
		`{slot = "a", kind = "int", min = 1}`:                              "a slot of kind int needs max",
		`{slot = "a", kind = "int", min = 2, max = 1}`:                     "must not be above max",
		`{slot = "a", kind = "int", min = -2, max = 1}`:                    "a number below 0 begins with a dash",
		`{slot = "a", kind = "int", min = 1.5, max = 2}`:                   "must be an integer, not a float",
		`{slot = "a", kind = "word"}`:                                      "a slot of kind word needs pattern",
		`{slot = "a", kind = "word", pattern = "("}`:                       "is no pattern",
		`{slot = "a", kind = "word", pattern = "a)|(?:b"}`:                 "is no pattern",
		`{slot = "a", kind = "word", pattern = "(?=a)"}`:                   "is no pattern",
		`{slot = "a", kind = "word", pattern = "a", max = 0}`:              "must be from 1 to 4096",
		`{slot = "a", kind = "user", min = -1}`:                            "uids are from 0 to 4294967294",
		`{slot = "a", kind = "user", max = 4294967295}`:                    "uids are from 0 to 4294967294",
		`{slot = "a", kind = "unit", values = ["x"]}`:                      "a slot of kind unit does not take it",
		`{slot = "a", kind = "unit", allow_dash = true}`:                   "a slot of kind unit does not take it",
		`{slot = "a", kind = "path"}`:                                      "a slot of kind path needs beneath",
		`{slot = "a", kind = "path", beneath = "x"}`:                       `"x" must be an absolute path`,
		`{slot = "a", kind = "path", beneath = "/a/"}`:                     "must be an absolute path",
		`{slot = "a", kind = "path", beneath = "/a", as = "pipe"}`:         `"pipe" is not known; write one of text, fd`,
		`{slot = "a", kind = "path", beneath = "/a", as = "fd", many = 2}`: `a slot with as = "fd" is filled by exactly one word`,
		`{slot = "a", kind = "unit", many = 0}`:                            "must be from 1 to",
		`{slot = "a", kind = "unit", min_words = 0}`:                       "unknown key rule[0].args[0].min_words",
		`{slot = "a", kind = "unit"}, {slot = "a", kind = "unit"}`:         `there are two slots "a"`,
		`{slot = "a", kind = "path", beneath = "/a", as = "fd"}, {slot = "b", kind = "path", beneath = "/a", as = "fd"}`: `only one slot may have as = "fd"`,
	} {
		if _, err := new(machine).parse(with("args = [" + slot + "]")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", slot, err, want)
		}
	}
}

// A rule must be short enough to be told in one line.
func TestTooLongRules(t *testing.T) {
	list := func(n, size int) string {
		words := make([]string, n)
		for i := range words {
			words[i] = fmt.Sprintf("%0*d", size, i)
		}
		return `"` + strings.Join(words, `", "`) + `"`
	}
	enum := func(name string, n, size int) string {
		return fmt.Sprintf(`{slot = "%s", kind = "enum", values = [%s]}`, name, list(n, size))
	}
	for args, want := range map[string]string{
		enum("a", 1000, 4):                           "",
		enum("a", 1001, 4):                           "rule[0].args: they list 1001 values, at most 1000 fit into a rule; take a slot of kind word with a pattern, or several rules",
		enum("a", 600, 4) + ", " + enum("b", 401, 4): "rule[0].args: they list 1001 values",
		enum("a", 16, 2048):                          "",
		enum("a", 17, 2048):                          "rule[0].args: they have 34816 bytes in all, at most 32768 fit into a rule; make several rules of it",
		list(9, 4000):                                "rule[0].args: they have 36000 bytes in all",
	} {
		_, err := new(machine).parse(with("args = [" + args + "]"))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60s: got %.300v, want %s", args, err, want)
		}
	}
}

// What other programs have taken for root, or for nobody, is nobody here.
func TestNobodyByAccident(t *testing.T) {
	for _, who := range []string{
		"uid:-1", "uid:4294967295", "uid:4294967296", "uid:0x0", "uid: 0", "uid:#0", "uid:", "uid:00", "uid:+0", "uid:0 ", "uid:root", "uid:1e3", "uid:٣",
		"user:", "user:0", "user:-1", "user:#0", "user: root", "user:nosuch", "user:all", "user:lots", "user:root\\nx", "group:", "group:0", "group:nosuch", "group:-1",
		"", "root", "0", "deploy", "gid:0", "person:Ann", "User:root", "*", "all", "uid:0;user:root",
	} {
		if _, err := new(machine).parse(with(`from = ["` + who + `"]`)); err == nil || !strings.Contains(err.Error(), "priv.toml:5:9: rule[0].from[0]: ") {
			t.Errorf("from %q: %v", who, err)
		}
		if _, err := new(machine).parse(with(`approve = {from = ["` + who + `"]}`)); err == nil || !strings.Contains(err.Error(), "priv.toml:5:20: rule[0].approve.from[0]: ") {
			t.Errorf("approve.from %q: %v", who, err)
		}
	}
	for _, who := range []string{"-1", "4294967295", "0x0", " 0", "#0", "", "0", "nosuch", "all", "lots", "root ", "uid:0"} {
		for _, key := range []string{"user", "group"} {
			if _, err := new(machine).parse(with(fmt.Sprintf("run_as = {%s = %q}", key, who))); err == nil {
				t.Errorf("run_as %s %q is taken", key, who)
			}
		}
	}
	if _, err := new(machine).parse(with("run_as = {user = 0}")); err == nil || !strings.Contains(err.Error(), "must be a string, not an integer") {
		t.Errorf("run_as by number: %v", err)
	}
	p := load(t, with(`from = ["uid:4000000000", "uid:0"]`))
	if !p.Names(carl) || !p.Names(root) || p.Names(policy.Subject{UID: policy.NoID}) {
		t.Error("uids are not what they say")
	}
}

// everybodyIs answers every name with one account.
type everybodyIs struct{ policy.Account }

func (e everybodyIs) User(string) (policy.Account, error)       { return e.Account, nil }
func (e everybodyIs) UserID(policy.UID) (policy.Account, error) { return e.Account, nil }
func (e everybodyIs) Group(string) (policy.GID, error)          { return e.GID, nil }
func (e everybodyIs) Members(policy.GID) []policy.UID           { return nil }

// A directory that answers with the id -1 names nobody.
func TestNoIDFromTheMachine(t *testing.T) {
	for _, a := range []policy.Account{{UID: policy.NoID}, {GID: policy.NoID}} {
		h := policy.Host{Accounts: everybodyIs{a}, Files: new(machine)}
		for _, line := range []string{"from = ['user:x']", "run_as = {user = 'x'}", "from = ['group:x']", "run_as = {group = 'x'}"} {
			_, err := policy.Parse([]policy.File{{Path: "p", Text: with(line)}}, h, policy.Options{})
			if err == nil || !strings.Contains(err.Error(), "has an id that the kernel takes for none") {
				t.Errorf("%+v, %s: %v", a, line, err)
			}
		}
	}
}

func TestAllFaultsAtOnceInOrder(t *testing.T) {
	m := new(machine)
	_, err := policy.Parse([]policy.File{
		{Path: "b.toml", Text: "x = 1\n" + with("umask = 1") + with("id = 'ok'")},
		{Path: "a.toml", Text: "= 1"},
		{Path: "c.toml", Text: with("id = 'ok'") + "secure_path = 1\ny = 1"},
	}, m.host(), policy.Options{})
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	want := []string{"cannot use the policy:", "b.toml:1:1: unknown key x", "b.toml:6:9: rule[0].umask", "a.toml:1:1: ", "c.toml:5:6: rule[0].id: there is a rule ok already, at b.toml:13:1", "c.toml:8:1: unknown key rule[0].secure_path", "c.toml:9:1: unknown key rule[0].y"}
	if len(lines) != len(want) {
		t.Fatalf("got\n%s\nwant\n%s", err, strings.Join(want, "\n"))
	}
	for i := range want {
		if !strings.HasPrefix(lines[i], want[i]) {
			t.Errorf("line %d: %s\nwant %s", i, lines[i], want[i])
		}
	}
	var f *tomlread.Fault
	if !errors.As(err, &f) || f.File != "b.toml" || f.Line != 1 {
		t.Errorf("no fault: %#v", f)
	}
	if strings.ContainsAny(err.Error(), "\x1b") {
		t.Error("not fit for a terminal")
	}
}

// A rule whose command could act as an approver.
func TestNobodyRunsAsAnApprover(t *testing.T) {
	for _, c := range []struct {
		text string
		want string
	}{
		{with("run_as = {user = 'ann'}"), `5:10: rule[0].run_as: the user "ann" may approve (group:ops in rule r)`},
		{with("run_as = {user = 'www', group = 'ops'}"), "may approve"},
		{rule("a", "allow", "run_as = {user = 'bob'}") + rule("b", "ask", "approve.from = ['user:bob']"), `the user "bob" may approve (user:bob in rule b)`},
		{rule("a", "allow", "run_as = {user = 'bob'}") + rule("b", "ask", "approve.from = ['uid:1003']"), "may approve"},
		{with("run_as = {user = 'www'}"), ""},
		{with("run_as = {user = 'root', group = 'ops'}"), ""}, // root is no more for being in a group
		{rule("a", "allow", "run_as = {user = 'bob'}"), ""},
	} {
		_, err := new(machine).parse(c.text)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestWritableByOthers(t *testing.T) {
	for _, c := range []struct{ path, text, want string }{
		{"/usr/bin/systemctl", with("about = ''"), "4:11: rule[0].command: cannot trust /usr/bin/systemctl: /usr/bin/systemctl is writable"},
		{"/usr/bin", with("about = ''"), "4:11: rule[0].command: cannot trust"},
		{"/srv", with("cwd = '/srv/app'"), "5:7: rule[0].cwd: cannot trust"},
		{"/opt", "secure_path = ['/usr/bin', '/opt/bin']", "1:28: secure_path[1]: cannot trust"},
		{"/srv", with("args = ['x', {slot = 'p', kind = 'path', beneath = '/srv/app'}]"), "5:52: rule[0].args[1].beneath: cannot trust"},
		{"/srv", with("args = ['x', {slot = 'p', kind = 'path', beneath = '/srv/app'}]"), `make the folder root's, or write as = "fd"`},
		{"/srv", with("args = ['x', {slot = 'p', kind = 'path', beneath = '/srv/app', as = 'fd'}]"), ""},
		{"/srv", with("cwd = 'requester'"), ""},
		{"/usr/bin/systemctl", strings.Replace(strings.Replace(with("about = ''"), "'ask'", "'deny'", 1), "approve", "#", 1), ""}, // what is denied may be anybody's
	} {
		m := &machine{untrusted: map[string]string{c.path: "is writable by others"}}
		_, err := m.parse(c.text)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
	m := &machine{untrusted: map[string]string{"/usr/local/bin": "is writable by its group"}}
	p, err := m.parse("")
	must(t, err)
	if strings.Contains(strings.Join(p.SecurePath, ":"), "/usr/local/bin") || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "/usr/local/bin is left out of secure_path") {
		t.Errorf("the default secure_path is %q, notes %q", p.SecurePath, p.Notes)
	}
}
