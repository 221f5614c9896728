package nspawn

import (
	"regexp"
	"strings"
	"testing"
)

// webUnit stands for a web server: something to restart.
const webUnit = `[Unit]
Description=A web server, for a test

[Service]
ExecStart=/usr/bin/sleep infinity
`

// rules are what the tests of this file ask for.
const rules = `
[[rule]]
id       = "restart-web"
decision = "ask"
command  = "/usr/bin/systemctl"
args     = ["restart", {slot = "unit", kind = "enum", values = ["nginx.service"]}]
from     = ["user:agent"]
approve  = {from = ["uid:0", "group:snens-approve"]}

[[rule]]
id       = "doze"
decision = "allow"
command  = "/usr/local/sbin/doze"
from     = ["user:agent"]
timeout  = "10m"

[[rule]]
id       = "inside"
decision = "allow"
command  = "/usr/local/sbin/inside"
from     = ["user:agent"]
`

// doze starts what a stop must not leave behind: a child in a session of its own
// that ignores TERM.
const doze = `#!/bin/sh
setsid sh -c 'trap "" TERM HUP; while :; do sleep 600; done' &
trap "" TERM
echo dozing
while :; do sleep 600; done
`

// installed boots a machine on which an administrator has done what make install
// asks for, and written the policy.
func installed(t *testing.T, rules string) *machine {
	t.Helper()
	m := boot(t)
	m.root("systemd-sysusers && systemctl daemon-reload")
	m.root("useradd --create-home --groups snens agent && useradd --create-home --groups snens-approve ann && useradd --create-home stranger")
	m.write("/etc/systemd/system/nginx.service", webUnit, 0o644)
	m.write("/usr/local/sbin/doze", doze, 0o755)
	m.write("/usr/local/sbin/inside", inside, 0o755)
	m.write("/etc/snens/priv.d/test.toml", rules, 0o600)
	return m
}

// property is one of the broker's unit.
func (m *machine) property(name string) string {
	m.t.Helper()
	return strings.TrimSpace(m.root("systemctl show --value --property " + name + " snens-priv.service"))
}

// What make install puts on a Debian is complete: groups by systemd-sysusers,
// sockets with their modes, a policy that allows nothing, and one command that
// starts it all. Whoever is in neither group does not get as far as a word.
func TestAFreshInstallation(t *testing.T) {
	t.Parallel()
	m := boot(t)
	if o := m.shell("root", "systemd-sysusers && systemctl daemon-reload && systemctl enable --now snens-priv"); o.status != 0 {
		t.Fatalf("exit status %d\n%s", o.status, o.all)
	}
	if got := m.root("systemctl is-active snens-priv.service snens-priv-request.socket snens-priv-approval.socket; systemctl is-system-running"); got != "active\nactive\nactive\nrunning\n" {
		t.Errorf("got %q", got)
	}
	got := m.root("stat -c '%A %U:%G %n' /run/snens-priv /run/snens-priv/*.sock /etc/snens/priv.toml /etc/snens/priv.d /var/lib/snens-priv /var/log/snens-priv")
	if want := `drwxr-xr-x root:root /run/snens-priv
srw-rw---- root:snens-approve /run/snens-priv/approval.sock
srw-rw---- root:snens /run/snens-priv/request.sock
-rw------- root:root /etc/snens/priv.toml
drwx------ root:root /etc/snens/priv.d
drwx------ root:root /var/lib/snens-priv
drwxr-s--- root:adm /var/log/snens-priv
`; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := m.root("snens-priv check --strict"); got != "0 rules in 1 file, 0 findings\n" {
		t.Errorf("the policy as installed: %q", got)
	}
	m.root("useradd --groups snens --create-home agent && useradd --create-home stranger")
	for who, want := range map[string]int{"agent": 77, "stranger": 69} {
		for _, command := range []string{"snens priv -- id", "snens priv rules", "snens priv list"} {
			if o := m.shell(who, command); o.status != want || strings.Contains(o.all, "uid=") {
				t.Errorf("%s: %s: exit status %d, want %d\n%s", who, command, o.status, want, o.all)
			}
		}
	}
	if journal := m.root("journalctl --no-pager --unit snens-priv.service --output cat"); !strings.Contains(journal, "serving") {
		t.Errorf("the journal:\n%s", journal)
	}
	if o := m.shell("root", "snens-priv audit verify && snens-audit show"); o.status != 0 {
		t.Errorf("exit status %d\n%s", o.status, o.all)
	}
}

// The sockets alone are enough: who asks first starts the broker, with both.
func TestTheFirstRequestStartsTheBroker(t *testing.T) {
	t.Parallel()
	m := installed(t, rules)
	m.root("systemctl start snens-priv-request.socket snens-priv-approval.socket")
	if got := m.property("ActiveState"); got != "inactive" {
		t.Errorf("before the first request the broker is %s", got)
	}
	if got := m.as("agent", "snens priv rules"); !strings.Contains(got, "restart-web") {
		t.Errorf("got %q", got)
	}
	if got := m.property("ActiveState"); got != "active" {
		t.Errorf("after it the broker is %s", got)
	}
	if got := m.property("WatchdogUSec"); got != "30s" {
		t.Errorf("the watchdog waits %s", got)
	}
	status := m.root("snens-priv status")
	if !strings.Contains(status, "/run/snens-priv/request.sock") || !strings.Contains(status, "/run/snens-priv/approval.sock") {
		t.Errorf("status:\n%s", status)
	}
	if got := m.property("StatusText"); !strings.Contains(got, "3 rules") {
		t.Errorf("systemctl shows %q", got)
	}
}

// A reload that fails is told by systemctl, and changes nothing.
func TestReload(t *testing.T) {
	t.Parallel()
	m := installed(t, rules)
	m.root("systemctl start snens-priv")
	pid := m.property("MainPID")
	m.write("/etc/snens/priv.d/broken.toml", "alow = 1\n", 0o600)
	if o := m.shell("root", "systemctl reload snens-priv"); o.status == 0 {
		t.Error("a policy with a fault was loaded")
	}
	if got := m.property("StatusText"); !strings.Contains(got, "FAILED") || !strings.Contains(got, "broken.toml:1:1") {
		t.Errorf("systemctl shows %q", got)
	}
	if journal := m.root("journalctl --no-pager --unit snens-priv.service --output cat"); !strings.Contains(journal, "broken.toml:1:1") {
		t.Errorf("the journal:\n%s", journal)
	}
	if got := m.as("agent", "snens priv rules"); !strings.Contains(got, "restart-web") {
		t.Errorf("after the failed reload: %q", got)
	}
	m.root("rm /etc/snens/priv.d/broken.toml && systemctl reload snens-priv")
	if got := m.property("StatusText"); strings.Contains(got, "FAILED") {
		t.Errorf("systemctl shows %q", got)
	}
	m.root("kill -HUP " + pid + " && snens-priv status >/dev/null")
	if got := m.property("MainPID"); got != pid || m.property("NRestarts") != "0" {
		t.Errorf("the broker was process %s and is %s", pid, got)
	}
}

// A policy that does not load keeps the broker from starting; once it is mended,
// the broker comes up without a further word.
func TestABrokenPolicyAtTheStart(t *testing.T) {
	t.Parallel()
	m := installed(t, "[[rule]]\n")
	if o := m.shell("root", "systemctl start snens-priv"); o.status == 0 {
		t.Error("it has started")
	}
	if journal := m.root("journalctl --no-pager --unit snens-priv.service --output cat"); !strings.Contains(journal, "test.toml:1:") {
		t.Errorf("the journal:\n%s", journal)
	}
	m.write("/etc/snens/priv.d/test.toml", rules, 0o600)
	if got := m.as("agent", "snens priv rules"); !strings.Contains(got, "restart-web") {
		t.Errorf("got %q", got)
	}
}

// What waits when the broker is restarted is cancelled, is told so, and never
// runs; the sockets stay, so that nobody is refused meanwhile.
func TestRestartWhileARequestWaits(t *testing.T) {
	t.Parallel()
	m := installed(t, rules)
	m.root("systemctl start snens-priv nginx")
	before := m.root("systemctl show --value --property MainPID nginx")
	asked := m.begin("agent", "snens priv --status-fd 1 restart-web unit=nginx.service")
	id := asked.until(`to approve (\S+)`)[1]
	m.root("systemctl restart snens-priv")
	said, status := asked.wait()
	if status != 75 || !strings.Contains(said, `"state":"cancelled"`) || !regexp.MustCompile(`"reason":"(shutdown|daemon_restart)"`).MatchString(said) {
		t.Errorf("exit status %d\n%s", status, said)
	}
	if after := m.root("systemctl show --value --property MainPID nginx"); after != before {
		t.Error("the unit was restarted")
	}
	m.root("snens-priv audit verify")
	if record := m.root("snens-audit show " + id); !strings.Contains(record, "cancelled") {
		t.Errorf("the record:\n%s", record)
	}
}

// Nothing of an action outlives a stop of its broker.
func TestStopLeavesNoProcess(t *testing.T) {
	t.Parallel()
	m := installed(t, rules)
	m.root("systemctl start snens-priv")
	asked := m.begin("agent", "snens priv --status-fd 2 doze")
	asked.until("dozing\n")
	if got := m.sleepers(); len(got) != 2 {
		t.Fatalf("processes of the action: %q", got)
	}
	m.root("systemctl stop snens-priv.service snens-priv-request.socket snens-priv-approval.socket")
	said, status := asked.wait()
	if status != 137 || !strings.Contains(said, `"reason":"shutdown"`) {
		t.Errorf("exit status %d\n%s", status, said)
	}
	if got := m.sleepers(); len(got) > 0 {
		t.Errorf("left behind: %q", got)
	}
	if o := m.shell("root", "ls -d "+unitGroup); o.status == 0 {
		t.Errorf("the unit's control group is there, with processes in it:\n%s", m.root("find "+unitGroup+" -name cgroup.procs -exec cat {} +"))
	}
	if got := m.property("Result"); got != "success" {
		t.Errorf("the stop ended with %s", got)
	}
	if o := m.shell("root", "ls /run/snens-priv"); strings.TrimSpace(o.all) != "" {
		t.Errorf("left in /run/snens-priv: %q", o.all)
	}
	m.root("snens-priv audit verify")
}

// unitGroup is where the broker and all its actions are; systemd removes it when
// the last of them has ended.
const unitGroup = "/sys/fs/cgroup/system.slice/snens-priv.service"

// sleepers are the processes in which doze ends up, wherever they are.
func (m *machine) sleepers() []string {
	m.t.Helper()
	return strings.Fields(m.root(`for p in /proc/[0-9]*; do [ "$(tr '\0' ' ' 2>/dev/null <$p/cmdline)" != "sleep 600 " ] || echo $p; done`))
}

// When the broker dies, so do its actions, before it comes back; what ran is
// recorded as lost and is not run again.
func TestTheBrokerIsKilled(t *testing.T) {
	t.Parallel()
	m := installed(t, rules)
	m.root("systemctl start snens-priv")
	asked := m.begin("agent", "snens priv --status-fd 2 doze")
	asked.until("dozing\n")
	m.root("kill -KILL " + m.property("MainPID"))
	if said, status := asked.wait(); status == 0 {
		t.Errorf("exit status %d\n%s", status, said)
	}
	// Connecting waits for the broker: the socket is there all the time.
	list := m.as("agent", "snens priv list --json")
	if !strings.Contains(list, `"lost"`) {
		t.Errorf("afterwards: %s", list)
	}
	if got := m.sleepers(); len(got) > 0 {
		t.Errorf("still there: %q", got)
	}
	if got := m.property("NRestarts"); got != "1" {
		t.Errorf("%s restarts", got)
	}
	m.root("snens-priv audit verify")
}

// A broker that does not answer any more is replaced.
func TestTheWatchdog(t *testing.T) {
	t.Parallel()
	m := installed(t, rules)
	m.write("/run/systemd/system/snens-priv.service.d/test.conf", "[Service]\nWatchdogSec=1s\nTimeoutAbortSec=1s\n", 0o644)
	m.root("systemctl daemon-reload && systemctl start snens-priv")
	pid := m.property("MainPID")
	follow := m.begin("root", "journalctl --no-pager --follow --unit snens-priv.service --output cat")
	follow.until("serving")
	m.root("kill -STOP " + pid)
	follow.until(`(?s)Watchdog timeout.*serving: `)
	if got := m.property("MainPID"); got == pid || m.property("NRestarts") != "1" {
		t.Errorf("the broker was process %s and is %s", pid, got)
	}
	if got := m.as("agent", "snens priv rules"); !strings.Contains(got, "restart-web") {
		t.Errorf("got %q", got)
	}
}
