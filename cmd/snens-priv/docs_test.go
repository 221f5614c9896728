package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestGeneratedManualPage holds docs/man/snens-priv.8 to what the commands say
// of themselves; make gen writes it.
func TestGeneratedManualPage(t *testing.T) {
	const name = "../../docs/man/snens-priv.8"
	var b strings.Builder
	b.WriteString(".TH SNENS\\-PRIV 8 \"\" \"\" \"SNENS\"\n.SH NAME\nsnens\\-priv \\- the privilege broker, and the commands of its administrator\n.SH DESCRIPTION\n" +
		"Programs ask it for actions that need root. It judges them by a policy, asks people where the\npolicy says so, and runs exactly what was approved, once. " +
		"Nothing in it is set\\-uid.\n.BR snens\\-audit (8)\nshows what it recorded.\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, ".SH %s\n.nf\n%s.fi\n", strings.ToUpper(c.name), troff(c.help))
	}
	if os.Getenv("SNENS_GENERATE") == "1" {
		must(t, os.WriteFile(name, []byte(b.String()), 0o644))
		return
	}
	got, err := os.ReadFile(name)
	must(t, err)
	if string(got) != b.String() {
		t.Errorf("%s is not what the commands say; run make gen", name)
	}
}

// troff makes lines of text mean themselves.
func troff(text string) string {
	text = strings.NewReplacer("\\", "\\e", "-", "\\-").Replace(text)
	var b strings.Builder
	for l := range strings.Lines(text) {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			b.WriteString("\\&")
		}
		b.WriteString(l)
	}
	return b.String()
}

// Every help begins with what the command is for and how it is called, and fits
// on a terminal.
func TestHelpIsInForm(t *testing.T) {
	for _, c := range commands() {
		lines := strings.Split(c.help, "\n")
		if !strings.HasPrefix(lines[0], "snens-priv "+c.name+" — ") || !strings.HasPrefix(lines[1], "snens-priv "+c.name) || lines[2] != "" {
			t.Errorf("the help of %s does not begin with its essence and its usage", c.name)
		}
		for _, l := range lines[2:] {
			if len([]rune(l)) > 90 {
				t.Errorf("the help of %s has a line of %d characters: %s", c.name, len([]rune(l)), l)
			}
		}
	}
}
