package policy_test

import (
	"strings"
	"testing"

	"snens/broker/policy"
	"snens/internal/accounts"
)

// The canonical text, written out: digests of rules must not change by
// accident, because pending requests compare them over a restart.
func TestCanonical(t *testing.T) {
	const want = `snens-rule 1
id: restart-web
about: Restart a web server
decision: ask
command: /usr/bin/systemctl
arg: restart
slot: unit
slot.kind: enum
slot.value: nginx.service
slot.value: caddy.service
slot.min: 0
slot.max: 0
slot.pattern: 
slot.beneath: 
slot.as: 
slot.many: 1
slot.optional: false
slot.allow_dash: false
from: gid:200 group:snens
from: uid:1001 user:deploy
run_as.user: 0 root
run_as.group: 0
run_as.groups: 0
env: HOME=/root
env: LANG=C.UTF-8
env: LOGNAME=root
env: PAGER=cat
env: PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
env: SHELL=/bin/sh
env: SYSTEMD_PAGER=cat
env: TERM=dumb
env: USER=root
timeout: 1m0s
cwd: /
umask: 0022
stdin: none
detach: false
limits.memory: 0
limits.pids: 0
limits.cpu: 0s
limits.open_files: 0
limits.file_size: 0
sha256: 
approve.from: gid:300 group:ops
approve.need: 1
approve.presence: peer
approve.ttl: 10m0s
approve.reason_required: true
`
	if got := load(t, restartWeb).Rule("restart-web").Canonical(); got != want {
		t.Errorf("got\n%s", got)
	}
}

// What changes the digest of a rule, and what does not.
func TestDigest(t *testing.T) {
	old := load(t, restartWeb).Rule("restart-web").Digest
	if old.IsZero() {
		t.Fatal("no digest")
	}
	change := func(from, to string) string {
		if !strings.Contains(restartWeb, from) {
			t.Fatalf("the rule has no %s", from)
		}
		return strings.Replace(restartWeb, from, to, 1)
	}
	for name, text := range map[string]string{
		"another rule before it": rule("first", "deny", `args = ["x"]`) + restartWeb,
		"another rule after it":  restartWeb + rule("last", "allow", `args = ["x"]`),
		"persons":                restartWeb + "[[person]]\nname = 'A'\nuids = [1002]\n",
		"comments and blanks":    "# a comment\n\n" + change("ask\"", "ask\" # c"),
		"its examples":           change(`match    = [["restart", "nginx.service"]]`, `match = [["restart", "caddy.service"]]`),
		"a default written out":  change("timeout  =", "umask = '0022'\nstdin = 'none'\ncwd = '/'\ndetach = false\ntimeout  ="),
		"a default left out":     change(`timeout  = "60s"`, ""),
		"the order of from":      change(`["user:deploy", "group:snens"]`, `["group:snens", "user:deploy"]`),
		"needless i_know":        change("timeout  =", "i_know = true\ntimeout  ="),
	} {
		if got := load(t, text).Rule("restart-web").Digest; got != old {
			t.Errorf("%s: the digest changed", name)
		}
	}
	changed := map[policy.Digest]string{old: "the rule as it was"}
	for name, text := range map[string]string{
		"about":            change("Restart a web", "Restart the web"),
		"decision":         strings.Replace(change(`"ask"`, `"allow"`), "approve  =", "#", 1),
		"command":          change("/usr/bin/systemctl", "/usr/bin/service"),
		"a literal":        strings.NewReplacer(`["restart",`, `["reload",`).Replace(restartWeb),
		"a value":          change(`, "caddy.service"`, ""),
		"the slot's name":  change(`slot = "unit"`, `slot = "u"`),
		"from":             change(`"user:deploy", `, ""),
		"from more":        change(`"user:deploy", `, `"user:deploy", "uid:5", `),
		"by uid":           change(`"user:deploy", `, `"uid:1001", `),
		"run_as":           change(`{user = "root", group = "root"}`, `{user = "www"}`),
		"run_as.group":     change(`{user = "root", group = "root"}`, `{user = "root", group = "www"}`),
		"env":              change(`SYSTEMD_PAGER = "cat"`, `SYSTEMD_PAGER = "cat", A = "b"`),
		"env_pass":         change("timeout  =", "env_pass = ['LANG']\ntimeout  ="),
		"timeout":          change(`"60s"`, `"61s"`),
		"a finer timeout":  change(`"60s"`, `"60.0000001s"`),
		"approvers":        change(`["group:ops"]`, `["group:ops", "user:ann"]`),
		"other approvers":  change(`["group:ops"]`, `["user:ann"]`),
		"ttl":              change(`"10m"`, `"11m"`),
		"reason":           change(`"required"`, `"optional"`),
		"cwd":              change("timeout  =", "cwd = 'requester'\ntimeout  ="),
		"umask":            change("timeout  =", "umask = '0027'\ntimeout  ="),
		"stdin":            change("timeout  =", "stdin = 'sealed'\ntimeout  ="),
		"detach":           change("timeout  =", "detach = true\ntimeout  ="),
		"limits.memory":    change("timeout  =", "limits.memory = '1GiB'\ntimeout  ="),
		"limits.pids":      change("timeout  =", "limits.pids = 5\ntimeout  ="),
		"limits.cpu":       change("timeout  =", "limits.cpu = '5s'\ntimeout  ="),
		"limits.files":     change("timeout  =", "limits.open_files = 50\ntimeout  ="),
		"limits.file_size": change("timeout  =", "limits.file_size = 50\ntimeout  ="),
		"sha256":           change("timeout  =", "sha256 = '"+strings.Repeat("0a", 32)+"'\ntimeout  ="),
		"many":             change(`kind = "enum"`, `many = 2, kind = "enum"`),
		"optional":         change(`kind = "enum"`, `optional = true, kind = "enum"`),
		"allow_dash":       change(`kind = "enum"`, `allow_dash = true, kind = "enum"`),
		"secure_path":      "secure_path = ['/usr/bin']\n" + restartWeb,
	} {
		d := load(t, text).Rule("restart-web").Digest
		if same := changed[d]; same != "" {
			t.Errorf("%s: the digest is that of %s", name, same)
		}
		changed[d] = name
	}
}

// A name that moves to another id makes what is pending stale.
func TestDigestFollowsIDs(t *testing.T) {
	digest := func(passwd, group string) policy.Digest {
		h := policy.Host{Accounts: policy.FromDB(accounts.Parse(passwd, group)), Files: new(machine)}
		p, err := policy.Parse([]policy.File{{Path: "x", Text: restartWeb}}, h, policy.Options{})
		must(t, err)
		return p.Rule("restart-web").Digest
	}
	old := digest(passwd, group)
	if digest(passwd+"new:x:77:300::/:/bin/sh\n", strings.Replace(group, "ops:x:300:ann,bob", "ops:x:300:ann", 1)) != old {
		t.Error("a member of a group changed the digest")
	}
	for _, c := range [][2]string{
		{strings.Replace(passwd, "deploy:x:1001", "deploy:x:1111", 1), group},
		{passwd, strings.Replace(group, "snens:x:200", "snens:x:222", 1)},
		{passwd, strings.Replace(group, "ops:x:300", "ops:x:333", 1)},
		{strings.Replace(passwd, "/root:", "/other:", 1), group},
		{passwd, strings.Replace(group, "adm:x:4:www", "adm:x:4:root", 1)},
	} {
		if digest(c[0], c[1]) == old {
			t.Errorf("the digest does not follow the ids of\n%s\n%s", c[0], c[1])
		}
	}
}
