package policy_test

import (
	"strings"
	"testing"
)

func TestEscapeHatches(t *testing.T) {
	for _, c := range []struct {
		command, args string
		want          string // "" = loads without i_know
	}{
		{"vim", ``, "is an editor"},
		{"vim.basic", ``, "is an editor"},
		{"less", ``, "is a pager"},
		{"python3", ``, "is an interpreter"},
		{"python3.11", `"/usr/local/sbin/fixed.py"`, "is an interpreter"},
		{"perl", ``, "is an interpreter"},
		{"perl5.36-x86_64-linux-gnu", ``, "is an interpreter"},
		{"awk", ``, "is an interpreter"},
		{"find", `"/srv", "-delete"`, "find(1): -exec"},
		{"tar", ``, "tar(1): --checkpoint-action"},
		{"busybox", `"ls"`, "applets"},
		{"bash", `"-c", "id"`, "is a shell"},
		{"sh", ``, "is a shell"},
		{"env", `"-S", "sh -c id"`, "runs another program"},
		{"xargs", ``, "runs another program"},
		{"sudo", ``, "runs another program"},
		{"systemd-run", ``, "runs another program"},
		{"nmap", ``, "runs scripts"},
		{"git", `"pull"`, "runs hooks"},
		{"ssh", ``, "ProxyCommand"},
		{"rsync", ``, "rsync(1): -e"},
		{"psql", ``, "psql(1)"},
		{"systemctl", `"edit", {slot = "u", kind = "unit"}`, `the rule lets "edit" through, and with it "systemctl" starts an editor`},
		{"systemctl", `{slot = "verb", kind = "word", pattern = "[a-z-]+"}, "nginx.service"`, `lets "edit" through`},
		{"systemctl", `"enable", {slot = "u", kind = "word", pattern = "[a-z/.]+"}`, `lets "enable" through`},
		{"systemctl", `"restart", {slot = "u", kind = "unit"}`, ""},
		{"journalctl", `"-u", {slot = "u", kind = "unit"}`, ""},
		{"journalctl", `{slot = "o", kind = "word", pattern = ".*", allow_dash = true}`, `lets "--file=/tmp/x" through`},
		{"journalctl", `"--file=/home/ann/x"`, "reads files"},
		{"docker", `"restart", "web"`, ""},
		{"docker", `"exec", "web", "id"`, `lets "exec" through`},
		{"podman", `{slot = "v", kind = "enum", values = ["start", "run"]}, "web"`, `lets "run" through`},
		{"apt-get", `"install", "-y", {slot = "p", kind = "word", pattern = "[a-z0-9.+-]+"}`, ""},
		{"apt-get", `"install", "-y", {slot = "p", kind = "word", pattern = "[a-z0-9.+/-]+"}`, `lets "./x.deb" through`},
		{"certbot", `"renew", "--quiet"`, ""},
		{"certbot", `"renew", "--deploy-hook", "x"`, "runs commands"},
		{"certbot", `"renew", "--deploy-hook=/bin/x"`, "runs commands"},
		{"nft", `"add", "element", "inet", "filter", "blocked", {slot = "a", kind = "word", pattern = "[{} 0-9.]+"}`, ""},
		{"nft", `"-f", {slot = "f", kind = "path", beneath = "/etc/nft"}`, "reads its rules"},
		{"ip", `"netns", "exec", "x", "id"`, `lets "netns" through`},
		{"ip", `"link", "show"`, ""},
		{"cp", `"/etc/a", "/etc/b"`, ""}, // the rule says all
		{"cp", `{slot = "f", kind = "path", beneath = "/etc"}, "/etc/b"`, "gives away files"},
		{"useradd", `{slot = "u", kind = "word", pattern = "[a-z]+"}`, "accounts"},
		{"perldoc", ``, ""},
		{"nginx", `"-t"`, ""},
		{"fail2ban-client", `"status"`, ""},
	} {
		text := rule("r", "allow", `command = "/usr/bin/`+c.command+`"`, "args = ["+c.args+"]")
		_, err := new(machine).parse(text)
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "i_know = true")) {
			t.Errorf("%s %s\ngot  %v\nwant %q", c.command, c.args, err, c.want)
		}
		if _, err := new(machine).parse(text + "i_know = true\n"); err != nil {
			t.Errorf("%s %s with i_know: %v", c.command, c.args, err)
		}
		if _, err := new(machine).parse(strings.Replace(text, "'allow'", "'deny'", 1)); err != nil {
			t.Errorf("%s %s denied: %v", c.command, c.args, err)
		}
	}
}

// A symlink is as dangerous as what it leads to.
func TestHatchBehindALink(t *testing.T) {
	m := &machine{links: map[string]string{"/usr/bin/harmless": "/usr/bin/busybox"}}
	if _, err := m.parse(rule("r", "allow", `command = "/usr/bin/harmless"`)); err == nil || !strings.Contains(err.Error(), `"busybox" has a shell`) {
		t.Errorf("got %v", err)
	}
	m = &machine{links: map[string]string{"/usr/bin/vi": "/usr/share/x"}}
	if _, err := m.parse(rule("r", "allow", `command = "/usr/bin/vi"`)); err == nil || !strings.Contains(err.Error(), `"vi" is an editor`) {
		t.Errorf("got %v", err)
	}
}

func TestFindings(t *testing.T) {
	wide := rule("wide", "allow", `args = ["restart", {slot = "u", kind = "unit", many = 2}]`)
	for _, c := range []struct {
		name, text string
		want       []string // the kinds, each followed by a word of the text
	}{
		{"fine", restartWeb, nil},
		{"covered by a wider slot", wide + rule("narrow", "allow", `args = ["restart", "nginx.service"]`), []string{"unreachable rule wide"}},
		{"covered by a deny that stands later", rule("narrow", "allow", `args = ["restart", "a.service"]`) + rule("d", "deny", `from = ["everyone"]`), []string{"unreachable rule d"}},
		{"an enum in a unit", wide + rule("e", "allow", `args = ["restart", {slot = "u", kind = "enum", values = ["a.service", "b.timer"]}]`), []string{"unreachable rule wide"}},
		{"an enum with one more", wide + rule("e", "allow", `args = ["restart", {slot = "u", kind = "enum", values = ["a.service", "b"]}]`), nil},
		{"more words than before", wide + rule("e", "allow", `args = ["restart", {slot = "u", kind = "unit", many = 3}]`), nil},
		{"fewer words than before", wide + rule("e", "allow", `args = ["restart", {slot = "u", kind = "unit"}]`), []string{"unreachable rule wide"}},
		{"somebody else", wide + rule("narrow", "allow", `args = ["restart", "nginx.service"]`, `from = ["user:bob"]`), nil},
		{"one of the group", strings.Replace(wide, "'user:deploy'", "'group:snens'", 1) + rule("narrow", "allow", `args = ["restart", "nginx.service"]`, `from = ["uid:1003"]`), []string{"unreachable rule wide"}},
		{"ints", rule("a", "allow", `command = "/usr/bin/t"`, `args = [{slot = "n", kind = "int", min = 1, max = 9}]`) + rule("b", "allow", `command = "/usr/bin/t"`, `args = [{slot = "n", kind = "int", min = 2, max = 9}]`) + rule("c", "allow", `command = "/usr/bin/t"`, `args = [{slot = "n", kind = "int", min = 2, max = 10}]`), []string{"unreachable rule a"}},
		{"the only approver asks", rule("r", "ask", "from = ['user:ann']", "approve.from = ['user:ann']"), []string{"approver_is_asker user:ann", "approver_is_asker nobody can approve"}},
		{"the only approver is the same person", rule("r", "ask", "from = ['uid:1004']", "approve.from = ['user:ann']") + "[[person]]\nname = 'Ann'\nuids = [1002, 1004]\n", []string{"approver_is_asker (Ann)", "approver_is_asker nobody"}},
		{"one of two approvers asks", rule("r", "ask", "from = ['user:ann']", "approve.from = ['group:annonly', 'user:bob']"), []string{"approver_is_asker group:annonly"}},
		{"two may ask", rule("r", "ask", "from = ['user:ann', 'user:bob']", "approve.from = ['user:ann']"), nil},
		{"the same two ask and approve", rule("r", "ask", "from = ['group:ops']", "approve.from = ['group:ops']"), nil},
		{"nobody approves", rule("r", "ask", "approve.from = ['group:empty']"), []string{"nobody group:empty", "approver_is_asker nobody can"}},
		{"not there", rule("r", "allow", "command = '/usr/local/bin/none'"), []string{"not_installed /usr/local/bin/none"}},
		{"another path", rule("r", "allow", "command = '/bin/tool'"), []string{"other_path /usr/bin/tool"}},
		{"needless", rule("r", "allow", "i_know = true"), []string{"needless_i_know remove it"}},
		{"needed", rule("r", "allow", "command = '/usr/bin/bash'", "i_know = true"), nil},
		{"needed for input", rule("r", "ask", "stdin = 'pass'", "i_know = true"), nil},
		{"needed for a variable", rule("r", "allow", "env = {LD_PRELOAD = '/usr/lib/x.so'}", "i_know = true"), nil},
	} {
		p, err := new(machine).parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := p.Findings()
		if len(got) != len(c.want) {
			t.Errorf("%s: got %v", c.name, got)
			continue
		}
		for i, want := range c.want {
			kind, word, _ := strings.Cut(want, " ")
			if got[i].Kind != kind || !strings.Contains(got[i].Text, word) || !strings.HasPrefix(got[i].String(), "priv.toml:") {
				t.Errorf("%s: got %+v, want %s", c.name, got[i], want)
			}
		}
	}
	m := &machine{links: map[string]string{"/bin/tool": "/usr/bin/tool"}}
	p, err := m.parse(rule("d", "deny", "command = '/bin/tool'") + rule("a", "allow", "command = '/usr/bin/tool'"))
	must(t, err)
	if f := p.Findings(); len(f) != 1 || f[0].Kind != "same_file" || f[0].Rule != "a" {
		t.Errorf("a deny by another path: %v", f)
	}
}
