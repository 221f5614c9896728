package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snens/internal/testneed"
)

// programs makes a folder of scripts, which is all of PATH, and notes their calls
// in the file it returns.
func programs(t *testing.T, scripts map[string]string) (log string) {
	t.Helper()
	dir := t.TempDir()
	log = filepath.Join(dir, "log")
	for name, body := range scripts {
		// By its path: an earlier call has taken PATH away.
		text := "#!/bin/sh\nprintf '%s|' \"$0\" \"$@\" >>" + log + "\n" + body
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	return log
}

func called(t *testing.T, log string) string {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(log)
	return strings.ReplaceAll(string(text), filepath.Dir(log)+"/", "")
}

// Looking asks no broker.
func TestServiceStatus(t *testing.T) {
	pointAt(t, "/nowhere", false)
	root := t.TempDir()
	status, out, errs := useOn(t, root, "", "service", "status", "ssh")
	if status != 1 || out != "" || errs != "service: cannot see how ssh.service is doing: systemd does not run this machine\n" {
		t.Errorf("%d %q %q", status, out, errs)
	}
	if err := os.MkdirAll(filepath.Join(root, "run/systemd/system"), 0o755); err != nil {
		t.Fatal(err)
	}
	log := programs(t, map[string]string{"systemctl": "printf 'ActiveState=active\\nLoadState=loaded\\nDescription=a \\033[1m=b\\nMemoryCurrent=[not set]\\nOther=x\\n'\n"})
	status, out, errs = useOn(t, root, "", "service", "status", "ssh")
	if status != 0 || errs != "" || out != "Unit: ssh.service\nDescription: a \\u{1b}[1m=b\nLoadState: loaded\nActiveState: active\n" {
		t.Errorf("%d %q %q", status, out, errs)
	}
	if got := called(t, log); !strings.HasPrefix(got, "systemctl|show|--no-pager|--property=") || !strings.HasSuffix(got, "|--|ssh.service|") {
		t.Errorf("called %q", got)
	}
	for body, want := range map[string]struct {
		status int
		text   string
	}{
		"printf 'LoadState=not-found\\n'\n":    {3, "service: there is no unit ssh.service\n"},
		"echo 'Failed to connect' >&2\nexit 1": {1, "service: cannot see how ssh.service is doing: systemctl failed: exit status 1: Failed to connect\n"},
	} {
		programs(t, map[string]string{"systemctl": body})
		if status, out, errs := useOn(t, root, "", "service", "status", "ssh"); status != want.status || out != "" || errs != want.text {
			t.Errorf("%q: %d %q %q", body, status, out, errs)
		}
	}
	programs(t, nil)
	if status, _, errs := useOn(t, root, "", "service", "status", "ssh"); status != 1 || !strings.Contains(errs, "systemctl is not installed") {
		t.Errorf("%d %q", status, errs)
	}
}

func TestPackageLooks(t *testing.T) {
	pointAt(t, "/nowhere", false)
	seq := testneed.Program(t, "seq", "coreutils")
	log := programs(t, map[string]string{
		"apt-cache":  "case $4 in none) echo 'E: No packages found' >&2; exit 100;; bad) echo oops >&2; exit 3;; esac\n[ \"$3\" = none ] && exit 0\n[ \"$3\" = many ] && exec " + seq + " 1000\nprintf 'jq - a \\033 b\\n'",
		"dpkg-query": "printf 'jq 1.6 amd64 installed\\n'; [ $# = 3 ] || { echo 'dpkg-query: no packages found matching x' >&2; exit 1; }",
	})
	sees(t, 0, "jq - a \\u{1b} b\n", "", "package", "search", "--", "^jq$", "-x")
	sees(t, 3, "", "package: nothing was found\n", "package", "search", "none")
	sees(t, 3, "", "package: nothing was found\n", "package", "show", "none")
	sees(t, 1, "", "package: cannot show packages: apt-cache failed: exit status 3: oops\n", "package", "show", "bad")
	sees(t, 0, "jq 1.6 amd64 installed\n", "", "package", "installed")
	sees(t, 0, "jq 1.6 amd64 installed\n... dpkg-query: no packages found matching x\n", "", "package", "installed", "jq", "xx")
	if status, out, _ := use(t, "", "package", "search", "many"); status != 0 || !strings.HasPrefix(out, "1\n2\n") || !strings.HasSuffix(out, "\n200\n... 800 more lines; ask more narrowly\n") {
		t.Errorf("%d %.2000q", status, out)
	}
	want := "apt-cache|search|--|^jq$|-x|"
	if got := called(t, log); !strings.HasPrefix(got, want) || !strings.Contains(got, "apt-cache|show|--no-all-versions|--|none|") || !strings.Contains(got, "|--|jq|xx|") {
		t.Errorf("called %q", got)
	}
	programs(t, nil)
	sees(t, 1, "", "package: cannot search packages: apt-cache is not installed; only Debian's packages are known here\n", "package", "search", "jq")
	sees(t, 1, "", "package: cannot list installed packages: dpkg-query is not installed; only Debian's packages are known here\n", "package", "installed")
}
