package main

import (
	"os"
	"strings"
	"testing"

	"snens/broker/policy"
	"snens/internal/accounts"
)

// office is a machine on which every path is in order.
type office struct{}

func (office) Trusted(string) error         { return nil }
func (office) Beneath(string, string) error { return nil }
func (office) File(p string) (policy.FileInfo, error) {
	return policy.FileInfo{Real: p, Executable: true}, nil
}

// policyOf loads the blocks of TOML of a page behind each heading.
func policyOf(t *testing.T, page string, headings ...string) *policy.Policy {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	rules := ""
	for _, h := range headings {
		_, part, found := strings.Cut(string(text), "\n"+h+"\n")
		_, part, toml := strings.Cut(part, "```toml\n")
		part, _, _ = strings.Cut(part, "```")
		if !found || !toml {
			t.Fatalf("%s has no recipe %q", page, h)
		}
		rules += part
	}
	host := policy.Host{Files: office{}, Accounts: policy.FromDB(accounts.Parse(
		"root:x:0:0::/root:/bin/sh\ndeploy:x:1001:1001::/home/deploy:/bin/sh\nann:x:1002:1002::/:/bin/sh\n", "root:x:0:\ndeploy:x:1001:\nops:x:60:ann\n"))}
	p, err := policy.Parse([]policy.File{{Path: "priv.toml", Text: rules}}, host, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What the tools ask for is what the recipes are about, to the letter.
func TestRecipesFitTheTools(t *testing.T) {
	cookbook := policyOf(t, "../../docs/policy.md", "### Restart these units", "### Install named packages")
	shipped := policyOf(t, "../../docs/shipped.md", "### Rules for service and package")
	for _, c := range []struct {
		argv           string
		inBook, inPage string
	}{
		{"service restart nginx", "ask", "ask"},
		{"service reload nginx", "deny", "ask"},
		{"service restart ssh", "deny", "deny"},
		{"package install jq git", "ask", "ask"},
		{"package upgrade jq", "deny", "ask"},
		{"package upgrade", "deny", "ask"},
		{"package remove jq", "deny", "ask"},
		{"package remove dpkg", "deny", "deny"},
		{"package update", "allow", "allow"},
	} {
		words := strings.Fields(c.argv)
		var asked []string
		if words[0] == "service" {
			r, err := parseService(words[1:])
			if err != nil {
				t.Fatal(err)
			}
			asked = r.command()
		} else {
			r, err := parsePackage(words[1:])
			if err != nil {
				t.Fatal(err)
			}
			asked = r.command()
		}
		for p, want := range map[*policy.Policy]string{cookbook: c.inBook, shipped: c.inPage} {
			j := p.Judge(policy.Request{From: policy.Subject{UID: 1001, GID: 1001}, Argv: asked})
			if j.Decision.String() != want {
				t.Errorf("%s: %q is %s, not %s: %s", c.argv, asked, j.Decision, want, j.Detail)
			}
		}
	}
}
