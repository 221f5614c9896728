package cgroup_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"snens/internal/cgroup"
	"snens/internal/testneed"
)

func TestAnotherUserIsToldWhy(t *testing.T) {
	testneed.Root(t)
	tree := newTree(t)
	got := helper(t, "unprivileged")
	want := fmt.Sprintf("cannot use control groups: %s is not writable by uid %d (permission denied); it needs a delegated group (systemd: Delegate=yes)", tree.Parent(), nobody)
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The fault that Probe describes, as the running kernel has it, and the remedy.
func TestStartFromAGroupThatWasKilled(t *testing.T) {
	tree := newTree(t)
	for kills, want := range []string{
		"true false false; after Probe: exit 7",
		"false true false; after Probe: exit 7",
		"false false true; after Probe: exit 7",
	} {
		home := filepath.Join(tree.Parent(), "test-home-"+strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(kills))
		if err := os.Mkdir(home, 0o755); err != nil {
			t.Fatal(err)
		}
		for range kills {
			if err := os.WriteFile(filepath.Join(home, "cgroup.kill"), []byte("1"), 0); err != nil {
				t.Fatal(err)
			}
		}
		got := helper(t, "once-killed", home)
		// A kernel without the fault lets every child live.
		if mended := "true true true; after Probe: exit 7"; got != want && got != mended {
			t.Errorf("home killed %d times: %q, want %q", kills, got, want)
		}
		removeHome(t, home)
	}
}

func removeHome(t *testing.T, home string) {
	t.Helper()
	own := filepath.Join(home, "snens.self")
	if err := os.Remove(own); err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	if err := os.Remove(home); err != nil {
		t.Error(err)
	}
}

func TestDelegate(t *testing.T) {
	tree := newTree(t)
	home := filepath.Join(tree.Parent(), "test-deleg-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	defer removeHome(t, home)
	if got, want := helper(t, "delegate", home), fmt.Sprintf("here snens.self, groups in %s and %s", home, home); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestDelegateMovesNobodyElse(t *testing.T) {
	tree := newTree(t)
	g := newGroup(t, tree, cgroup.Limits{})
	pid := startIn(t, g, `echo ready; exec >&-; exec sleep 1000`)
	want := fmt.Sprintf("cannot use control groups: process %d lives in %s too and is not ours to move; delegate a group to this process alone", pid, g.Path())
	if got := helper(t, "delegate", g.Path()); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if pids, err := g.PIDs(); err != nil || !slices.Equal(pids, []int{pid}) {
		t.Errorf("processes %v (%v), want %d alone", pids, err, pid)
	}
}

const (
	hybrid = `23 1 254:0 / / rw - ext4 /dev/vda rw
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
39 31 0:36 / /sys/fs/cgroup/pids rw,relatime shared:7 - cgroup cgroup rw,pids
40 31 0:37 / /sys/fs/cgroup/cpu rw,relatime shared:7 - cgroup cgroup rw,cpu,cpuacct
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:8 master:2 - cgroup2 cgroup2 rw
`
	container = "500 400 0:27 /docker/0123 /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n"
)

func TestMountinfo(t *testing.T) {
	for text, want := range map[string][]string{
		hybrid: {
			"v1 [rw pids] / /sys/fs/cgroup/pids",
			"v1 [rw cpu cpuacct] / /sys/fs/cgroup/cpu",
			"v2 / /sys/fs/cgroup/unified",
		},
		container: {"v2 /docker/0123 /sys/fs/cgroup"},
		"1 2 0:1 / /a\\040b\\134c rw - cgroup2 x rw\n": {`v2 / /a b\c`},
		"1 2 0:1 / /a\\04 rw - cgroup2 x rw\n":         {`v2 / /a\04`},
		"1 2 0:1 / /mnt rw - cgroup2\n":                {"v2 / /mnt"},
		"1 2 0:1 / /mnt - cgroup2 x rw\n":              nil,
		"1 2 0:1 / /mnt rw - cgroup x\n":               nil,
		"1 2 0:1 / mnt rw - cgroup2 x rw\n":            nil,
		"garbage\n\n - cgroup2":                        nil,
	} {
		if got := cgroup.Mounts(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestMembership(t *testing.T) {
	got := cgroup.Membership("8:pids:/p\n3:cpu,cpuacct:/c\n1:name=systemd:/s\n0::/user.slice/a:b\nbad\n5:x\n6:y:rel\n")
	want := map[string]string{"pids": "/p", "cpu": "/c", "cpuacct": "/c", "name=systemd": "/s", "": "/user.slice/a:b"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestFolderBelowAMount(t *testing.T) {
	cases := []struct{ root, point, path, want, wrong string }{
		{"/", "/sys/fs/cgroup", "/", "/sys/fs/cgroup", ""},
		{"/", "/sys/fs/cgroup", "/a/b", "/sys/fs/cgroup/a/b", ""},
		{"/docker/x", "/sys/fs/cgroup", "/docker/x", "/sys/fs/cgroup", ""},
		{"/docker/x", "/sys/fs/cgroup", "/docker/x/y", "/sys/fs/cgroup/y", ""},
		{"/docker/x", "/sys/fs/cgroup", "/docker/xy", "", "is not below /docker/x"},
		{"/docker/x", "/sys/fs/cgroup", "/", "", "is not below"},
		{"/", "/sys/fs/cgroup", "/../../x", "", "outside its cgroup namespace"},
		{"/", "/sys/fs/cgroup", "/a (deleted)", "", "/a, was removed"},
	}
	for _, c := range cases {
		got, err := cgroup.Folder(c.root, c.point, c.path)
		if c.wrong == "" && (err != nil || got != c.want) {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
		if c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

// A folder that stands in for a mounted hierarchy.
func TestDetectReasons(t *testing.T) {
	dir := fakeGroup(t, map[string]string{
		"ok/cgroup.procs": "", "ok/cgroup.type": "domain\n",
		"threads/cgroup.procs": "", "threads/cgroup.type": "threaded\n",
		"svc/cgroup.procs": "", "svc/cgroup.type": "domain\n",
		"svc/snens.self/cgroup.procs": "", "svc/snens.self/cgroup.type": "domain\n",
		"cgroup.procs": "",
	})
	mounted := "1 2 0:1 / " + dir + " rw - cgroup2 x rw\n"
	cases := []struct{ mounts, own, parent, wrong string }{
		{mounted, "0::/ok\n", dir + "/ok", ""},
		{mounted, "0::/\n", dir, ""},
		{mounted, "0::/svc/snens.self\n", dir + "/svc", ""},
		{"1 2 0:1 /y /none rw - cgroup2 x rw\n" + mounted, "0::/ok\n", dir + "/ok", ""},
		{mounted, "8:pids:/\n", "", "is in no cgroup v2 group"},
		{hybrid[:200], "0::/ok\n", "", "no cgroup2 file system is mounted"},
		{mounted, "0::/gone\n", "", "is not visible here"},
		{mounted, "0::/threads\n", "", `a group of the type "threaded"`},
		{mounted, "0::/../x\n", "", "outside its cgroup namespace"},
	}
	for _, c := range cases {
		tree, err := cgroup.DetectFrom(c.mounts, c.own)
		if c.wrong == "" {
			if err != nil || tree.Parent() != c.parent {
				t.Errorf("%q: %v, want %s", c.own, err, c.parent)
			}
			continue
		}
		var why *cgroup.UnavailableError
		if !errors.As(err, &why) || !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q: %v, want %q", c.own, err, c.wrong)
		}
	}
}

func FuzzMountinfo(f *testing.F) {
	f.Add(hybrid)
	f.Add(container)
	f.Add("1 2 0:1 / /a\\040b\\134 rw - cgroup2 x rw")
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range cgroup.Mounts(text) {
			if !strings.HasPrefix(m, "v1 [") && !strings.HasPrefix(m, "v2 /") {
				t.Errorf("%q gives %q", text, m)
			}
		}
	})
}

func FuzzFolder(f *testing.F) {
	f.Add("0::/a/b\n", "/a")
	f.Add("0::/../x\n", "/")
	f.Fuzz(func(t *testing.T, text, root string) {
		path, ok := cgroup.Membership(text)[""]
		if !ok {
			return
		}
		folder, err := cgroup.Folder(root, "/sys/fs/cgroup", path)
		if err == nil && folder != "/sys/fs/cgroup" && !strings.HasPrefix(folder, "/sys/fs/cgroup/") {
			t.Errorf("%q below %q leads to %q", path, root, folder)
		}
	})
}
