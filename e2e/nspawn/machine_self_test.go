package nspawn

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A machine comes up whole, runs commands as whom they are to run, and is gone
// afterwards: no process, no mount, no folder in /run.
func TestMachine(t *testing.T) {
	t.Run("up", func(t *testing.T) {
		m := boot(t)
		if got := strings.TrimSpace(m.root("systemctl is-system-running --wait")); got != "running" {
			t.Errorf("the machine is %s:\n%s", got, m.root("systemctl --failed"))
		}
		m.root("useradd --create-home agent")
		if got := m.as("agent", "id -un; pwd; echo $HOME"); got != "agent\n/home/agent\n/home/agent\n" {
			t.Errorf("got %q", got)
		}
		if o := m.shell("agent", "echo one; echo two >&2; exit 3"); o.stdout != "one\n" || o.stderr != "two\n" || o.status != 3 {
			t.Errorf("got %+v", o)
		}
		if got := m.root("sed '1,2d; s/:.*//' /proc/net/dev"); strings.TrimSpace(got) != "lo" {
			t.Errorf("the machine has the network devices %q", got)
		}
		m.write("/etc/snens/priv.d/x.toml", "# x\n", 0o640)
		if got := m.root("stat -c '%a %U' /etc/snens/priv.d/x.toml; cat /etc/snens/priv.d/x.toml"); got != "640 root\n# x\n" {
			t.Errorf("got %q", got)
		}
	})
	if text, err := os.ReadFile("/proc/self/mounts"); err != nil || strings.Contains(string(text), scratch) {
		t.Errorf("still mounted: %v\n%s", err, text)
	}
	if left, _ := filepath.Glob("/run/systemd/nspawn/*/machine"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
