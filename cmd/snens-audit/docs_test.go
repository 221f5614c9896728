package main

import (
	"os"
	"strings"
	"testing"
)

// TestGeneratedManualPage holds docs/man/snens-audit.8 to what --help says; make
// gen writes it.
func TestGeneratedManualPage(t *testing.T) {
	const name = "../../docs/man/snens-audit.8"
	page := ".TH SNENS\\-AUDIT 8 \"\" \"\" \"SNENS\"\n.SH NAME\nsnens\\-audit \\- shows the audit log of the privilege broker\n.SH SYNOPSIS\n.nf\n" +
		strings.NewReplacer("\\", "\\e", "-", "\\-").Replace(overview) + ".fi\n.SH SEE ALSO\n.BR snens\\-priv (8)\n"
	if os.Getenv("SNENS_GENERATE") == "1" {
		if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != page {
		t.Errorf("%s is not what --help says; run make gen", name)
	}
}
