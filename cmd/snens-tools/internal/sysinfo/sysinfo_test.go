package sysinfo

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// machine is a source whose files are these.
func machine(t *testing.T, files map[string]string) Source {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return Source{
		Root: root, Cores: 4,
		Statfs:      func(string) (Usage, error) { return Usage{}, errors.New("not asked") },
		FailedUnits: func() ([]string, error) { return nil, errors.New("not asked") },
	}
}

func printed(t *testing.T, s Source, name string) string {
	t.Helper()
	var out strings.Builder
	if err := s.Print(&out, []string{name}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const meminfo = "MemTotal:       4194304 kB\nMemFree: 100 kB\nMemAvailable:    1048576 kB\nSwapTotal:  2097152 kB\nSwapFree:   1572864 kB\nHugePages_Total: 0\n"

func TestSections(t *testing.T) {
	for _, c := range []struct {
		section string
		files   map[string]string
		want    string
	}{
		{
			"os",
			map[string]string{
				"etc/os-release":            "NAME=Debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
				"proc/sys/kernel/osrelease": "6.1.0-18-amd64\n",
				"proc/sys/kernel/hostname":  "web1\n",
			},
			"os: Debian GNU/Linux 12 (bookworm), kernel 6.1.0-18-amd64, " + runtime.GOARCH + ", host web1\n",
		},
		{
			"os",
			map[string]string{"proc/sys/kernel/osrelease": "6.1\n", "proc/sys/kernel/hostname": "a\x1bb\n"},
			"os: Linux, kernel 6.1, " + runtime.GOARCH + ", host a\\u{1b}b\n",
		},
		{"uptime", map[string]string{"proc/uptime": "273845.12 1000.0\n"}, "uptime: 3 days 4 h 4 min\n"},
		{"uptime", map[string]string{"proc/uptime": "3700.00 1.0\n"}, "uptime: 1 h 1 min\n"},
		{"uptime", map[string]string{"proc/uptime": "61.9 1.0\n"}, "uptime: 1 min 1 s\n"},
		{"uptime", map[string]string{"proc/uptime": "soon\n"}, "uptime: not known: /proc/uptime holds \"soon\\n\"\n"},
		{"load", map[string]string{"proc/loadavg": "0.10 1.20 2.30 2/123 4567\n"}, "load: 0.10 1.20 2.30 (1, 5, 15 min) on 4 cores; 2 of 123 threads runnable\n"},
		{"memory", map[string]string{"proc/meminfo": meminfo}, "memory: 1.0 GiB available of 4.0 GiB (25%); swap: 512.0 MiB used of 2.0 GiB\n"},
		{"memory", map[string]string{"proc/meminfo": "MemTotal: 1024 kB\nMemAvailable: 512 kB\nSwapTotal: 0 kB\n"}, "memory: 512.0 KiB available of 1.0 MiB (50%); no swap\n"},
		{"memory", map[string]string{"proc/meminfo": "odd\n"}, "memory: not known: /proc/meminfo has no MemTotal\n"},
		{"units", nil, "units: systemd does not run this machine\n"},
	} {
		if got := printed(t, machine(t, c.files), c.section); got != c.want {
			t.Errorf("%s: %q; want %q", c.section, got, c.want)
		}
	}
}

func TestAMissingFileStopsOnlyItsSection(t *testing.T) {
	var out strings.Builder
	s := machine(t, map[string]string{"proc/uptime": "60.0 1"})
	if err := s.Print(&out, []string{"load", "uptime"}); err != nil {
		t.Fatal(err)
	}
	want := "uptime: 1 min 0 s\nload: not known: open " + s.Root + "/proc/loadavg: no such file or directory\n"
	if out.String() != want {
		t.Errorf("%q; want %q", out.String(), want)
	}
}

const mountinfo = `22 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw
23 22 254:1 /home /srv/bind rw - ext4 /dev/vda1 rw
24 22 0:5 / /proc rw - proc proc rw
25 22 254:17 / /var/my\040data rw shared:1 - xfs /dev/vdb rw
26 22 0:30 / /tmp rw - tmpfs tmpfs rw
27 22 0:31 / /run rw - tmpfs tmpfs rw
28 22 0:40 / /mnt/nas rw - nfs4 nas:/x rw
29 22 0:41 / /mnt/s3 rw - fuse.rclone s3 rw
30 22 7:1 / /snap/x ro - squashfs /dev/loop1 ro
31 22 8:1 / /gone rw - ext4 /dev/sda1 rw
broken line
`

func TestDisks(t *testing.T) {
	s := machine(t, map[string]string{"proc/self/mountinfo": mountinfo})
	var asked []string
	s.Statfs = func(path string) (Usage, error) {
		asked = append(asked, path)
		switch path {
		case "/":
			return Usage{Total: 100 << 30, Used: 40 << 30, Free: 60 << 30, Inodes: 100, IFree: 50}, nil
		case "/var/my data":
			return Usage{Total: 10 << 30, Used: 9<<30 + 1, Free: 1<<30 - 1, Inodes: 1000, IFree: 10}, nil
		case "/tmp":
			return Usage{Total: 1 << 30, Used: 95 << 20, Free: 5 << 20}, nil
		case "/run":
			return Usage{Total: 1 << 30, Used: 5 << 20, Free: 95 << 20}, nil
		case "/snap/x":
			return Usage{Total: 1 << 20, Used: 1 << 20}, nil
		case "/gone":
			return Usage{}, errors.New("input/output error")
		}
		return Usage{}, nil // /proc: no blocks
	}
	want := "disks:\n" +
		"  /: 40% used, 60.0 GiB free of 100.0 GiB, ext4 on /dev/vda1\n" +
		"  /tmp: 95% used, 5.0 MiB free of 1.0 GiB, tmpfs on tmpfs; NEARLY FULL\n" +
		"  /var/my data: 91% used, 1024.0 MiB free of 10.0 GiB, xfs on /dev/vdb; NEARLY FULL; INODES 99% USED\n" +
		"  ... not measured, because they could hang: /mnt/nas (nfs4), /mnt/s3 (fuse.rclone); df shows them\n" +
		"  ... 1 file system could not be measured\n"
	if got := printed(t, s, "disks"); got != want {
		t.Errorf("%s; want %s", got, want)
	}
	if slices.Contains(asked, "/mnt/nas") || slices.Contains(asked, "/mnt/s3") || slices.Contains(asked, "/srv/bind") {
		t.Errorf("asked for %q", asked)
	}
}

func TestDisksAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 50 {
		b.WriteString("1 1 9:" + string(rune('A'+i)) + " / /m" + string(rune('A'+i)) + " rw - ext4 /dev/x rw\n")
	}
	s := machine(t, map[string]string{"proc/self/mountinfo": b.String()})
	s.Statfs = func(string) (Usage, error) { return Usage{Total: 100, Used: 1, Free: 99}, nil }
	got := printed(t, s, "disks")
	if strings.Count(got, "\n") != 42 || !strings.HasSuffix(got, "  ... 10 more file systems; df shows them\n") {
		t.Error(got)
	}
}

func TestUnits(t *testing.T) {
	s := machine(t, map[string]string{"run/systemd/system/x": ""})
	for _, c := range []struct {
		units []string
		err   error
		want  string
	}{
		{nil, nil, "units: none failed\n"},
		{[]string{"a.service: A", "b\x1b.mount"}, nil, "units: 2 failed:\n  a.service: A\n  b\\u{1b}.mount\n"},
		{nil, errors.New("no answer"), "units: not known: no answer\n"},
		{slices.Repeat([]string{"x"}, 32), nil, "units: 32 failed:\n" + strings.Repeat("  x\n", 30) + "  ... 2 more units; systemctl --failed shows them\n"},
	} {
		s.FailedUnits = func() ([]string, error) { return c.units, c.err }
		if got := printed(t, s, "units"); got != c.want {
			t.Errorf("%q; want %q", got, c.want)
		}
	}
}

func TestParseUnits(t *testing.T) {
	out := "nginx.service loaded failed failed A high performance web server\nx.mount      loaded failed failed\n\nshort line\n"
	if got := parseUnits(out); !slices.Equal(got, []string{"nginx.service: A high performance web server", "x.mount"}) {
		t.Errorf("%q", got)
	}
}

// On the machine that runs the tests every section can be told.
func TestThisMachine(t *testing.T) {
	var out strings.Builder
	if err := Machine().Print(&out, nil); err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, name := range Names() {
		i := strings.Index(out.String()[at:], name+":")
		if i < 0 {
			t.Fatalf("%s is missing or not in its place:\n%s", name, out.String())
		}
		at += i
	}
	// systemctl may refuse in a container; the rest may not.
	before, _, _ := strings.Cut(out.String(), "units:")
	if strings.Contains(before, "not known") {
		t.Error(before)
	}
	u, err := statfs("/")
	if err != nil || u.Total <= 0 || u.Used+u.Free > u.Total {
		t.Errorf("/: %+v, %v", u, err)
	}
}
