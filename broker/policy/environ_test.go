package policy_test

import (
	"os"
	"strings"
	"testing"

	"snens/broker/policy"
)

func text(vars []policy.Var) string {
	var b strings.Builder
	for _, v := range vars {
		b.WriteString(v.Name + "=" + v.Value + "\n")
	}
	return b.String()
}

const plainEnv = "HOME=/root\nLANG=C.UTF-8\nLOGNAME=root\nPAGER=cat\nPATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\nSHELL=/bin/sh\nSYSTEMD_PAGER=cat\nTERM=dumb\nUSER=root\n"

// The environment equals the expected list to the byte.
func TestEnvironment(t *testing.T) {
	p := load(t, rule("r", "allow", `command = "/usr/bin/tool"`, `run_as = {user = "www"}`, `env = {TZ = "UTC", LANG = "de_DE.UTF-8", MODE = "a=b c"}`, `env_pass = ["LC_ALL", "ANSWER", "TERM"]`)+
		"[[rule]]\nid='plain'\ndecision='allow'\ncommand='/usr/bin/x'\nfrom=['user:bob']\n")
	bare, err := p.Rule("plain").Environment(nil)
	must(t, err)
	if text(bare) != plainEnv {
		t.Errorf("got\n%s", text(bare))
	}
	const base = "HOME=/var/www\nLANG=de_DE.UTF-8\n"
	const rest = "LOGNAME=www\nMODE=a=b c\nPAGER=cat\nPATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\nSHELL=/bin/sh\nSYSTEMD_PAGER=cat\n"
	for _, c := range []struct {
		sent []string
		want string
	}{
		{nil, base + rest + "TERM=dumb\nTZ=UTC\nUSER=www\n"},
		{[]string{"PATH=/tmp", "HOME=/tmp", "USER=ann", "LD_PRELOAD=/tmp/x.so", "TZ=:/tmp/x", "SUDO_UID=0", "answer=1", "BASH_FUNC_ls%%=() { id; }"}, base + rest + "TERM=dumb\nTZ=UTC\nUSER=www\n"},
		{[]string{"TERM=xterm", "ANSWER=x=y", "LC_ALL=C"}, "ANSWER=x=y\n" + base[:len(base)-len("LANG=de_DE.UTF-8\n")] + "LANG=de_DE.UTF-8\nLC_ALL=C\n" + rest + "TERM=xterm\nTZ=UTC\nUSER=www\n"},
		{[]string{"ANSWER="}, "ANSWER=\n" + base + rest + "TERM=dumb\nTZ=UTC\nUSER=www\n"},
	} {
		got, err := p.Rule("r").Environment(c.sent)
		if err != nil || text(got) != c.want {
			t.Errorf("%q: %v\ngot\n%s\nwant\n%s", c.sent, err, text(got), c.want)
		}
	}
	for _, sent := range [][]string{
		{"ANSWER"},
		{"=x"},
		{""},
		{"ANSWER=1", "ANSWER=1"},
		{"PATH=/a", "PATH=/b"}, // also of what is left out
		{"ANSWER=a\nb"},
		{"ANSWER=\x1b[2J"},
		{"ANSWER=\xff"},
		{"ANSWER=a\x00"},
		{"ANSWER=" + strings.Repeat("x", 5000)},
		{"LC_ALL=../../tmp/x"},
		{"LC_ALL=%s"},
		{"TERM=/tmp/x"},
	} {
		if got, err := p.Rule("r").Environment(sent); err == nil || got != nil {
			t.Errorf("%.60q is taken: %v", sent, got)
		}
	}
}

// Names that have made programs run code, or look where they should not. The
// list is not ours alone: loaders, interpreters and sudo's own have it.
func TestEnvironmentInjection(t *testing.T) {
	list, err := os.ReadFile("testdata/known-bad-variables.txt")
	must(t, err)
	names := strings.Fields(string(list))
	if len(names) < 300 {
		t.Errorf("only %d names", len(names))
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			t.Errorf("%s stands there twice", name)
		}
		seen[name] = true
		if _, err := new(machine).parse(with("env_pass = ['" + name + "']")); err == nil || !strings.Contains(err.Error(), "rule[0].env_pass[0]: ") {
			t.Errorf("env_pass takes %s: %v", name, err)
		}
	}
	for _, name := range []string{"LD_PRELOAD", "BASH_ENV", "ENV", "PYTHONPATH", "PERL5OPT", "RUBYOPT", "NODE_OPTIONS", "GIT_SSH_COMMAND", "MAKEFLAGS", "GCONV_PATH", "JAVA_TOOL_OPTIONS", "LESSOPEN", "TAR_OPTIONS", "IFS", "PS4"} {
		line := "env = {" + name + " = 'x'}"
		if _, err := new(machine).parse(with(line)); err == nil || !strings.Contains(err.Error(), "priv.toml:5:8: rule[0].env."+name) || !strings.Contains(err.Error(), "i_know = true") {
			t.Errorf("env takes %s: %v", name, err)
		}
		if _, err := new(machine).parse(with(line + "\ni_know = true")); err != nil {
			t.Errorf("env does not take %s with i_know: %v", name, err)
		}
	}
	for _, bad := range []string{"A=B", "A B", "", "1A", "A-B", "BASH_FUNC_x%%", "A\\u0000", "A\\n", "é", "SNENS_X", "SNENS_PRIV"} {
		for _, line := range []string{`env_pass = ["` + bad + `"]`, `env = {"` + bad + `" = "x"}`} {
			if _, err := new(machine).parse(with(line)); err == nil || !strings.Contains(err.Error(), "rule[0].env") {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	for _, line := range []string{
		"env_pass = ['A', 'A']", `env = {A = "a\u0000"}`, "env = {A = 1}", "env = ['A=1']", "env = {A = '" + strings.Repeat("x", 5000) + "'}",
	} {
		if _, err := new(machine).parse(with(line)); err == nil {
			t.Errorf("%.60s is taken", line)
		}
	}
	for _, fine := range []string{"LANG", "LC_ALL", "LC_TIME", "TERM", "COLORTERM", "NO_COLOR", "ANSWER", "DEPLOY_TARGET", "GOAL", "x"} {
		if _, err := new(machine).parse(with("env_pass = ['" + fine + "']")); err != nil {
			t.Errorf("env_pass does not take %s: %v", fine, err)
		}
	}
	for _, fine := range []string{"SYSTEMD_PAGER", "PAGER", "EDITOR", "DEBIAN_FRONTEND", "PATH", "TZ", "HOME", "XDG_RUNTIME_DIR"} {
		if _, err := new(machine).parse(with("env = {" + fine + " = 'x'}")); err != nil {
			t.Errorf("env does not take %s: %v", fine, err)
		}
	}
}
