package nspawn

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const approvalsPage = "../../docs/approvals.md"

// approving says whether people can answer: whether there is a snens approve. As
// long as there is none, the page is followed to the first block that needs it, and
// its scripts are tried with what needs nobody's answer.
const approving = true

// knowsApproving fails the test when approving is not what the programs are.
func (m *machine) knowsApproving() {
	m.t.Helper()
	if there := m.shell("root", "snens --help | grep -q '^ *approve '").status == 0; there != approving {
		m.t.Errorf("snens approve is there: %v; mend the constant approving, and have the whole page run", there)
	}
	page, err := os.ReadFile(approvalsPage)
	must(m.t, err)
	if said := strings.Contains(string(page), "not part of this version"); said == approving {
		m.t.Errorf("%s says that snens approve is missing: %v", approvalsPage, said)
	}
}

// failingUnit cannot be restarted.
const failingUnit = `[Service]
Type=oneshot
ExecStart=/bin/false
`

// withUnits boots a machine that has the units of the page.
func withUnits(t *testing.T) *machine {
	t.Helper()
	m := boot(t)
	m.root("systemd-sysusers")
	m.write("/etc/systemd/system/nginx.service", webUnit, 0o644)
	m.write("/etc/systemd/system/caddy.service", webUnit, 0o644)
	m.root("systemctl daemon-reload && systemctl start nginx caddy")
	return m
}

// starts says when units were started last.
func (m *machine) starts(units string) string {
	m.t.Helper()
	return m.root("systemctl show --value --property InvocationID " + units)
}

// docs/approvals.md, done as it stands; and what it says has run has run.
func TestTheApprovalsPage(t *testing.T) {
	t.Parallel()
	m := withUnits(t)
	m.knowsApproving()
	nginx, caddy := m.starts("nginx"), m.starts("caddy")
	followTo(t, m, approvalsPage, func(b *block) bool {
		return !approving && strings.Contains(strings.Join(b.lines, "\n"), "# snens approve")
	})
	if !approving {
		return
	}
	if m.starts("nginx") == nginx || m.starts("caddy") == caddy {
		t.Error("what was approved has not run")
	}
	verdicts := m.root("snens-audit show --json --kind exited")
	if got := strings.Count(verdicts, "\n"); got != 2 {
		t.Errorf("%d commands have run, not the two that were approved:\n%s", got, verdicts)
	}
}

// The scripts of the page tell what became of a request, by the exit status and
// by the status line: done, failed, busy, expired and denied.
func TestTheScriptsOfThePage(t *testing.T) {
	t.Parallel()
	m := withUnits(t)
	m.root("useradd --create-home --groups snens agent")
	rule := ""
	for _, b := range readBlocks(t, approvalsPage) {
		if len(b.info) != 1 || !strings.HasPrefix(b.info[0], "/") {
			continue
		}
		text := strings.Join(b.lines, "\n") + "\n"
		m.write(b.info[0], text, map[string]os.FileMode{"sh": 0o755, "toml": 0o600}[b.kind])
		if b.kind == "toml" {
			rule = text
		} else if lines := strings.Count(text, "\n"); b.info[0] == "/usr/local/bin/restart-web" && lines > 10 {
			t.Errorf("%s has %d lines, which are to be ten", b.info[0], lines)
		}
	}
	m.root("systemctl start snens-priv")
	// Each has a unit of its own: who was told no is refused the same for a while.
	for script, unit := range map[string]string{"restart-web": "nginx.service", "restart-web-exactly": "caddy.service"} {
		m.write("/etc/snens/priv.d/restart-web.toml", rule, 0o600)
		m.write("/etc/systemd/system/"+unit, webUnit, 0o644)
		m.root("systemctl daemon-reload && systemctl reload snens-priv")
		ask := fmt.Sprintf("%s %s 'for a test of %[1]s'", script, unit)

		asked := m.begin("agent", ask)
		id := asked.until(waits)
		ends(t, m.begin("agent", ask), "busy")
		m.answer(asked, id, "yes", "done")

		m.write("/etc/systemd/system/"+unit, failingUnit, 0o644)
		m.root("systemctl daemon-reload")
		asked = m.begin("agent", ask)
		m.answer(asked, asked.until(waits), "yes", "failed")

		m.write("/etc/snens/priv.d/restart-web.toml", strings.Replace(rule, `"10m"`, `"1s"`, 1), 0o600)
		m.root("systemctl reload snens-priv")
		ends(t, m.begin("agent", ask), "expired")

		m.write("/etc/snens/priv.d/restart-web.toml", rule, 0o600)
		m.root("systemctl reload snens-priv")
		asked = m.begin("agent", ask)
		m.answer(asked, asked.until(waits), "no", "denied")
		ends(t, m.begin("agent", script+" ssh.service x"), "denied")
	}
	m.root("snens-priv audit verify")
}

// waits is what snens priv says when people are asked: id and digest.
const waits = `to approve (\S+) \(digest (\w+)\)`

// answer gives root's answer to what waits; then the script ends with a word.
func (m *machine) answer(asked *running, id []string, word, want string) {
	m.t.Helper()
	if !approving {
		m.as("agent", "snens priv cancel "+id[1])
		ends(m.t, asked, "busy")
		return
	}
	digest := ""
	if word == "yes" {
		digest = " --digest " + id[2]
	}
	m.root("snens approve " + word + " " + id[1] + digest)
	ends(m.t, asked, want)
}

func ends(t *testing.T, r *running, want string) {
	t.Helper()
	said, _ := r.wait()
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if got := lines[len(lines)-1]; got != want {
		t.Errorf("%s: says %q, not %q:\n%s", r.script, got, want, said)
	}
}
