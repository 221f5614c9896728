package policy_test

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"snens/broker/policy"
	"snens/internal/accounts"
)

const (
	passwd = `root:x:0:0::/root:/bin/bash
daemon:x:1:1::/:/bin/false
deploy:x:1001:1001::/home/deploy:/bin/sh
ann:x:1002:1002::/home/ann:/bin/sh
bob:x:1003:1003::/home/bob:/bin/sh
annalt:x:1004:1004::/home/ann:/bin/sh
www:x:33:33::/var/www:/bin/false
all:x:4294967295:1::/:/bin/false
lots:x:1005:4294967295::/:/bin/false
`
	group = `root:x:0:
daemon:x:1:
snens:x:200:deploy,bob
ops:x:300:ann,bob
annonly:x:301:ann
empty:x:302:
www:x:33:
adm:x:4:www
`
)

// machine is a host made up for a test.
type machine struct {
	untrusted map[string]string // path -> what is wrong with it, or with one beneath it
	absent    map[string]bool
	links     map[string]string // path -> where it leads
	escapes   map[string]bool   // paths that leave their folder
	present   []string          // the programs there are; nil = whatever is asked for in /usr/bin and the like

	mu     sync.Mutex
	looked []string // every question about a path, in order; guarded by mu
}

func (m *machine) look(p string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.looked = append(m.looked, p)
}

func (m *machine) host() policy.Host {
	return policy.Host{Accounts: policy.FromDB(accounts.Parse(passwd, group)), Files: m}
}

func (m *machine) Trusted(p string) error {
	m.look(p)
	for at := p; ; at = path.Dir(at) {
		if why := m.untrusted[at]; why != "" {
			return errors.New("cannot trust " + p + ": " + at + " " + why)
		}
		if at == "/" {
			break
		}
	}
	if m.absent[p] {
		return fs.ErrNotExist
	}
	return nil
}

func (m *machine) File(p string) (policy.FileInfo, error) {
	m.look(p)
	real := p
	if to := m.links[p]; to != "" {
		real = to
	}
	// Programs live in /usr/bin, unless a test says otherwise.
	if m.present != nil {
		if !slices.Contains(m.present, real) {
			return policy.FileInfo{}, fs.ErrNotExist
		}
	} else if m.absent[real] || strings.HasPrefix(real, "/usr/local/") || strings.HasPrefix(real, "/usr/sbin/") {
		return policy.FileInfo{}, fs.ErrNotExist
	}
	var id uint64
	for _, c := range real {
		id = id*31 + uint64(c)
	}
	return policy.FileInfo{ID: policy.FileID{Device: 1, Inode: id}, Real: real, Executable: true}, nil
}

func (m *machine) Beneath(folder, p string) error {
	m.look(p)
	if m.escapes[p] {
		return errors.New(p + " leaves " + folder)
	}
	return nil
}

// users of the made-up machine, as the kernel would tell of them.
var (
	root   = policy.Subject{}
	deploy = policy.Subject{UID: 1001, GID: 1001, Groups: []policy.GID{200}}
	ann    = policy.Subject{UID: 1002, GID: 1002, Groups: []policy.GID{300, 301}}
	bob    = policy.Subject{UID: 1003, GID: 1003, Groups: []policy.GID{200, 300}}
	carl   = policy.Subject{UID: 4000000000, GID: 4000000000}
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// parse makes a policy of one file for the machine.
func (m *machine) parse(text string) (*policy.Policy, error) {
	return policy.Parse([]policy.File{{Path: "priv.toml", Text: text}}, m.host(), policy.Options{})
}

func load(t testing.TB, text string) *policy.Policy {
	t.Helper()
	p, err := new(machine).parse(text)
	must(t, err)
	return p
}

// rule is a rule with its usual keys and more lines.
func rule(id, decision string, lines ...string) string {
	text := "[[rule]]\nid = '" + id + "'\ndecision = '" + decision + "'\n"
	all := strings.Join(lines, "\n")
	for key, usual := range map[string]string{"command": "'/usr/bin/systemctl'", "from": "['user:deploy']"} {
		if !strings.Contains("\n"+all, "\n"+key+" ") {
			text += key + " = " + usual + "\n"
		}
	}
	if decision == "ask" && !strings.Contains("\n"+all, "\napprove") {
		text += "approve.from = ['group:ops']\n"
	}
	return text + all + "\n"
}

func request(from policy.Subject, argv ...string) policy.Request {
	return policy.Request{From: from, Argv: argv}
}
