package nspawn

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"snens/broker/policy"
	"snens/internal/accounts"
)

// anyFiles are a machine on which every path is root's, and every program in
// /usr/bin.
type anyFiles struct{}

func (anyFiles) Trusted(string) error         { return nil }
func (anyFiles) Beneath(string, string) error { return nil }
func (anyFiles) File(path string) (policy.FileInfo, error) {
	if !strings.HasPrefix(path, "/usr/bin/") {
		return policy.FileInfo{}, fs.ErrNotExist
	}
	return policy.FileInfo{ID: policy.FileID{Device: 1, Inode: 1}, Real: path, Executable: true}, nil
}

// The policy that is installed allows nothing. Each of its examples is a policy
// when the "#" before it is taken away, and so are all together.
func TestTheInstalledPolicy(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(checkout + "/contrib/snens/priv.toml")
	must(t, err)
	db := accounts.Parse("root:x:0:0::/root:/bin/sh\nagent:x:1003:1003::/:/bin/sh\nann:x:1000:1000::/:/bin/sh\n", "snens:x:990:agent\nsnens-approve:x:991:ann\n")
	load := func(text string) *policy.Policy {
		t.Helper()
		p, err := policy.Parse([]policy.File{{Path: "priv.toml", Text: text}}, policy.Host{Accounts: policy.FromDB(db), Files: anyFiles{}}, policy.Options{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, f := range p.Findings() {
			t.Errorf("%s\n%s", f, text)
		}
		return p
	}
	if p := load(string(text)); len(p.Rules) != 0 || len(p.Persons) != 0 {
		t.Errorf("it has %d rules and %d persons as it stands", len(p.Rules), len(p.Persons))
	}
	commented := regexp.MustCompile(`(?m)^#(\S)`)
	all := commented.ReplaceAllString(string(text), "$1")
	examples := 0
	for part := range strings.SplitSeq(all, "\n\n") {
		if p := load(part); len(p.Rules)+len(p.Persons) > 0 {
			examples++
		}
	}
	p := load(all)
	if len(p.Rules) < 3 || examples != len(p.Rules)+1 {
		t.Errorf("%d examples, together %d rules", examples, len(p.Rules))
	}
}
