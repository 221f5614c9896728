package policy_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"snens/broker/action"
	"snens/broker/policy"
)

// Any text gives a policy or an error that is fit for a terminal, and a policy
// keeps its promises.
func FuzzParse(f *testing.F) {
	f.Add(restartWeb)
	f.Add(with("approve = {from = ['group:ops'], need = 2}"))
	f.Add("[[person]]\nname = 'A'\nuids = [1]\n[[rule]]\nid = 'x'\nargs = [{slot = 'a', kind = 'path', beneath = '/'}]")
	f.Add(rule("r", "deny", `args = [{slot = "w", kind = "word", pattern = ".*", many = 9, allow_dash = true}]`))
	f.Add("rule = [{}, 1, []]\nperson = 1\nsecure_path = ['/x', 1]")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := new(machine).parse(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\x00\x1b\r\u202e") || p != nil {
				t.Errorf("%q: %q", text, err)
			}
			return
		}
		for _, r := range p.Rules {
			keeps(t, p, r)
		}
	})
}

// keeps checks what holds for every rule that loads.
func keeps(t interface{ Errorf(string, ...any) }, p *policy.Policy, r *policy.Rule) {
	if _, err := action.ParseRuleID(string(r.ID)); err != nil {
		t.Errorf("the id %q: %v", r.ID, err)
	}
	if len(r.From) == 0 || r.Decision == policy.Ask && len(r.Approve.From) == 0 || r.Digest.IsZero() || r.Command[0] != '/' {
		t.Errorf("rule %+v", r)
	}
	if r.Decision != policy.Deny && (r.Timeout <= 0 || r.RunAs.UID == policy.NoID || r.RunAs.GID == policy.NoID || r.Cwd == "") {
		t.Errorf("rule %+v", r)
	}
	for _, words := range r.Match {
		if !r.Fits(words) {
			t.Errorf("rule %s does not fit its own example %q", r.ID, words)
		}
		declared(t, r, words)
	}
	for _, words := range r.NoMatch {
		if r.Fits(words) {
			t.Errorf("rule %s fits %q", r.ID, words)
		}
	}
	lines := strings.Split(r.Canonical(), "\n")
	for _, line := range lines[1 : len(lines)-1] {
		if name, _, ok := strings.Cut(line, ": "); !ok || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_.") != "" && name != "sha256" {
			t.Errorf("the canonical text of %s has the line %q", r.ID, line)
		}
	}
}

// declared checks that every word of a command that fits is a literal in its
// place, or in a slot that a single word of that text would fill.
func declared(t interface{ Errorf(string, ...any) }, r *policy.Rule, words []string) {
	if r.AnyArgs {
		return
	}
	slots := r.Slots(words)
	at := 0
	for _, a := range r.Args {
		if a.Slot == nil {
			if at == len(words) || words[at] != a.Literal {
				t.Errorf("%q: word %d is not the literal %q", words, at, a.Literal)
				return
			}
			at++
			continue
		}
		fill := slots[a.Slot.Name]
		if len(fill) > a.Slot.Many || len(fill) == 0 && !a.Slot.Optional {
			t.Errorf("%q: %d words fill the slot %s", words, len(fill), a.Slot.Name)
		}
		for _, w := range fill {
			if at == len(words) || words[at] != w || w == "" || w[0] == '-' && !a.Slot.AllowDash {
				t.Errorf("%q: %q fills the slot %s", words, w, a.Slot.Name)
				return
			}
			at++
		}
	}
	if at != len(words) {
		t.Errorf("%q: %d words are declared by nothing", words, len(words)-at)
	}
}

// FuzzMatch asks one rule with every kind of slot about any words.
func FuzzMatch(f *testing.F) {
	p, err := new(machine).parse(rule("r", "allow", `command = "/usr/bin/tool"`, `args = [
	"go", {slot = "w", kind = "word", pattern = "[a-z]+", many = 3, optional = true}, {slot = "n", kind = "int", min = -9, max = 99, many = 2, allow_dash = true},
	{slot = "e", kind = "enum", values = ["on", "off"]}, {slot = "p", kind = "path", beneath = "/srv", many = 2}, {slot = "u", kind = "unit", optional = true}, "end"]`))
	must(f, err)
	r := p.Rule("r")
	f.Add("go\na\nb\n-5\non\n/srv/x\nx.service\nend")
	f.Add("go\n1\n2\noff\n/srv/x\n/srv/y\nend")
	f.Add("go\n--now\n1\non\n/srv/../etc\nend")
	f.Add("go go go")
	f.Fuzz(func(t *testing.T, text string) {
		words := strings.Split(text, "\n")
		j := p.Judge(request(deploy, append([]string{"/usr/bin/tool"}, words...)...))
		if (j.Decision == policy.Allow) != r.Fits(words) && j.Reason != action.ReasonBadRequest {
			t.Errorf("%q: judged %v, fits %v", words, j.Decision, r.Fits(words))
		}
		if j.Decision == policy.Allow {
			declared(t, r, words)
		}
	})
}

// Rules made at random fit the words made from them, by every road: as a
// command, by the rule's name, and in their own examples; and no word more.
func TestRulesFitWhatIsMadeForThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var args, words []string
		slots := map[string][]string{}
		n := rapid.IntRange(0, 6).Draw(t, "args")
		for i := range n {
			name := "s" + string(rune('a'+i))
			many := rapid.IntRange(1, 3).Draw(t, "many")
			text, word := "", ""
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				word = rapid.StringMatching(`-{0,2}[a-z]{1,8}`).Draw(t, "literal")
				args = append(args, "'"+word+"'")
				words = append(words, word)
				continue
			case 1:
				text, word = `kind = "enum", values = ["on", "off"]`, rapid.SampledFrom([]string{"on", "off"}).Draw(t, "value")
			case 2:
				text, word = `kind = "int", min = 0, max = 9`, rapid.StringMatching(`[0-9]`).Draw(t, "number")
			case 3:
				text, word = `kind = "word", pattern = "[a-z0-9]+"`, rapid.StringMatching(`[a-z0-9]{1,9}`).Draw(t, "word")
			case 4:
				text, word = `kind = "unit"`, rapid.StringMatching(`[a-z]{1,9}\.(service|timer)`).Draw(t, "unit")
			}
			args = append(args, `{slot = "`+name+`", many = `+string(rune('0'+many))+`, `+text+`}`)
			for range rapid.IntRange(1, many).Draw(t, "words") {
				slots[name] = append(slots[name], word)
				words = append(words, word)
			}
		}
		example := "[['" + strings.Join(words, "', '") + "']]"
		if len(words) == 0 {
			example = "[[]]"
		}
		p, err := new(machine).parse(rule("r", "allow", "command = '/usr/bin/tool'", "args = ["+strings.Join(args, ", ")+"]", "match = "+example))
		if err != nil {
			t.Fatalf("%v\n%q %q", err, args, words)
		}
		keeps(t, p, p.Rule("r"))
		if j := p.Judge(request(deploy, append([]string{"tool"}, words...)...)); j.Decision != policy.Allow {
			t.Errorf("%q for %q: %s", words, args, j.Detail)
		}
		if j := p.Judge(policy.Request{From: deploy, Rule: "r", Slots: slots}); j.Decision != policy.Allow || strings.Join(j.Argv[1:], " ") != strings.Join(words, " ") {
			t.Errorf("%v for %q: %+v", slots, args, j)
		}
		for _, more := range []string{"--now", "", "a b", "/x"} {
			at := rapid.IntRange(0, len(words)).Draw(t, "at")
			argv := append([]string{"/usr/bin/tool"}, words[:at]...)
			argv = append(append(argv, more), words[at:]...)
			if j := p.Judge(request(deploy, argv...)); j.Decision != policy.Deny {
				t.Errorf("%q for %q", argv, args)
			}
		}
	})
}

// A rule that would take all of a later one by every sign takes each of its words.
func TestUnreachableMeansUnreachable(t *testing.T) {
	slots := []string{
		`"x"`, `"1"`, `{slot = "s", kind = "enum", values = ["x", "1", "a.service"]}`, `{slot = "s", kind = "enum", values = ["x", "y"]}`,
		`{slot = "s", kind = "int", min = 0, max = 5}`, `{slot = "s", kind = "int", min = 0, max = 9}`,
		`{slot = "s", kind = "word", pattern = "[a-z0-9]+"}`, `{slot = "s", kind = "word", pattern = "[a-z0-9]+", max = 3}`, `{slot = "s", kind = "word", pattern = ".+", many = 2}`, `{slot = "s", kind = "word", pattern = ".+", allow_dash = true}`, `{slot = "s", kind = "word", pattern = ".+"}`,
		`{slot = "s", kind = "unit"}`, `{slot = "s", kind = "unit", pattern = "a.*", optional = true}`, `{slot = "s", kind = "user"}`, `{slot = "s", kind = "user", min = 1002}`,
		`{slot = "s", kind = "path", beneath = "/srv"}`, `{slot = "s", kind = "path", beneath = "/srv/www", many = 2}`,
	}
	words := []string{"x", "y", "1", "5", "7", "abcd", "a.service", "b.service", "ann", "deploy", "/srv/x", "/srv/www/x", "-x"}
	covered := 0
	for _, before := range slots {
		for _, after := range slots {
			for _, kind := range []string{"allow", "deny"} {
				p := load(t, rule("before", kind, "command = '/usr/bin/tool'", "args = ["+before+"]")+rule("after", "allow", "command = '/usr/bin/tool'", "args = ["+after+"]"))
				for _, f := range p.Findings() {
					if f.Kind != policy.FindingUnreachable {
						continue
					}
					covered++
					for _, w := range words {
						for _, argv := range [][]string{{"tool"}, {"tool", w}, {"tool", w, w}} {
							if j := p.Judge(request(deploy, argv...)); j.Rule != nil && j.Rule.ID == "after" {
								t.Errorf("%s %s before %s decides on %q", kind, before, after, argv)
							}
						}
					}
				}
			}
		}
	}
	if covered < 40 {
		t.Errorf("only %d pairs are found", covered)
	}
}
