package nspawn

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// inside prints what a process inherits from the service that started it.
const inside = `#!/bin/sh
grep -E '^(Sig(Ign|Blk)|Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Umask|CoreDumping|THP_enabled):' /proc/self/status
sed 1d /proc/self/limits
for ns in cgroup ipc mnt net pid user uts; do echo "$ns $(readlink /proc/self/ns/$ns)"; done
echo "oom $(cat /proc/self/oom_score_adj)"
echo "nice $(cut -d ' ' -f 19 /proc/self/stat)"
echo "policy $(cut -d ' ' -f 41 /proc/self/stat)"
echo "personality $(cat /proc/self/personality)"
echo "root $(readlink /proc/self/root)"
`

var ignored = regexp.MustCompile(`SigIgn:\t[0-9a-f]{16}`)

// filters is how many seccomp filters a process has (nspawn itself sets some).
func (m *machine) filters(pid string) string {
	m.t.Helper()
	return m.root("sed -n 's/^Seccomp_filters://p' /proc/" + pid + "/status")
}

// An action gets what a command of root's gets: no option of the broker's unit
// reaches it. What is compared with is a plain service of the same machine.
func TestActionsAreNotConfined(t *testing.T) {
	t.Parallel()
	m := installed(t, rules)
	m.root("systemctl start snens-priv")
	got := m.as("agent", "snens priv inside")
	// systemd lets services ignore SIGPIPE; for the broker that is switched off.
	// What the machine itself was started with is ignored by both.
	want := ignored.ReplaceAllStringFunc(m.root("/usr/local/sbin/inside"), func(line string) string {
		mask, err := strconv.ParseUint(strings.TrimPrefix(line, "SigIgn:\t"), 16, 64)
		must(t, err)
		return fmt.Sprintf("SigIgn:\t%016x", mask&^(1<<(syscall.SIGPIPE-1)))
	})
	if got != want {
		t.Errorf("an action has\n%s\na service of root's\n%s", got, want)
	}
	broker := m.property("MainPID")
	if got, want := m.filters(broker), m.filters("1"); got != want {
		t.Errorf("the broker has %s seccomp filters, the first process %s: its unit adds some", got, want)
	}
	// It moved out of the way, so that limits can be handed down to actions.
	if got := m.root("cat /proc/" + broker + "/cgroup"); !strings.Contains(got, "/system.slice/snens-priv.service/snens.self") {
		t.Errorf("the broker is in %s", got)
	}
	if got := m.root("snens-priv status"); !strings.Contains(got, "groups are made in /sys/fs/cgroup/system.slice/snens-priv.service") {
		t.Errorf("got %s", got)
	}
}
