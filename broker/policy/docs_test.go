package policy_test

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"snens/broker/policy"
	"snens/internal/accounts"
)

const page = "../../docs/policy.md"

func readPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(page)
	must(t, err)
	return string(text)
}

func TestTheReferenceIsComplete(t *testing.T) {
	row := regexp.MustCompile("(?m)^\\| `((?:rule|person)\\.[a-z0-9_.]+|secure_path)` \\| ([^|]*) \\|([^|]*)\\| ([^|]+) \\|$")
	var written []policy.Key
	for _, m := range row.FindAllStringSubmatch(readPage(t), -1) {
		written = append(written, policy.Key{Path: m[1], Kind: m[2], Default: strings.Trim(m[3], " `")})
	}
	slices.SortFunc(written, func(a, b policy.Key) int { return strings.Compare(a.Path, b.Path) })
	keys := policy.Keys()
	for _, k := range keys {
		if !slices.Contains(written, k) {
			t.Errorf("%s has no row | `%s` | %s | `%s` |", page, k.Path, k.Kind, k.Default)
		}
	}
	for _, k := range written {
		if !slices.Contains(keys, k) {
			t.Errorf("%s has the row %+v, the code has not", page, k)
		}
	}
	if len(keys) < 40 {
		t.Errorf("only %d keys", len(keys))
	}
}

// Every key does something, and only what the page says has no effect has none.
func TestEveryKeyHasAnEffect(t *testing.T) {
	const base = "[[rule]]\nid = 'r'\nabout = 'a'\ndecision = 'ask'\ncommand = '/usr/bin/tool'\nargs = [{slot = 's', kind = 'enum', values = ['x']}]\nfrom = ['user:deploy']\napprove = {from = ['user:ann']}\n"
	sum := func(text string) string {
		p, err := new(machine).parse(text)
		if err != nil {
			return err.Error() // an effect as well: the key is understood
		}
		r := p.Rules[0]
		if r.IKnow {
			return "i_know"
		}
		text = r.Canonical()
		for _, person := range p.Persons {
			text += person.Name + strings.Join(person.Principals, ",")
			for _, uid := range person.UIDs {
				text += uid.String()
			}
		}
		for _, list := range [][][]string{r.Match, r.NoMatch} {
			for _, words := range list {
				text += strings.Join(words, ",")
			}
		}
		return text
	}
	slot := func(s string) string {
		return strings.Replace(base, "{slot = 's', kind = 'enum', values = ['x']}", "{"+s+"}", 1)
	}
	edit := func(old, with string) string { return strings.Replace(base, old, with, 1) }
	more := func(line string) string { return base + line + "\n" }
	word := "slot = 's', kind = 'word', pattern = 'x'"
	for key, c := range map[string]struct{ with, without string }{
		"secure_path":            {"secure_path = ['/usr/bin']\n" + base, base},
		"rule.id":                {edit("'r'", "'q'"), base},
		"rule.about":             {edit("'a'", "'b'"), base},
		"rule.decision":          {strings.Replace(edit("'ask'", "'allow'"), "approve", "#", 1), base},
		"rule.command":           {edit("/tool", "/other"), base},
		"rule.args":              {edit("args", "# args"), base},
		"rule.from":              {edit("deploy", "bob"), base},
		"rule.env":               {more("env = {A = 'b'}"), base},
		"rule.env_pass":          {more("env_pass = ['A']"), base},
		"rule.timeout":           {more("timeout = '5s'"), base},
		"rule.match":             {more("match = [['x']]"), base},
		"rule.no_match":          {more("no_match = [['y']]"), base},
		"rule.cwd":               {more("cwd = '/srv'"), base},
		"rule.umask":             {more("umask = '0077'"), base},
		"rule.stdin":             {more("stdin = 'sealed'"), base},
		"rule.detach":            {more("detach = true"), base},
		"rule.sha256":            {more("sha256 = '" + strings.Repeat("0", 64) + "'"), base},
		"rule.i_know":            {more("i_know = true"), base},
		"rule.run_as.user":       {more("run_as.user = 'www'"), base},
		"rule.run_as.group":      {more("run_as.group = 'www'"), base},
		"rule.limits.memory":     {more("limits.memory = '1GiB'"), base},
		"rule.limits.pids":       {more("limits.pids = 3"), base},
		"rule.limits.cpu":        {more("limits.cpu = '3s'"), base},
		"rule.limits.open_files": {more("limits.open_files = 30"), base},
		"rule.limits.file_size":  {more("limits.file_size = '3KiB'"), base},
		"rule.approve.from":      {edit("ann", "bob"), base},
		"rule.approve.need":      {edit("'user:ann']", "'user:ann'], need = 2"), base},
		"rule.approve.presence":  {edit("'user:ann']", "'user:ann'], presence = 'sshsig'"), base},
		"rule.approve.ttl":       {edit("'user:ann']", "'user:ann'], ttl = '1m'"), base},
		"rule.approve.remember":  {edit("'user:ann']", "'user:ann'], remember = ['1m']"), base},
		"rule.approve.reason":    {edit("'user:ann']", "'user:ann'], reason = 'required'"), base},
		"rule.args.slot":         {edit("'s'", "'t'"), base},
		"rule.args.kind":         {slot("slot = 's', kind = 'unit'"), base},
		"rule.args.values":       {edit("['x']", "['x', 'y']"), base},
		"rule.args.min":          {slot("slot = 's', kind = 'int', min = 1, max = 9"), slot("slot = 's', kind = 'int', min = 2, max = 9")},
		"rule.args.max":          {slot("slot = 's', kind = 'int', min = 1, max = 9"), slot("slot = 's', kind = 'int', min = 1, max = 8")},
		"rule.args.pattern":      {slot(word), slot(strings.Replace(word, "'x'", "'y'", 1))},
		"rule.args.beneath":      {slot("slot = 's', kind = 'path', beneath = '/a'"), slot("slot = 's', kind = 'path', beneath = '/b'")},
		"rule.args.as":           {slot("slot = 's', kind = 'path', beneath = '/a', as = 'fd'"), slot("slot = 's', kind = 'path', beneath = '/a'")},
		"rule.args.many":         {slot(word + ", many = 2"), slot(word)},
		"rule.args.optional":     {slot(word + ", optional = true"), slot(word)},
		"rule.args.allow_dash":   {slot(word + ", allow_dash = true"), slot(word)},
		"person.name":            {base + "[[person]]\nname = 'A'\nuids = [1]\n", base + "[[person]]\nname = 'B'\nuids = [1]\n"},
		"person.uids":            {base + "[[person]]\nname = 'A'\nuids = [1]\n", base + "[[person]]\nname = 'A'\nuids = [2]\n"},
		"person.principals":      {base + "[[person]]\nname = 'A'\nprincipals = ['a']\n", base + "[[person]]\nname = 'A'\nprincipals = ['b']\n"},
	} {
		if sum(c.with) == sum(c.without) {
			t.Errorf("%s has no effect", key)
		}
		if !slices.ContainsFunc(policy.Keys(), func(k policy.Key) bool { return k.Path == key }) {
			t.Errorf("%s is tried, but is no key", key)
		}
		if strings.Contains(sum(c.with), "unknown key") {
			t.Errorf("%s is unknown: %s", key, sum(c.with))
		}
	}
	if n := len(policy.Keys()); n != 45 {
		t.Errorf("%d keys, 45 are tried here", n)
	}
	if _, err := new(machine).parse(base); err != nil {
		t.Error(err)
	}
}

// office is the machine that the cookbook is about.
func office() (policy.Host, *machine) {
	m := &machine{
		untrusted: map[string]string{"/home/deploy": "belongs to uid 1001"},
		present:   []string{"/usr/bin/systemctl", "/usr/bin/apt-get", "/usr/bin/journalctl", "/usr/bin/docker", "/usr/bin/certbot", "/usr/sbin/nft", "/usr/local/sbin/load-redirects"},
	}
	db := accounts.Parse(passwd+"nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n", group+"systemd-journal:x:999:\n")
	return policy.Host{Accounts: policy.FromDB(db), Files: m}, m
}

// Every recipe loads by itself and all together, has no findings, and does with
// commands what is written below it.
func TestTheCookbook(t *testing.T) {
	_, cookbook, _ := strings.Cut(readPage(t), "\n## Cookbook\n")
	cookbook, _, _ = strings.Cut(cookbook, "\n## ")
	recipes := strings.Split(cookbook, "\n### ")[1:]
	if len(recipes) < 6 {
		t.Fatalf("only %d recipes", len(recipes))
	}
	block := func(text, kind string) string {
		_, text, _ = strings.Cut(text, "```"+kind+"\n")
		text, _, _ = strings.Cut(text, "```")
		return text
	}
	for _, recipe := range recipes {
		name, _, _ := strings.Cut(recipe, "\n")
		t.Run(name, func(t *testing.T) {
			host, _ := office()
			p, err := policy.Parse([]policy.File{{Path: name, Text: block(recipe, "toml")}}, host, policy.Options{})
			must(t, err)
			for _, f := range p.Findings() {
				t.Error(f)
			}
			tried := map[string]int{}
			for line := range strings.Lines(block(recipe, "judged")) {
				want, command, _ := strings.Cut(strings.TrimSpace(line), " ")
				j := p.Judge(policy.Request{From: policy.Subject{UID: 1001, GID: 1001}, Argv: split(command)})
				if j.Decision.String() != want || want != "deny" && !path.IsAbs(j.Argv[0]) {
					t.Errorf("%s\ngives %v: %s", line, j.Decision, j.Detail)
				}
				tried[want]++
			}
			if tried["deny"] < 2 || tried["ask"]+tried["allow"] == 0 {
				t.Errorf("tried %v", tried)
			}
			for _, r := range p.Rules {
				keeps(t, p, r)
			}
		})
	}
}

// split takes words apart at blanks; what stands between single quotes is one.
func split(command string) (words []string) {
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// What the page says is refused as missing is, and with those words.
func TestWhatIsMissingIsSaid(t *testing.T) {
	_, said, _ := strings.Cut(readPage(t), "### Not available in this version\n")
	said, _, _ = strings.Cut(said, "\n## ")
	for word, line := range map[string]string{
		"`need` above 1":          "approve = {from = ['group:ops'], need = 2}",
		"`presence = \"sshsig\"`": "approve = {from = ['group:ops'], presence = 'sshsig'}",
		"`principal:NAME`":        "approve = {from = ['principal:a']}",
		"`remember`":              "approve = {from = ['group:ops'], remember = ['1h']}",
		"`tty`":                   "tty = true",
		"`record`":                "record = true",
		"`kind`":                  "kind = 'write'",
	} {
		if !strings.Contains(said, word) {
			t.Errorf("the page does not say %s", word)
		}
		if _, err := new(machine).parse(with(line)); err == nil || !strings.Contains(err.Error(), "is not available in this version") {
			t.Errorf("%s: %v", line, err)
		}
	}
}
