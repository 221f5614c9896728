package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/testneed"
	"snens/supervisor/config"
	"snens/supervisor/tool"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, path, text string) string {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

var home = []string{"HOME=/home/ann"}

// loadText loads a file of that text for the user ann.
func loadText(t testing.TB, text string) (*config.Config, error) {
	t.Helper()
	return config.Load(write(t, t.TempDir()+"/snens.toml", text), home)
}

func TestDefaults(t *testing.T) {
	c, err := config.LoadAs("", home, 1000, t.TempDir()+"/none")
	must(t, err)
	want := &config.Config{
		ToolsDir:    []string{"/home/ann/.config/snens/tools", "/etc/snens/tools", "/usr/local/lib/snens/tools", "/usr/lib/snens/tools"},
		SessionsDir: "/home/ann/.local/state/snens/sessions",
		Timeout:     120 * time.Second, Grace: 3 * time.Second, Output: 65536, SpillMax: 67108864,
		Survivors: "kill", Concurrency: 8, Tools: map[tool.Name]config.Tool{},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
}

func TestEveryKey(t *testing.T) {
	c, err := loadText(t, `
tools_dir = ["~/t", "/opt//tools/", "$XDG_DATA_HOME/snens", '$HOME/x', "~"]
sessions_dir = "/var/lib/s"
timeout = "1m30s"
grace = 0
output = "1MiB"
spill_max = 4096
survivors = "leave"
concurrency = 2
env_allow = ["EDITOR", "AWS_*"]
run.shell = "zsh"
priv = {socket = "~/b.sock", approval_socket = "/run//a.sock", user = true}

[tool.grep]
env = {GREP_COLORS = "ms=31", EMPTY = ""}
env_pass = ["TOKEN"]
sandbox = "none"
require_schema = true
[tool.grep.limits]
memory = "512MiB"
pids = 64
cpu = 30
open_files = 256
timeout = "10s"
grace = "0s"
output = "128KiB"

[tool."wc-lines"]
`)
	must(t, err)
	zero := time.Duration(0)
	want := config.Config{
		Path:        c.Path,
		ToolsDir:    []string{"/home/ann/t", "/opt/tools", "/home/ann/.local/share/snens", "/home/ann/x", "/home/ann"},
		SessionsDir: "/var/lib/s", Timeout: 90 * time.Second, Output: 1 << 20, SpillMax: 4096, Survivors: "leave",
		Concurrency: 2, EnvAllow: []string{"EDITOR", "AWS_*"}, Run: config.Run{Shell: "zsh"},
		Priv: config.Priv{Socket: "/home/ann/b.sock", ApprovalSocket: "/run/a.sock", User: true},
		Tools: map[tool.Name]config.Tool{
			"grep": {
				Env: map[string]string{"GREP_COLORS": "ms=31", "EMPTY": ""}, EnvPass: []string{"TOKEN"},
				Limits: config.Limits{
					Memory: 512 << 20, PIDs: 64, CPU: 30 * time.Second, OpenFiles: 256, Timeout: 10 * time.Second,
					Grace: &zero, Output: 128 << 10,
				},
				Sandbox: "none", RequireSchema: true,
			},
			"wc-lines": {},
		},
	}
	got := reflect.ValueOf(*c)
	for i := range got.NumField() {
		f := got.Type().Field(i)
		if f.Tag.Get("toml") != "" && !reflect.DeepEqual(got.Field(i).Interface(), reflect.ValueOf(want).Field(i).Interface()) {
			t.Errorf("%s: got %+v, want %+v", f.Name, got.Field(i), reflect.ValueOf(want).Field(i))
		}
	}
	if len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "tool.grep.env: others can read its values in") {
		t.Errorf("notes %q", c.Notes)
	}
	if c.Tool("grep").EnvPass[0] != "TOKEN" || c.Tool("none").RequireSchema {
		t.Error("Tool is wrong")
	}
}

func TestDiscovery(t *testing.T) {
	dir := t.TempDir()
	file := func(name, timeout string) string {
		return write(t, filepath.Join(dir, name), `timeout = "`+timeout+`"`)
	}
	explicit, named := file("explicit.toml", "1s"), file("named.toml", "2s")
	file("xdg/snens/snens.toml", "3s")
	file("home/.config/snens/snens.toml", "4s")
	system := file("etc/snens.toml", "5s")
	h, x, n := "HOME="+dir+"/home", "XDG_CONFIG_HOME="+dir+"/xdg", "SNENS_CONFIG="+named
	for _, c := range []struct {
		name     string
		explicit string
		env      []string
		system   string
		path     string
		timeout  time.Duration
	}{
		{"--config wins", explicit, []string{h, x, n}, system, explicit, 1 * time.Second},
		{"then SNENS_CONFIG", "", []string{h, x, n}, system, named, 2 * time.Second},
		{"then XDG_CONFIG_HOME", "", []string{h, x, "SNENS_CONFIG="}, system, dir + "/xdg/snens/snens.toml", 3 * time.Second},
		{"then ~/.config", "", []string{h}, system, dir + "/home/.config/snens/snens.toml", 4 * time.Second},
		{"a relative XDG_CONFIG_HOME counts as unset", "", []string{h, "XDG_CONFIG_HOME=xdg"}, system, dir + "/home/.config/snens/snens.toml", 4 * time.Second},
		{"XDG_CONFIG_HOME without a file hides ~/.config", "", []string{h, "XDG_CONFIG_HOME=" + dir}, system, system, 5 * time.Second},
		{"then the system's", "", []string{"HOME=" + dir + "/nobody"}, system, system, 5 * time.Second},
		{"a file where a folder should be", "", []string{"HOME=" + explicit}, system, system, 5 * time.Second},
		{"without HOME too", "", nil, system, system, 5 * time.Second},
		{"then nothing", "", nil, dir + "/none", "", 120 * time.Second},
		{"/dev/null", "/dev/null", []string{h, x, n}, system, "/dev/null", 120 * time.Second},
	} {
		cfg, err := config.LoadAs(c.explicit, c.env, os.Geteuid(), c.system)
		if err != nil || cfg.Path != c.path || cfg.Timeout != c.timeout {
			t.Errorf("%s: got %+v, %v", c.name, cfg, err)
		}
	}
	t.Chdir(dir)
	if cfg, err := config.Load("explicit.toml", nil); err != nil || cfg.Path != explicit {
		t.Errorf("relative: %+v, %v", cfg, err)
	}
	for _, env := range [][]string{{"SNENS_CONFIG=" + dir + "/none"}} {
		if _, err := config.LoadAs("", env, 0, system); err == nil || !strings.Contains(err.Error(), dir+"/none") {
			t.Errorf("a missing SNENS_CONFIG: %v", err)
		}
	}
	if _, err := config.LoadAs(dir+"/none", nil, 0, system); err == nil {
		t.Error("a missing --config was passed over")
	}
	if _, err := config.LoadAs(dir, nil, os.Geteuid(), system); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("a folder: %v", err)
	}
	must(t, unix.Mkfifo(dir+"/fifo", 0o600))
	for _, uid := range []int{0, 1000} {
		if _, err := config.LoadAs(dir+"/fifo", nil, uid, system); err == nil {
			t.Error("a FIFO was read")
		}
	}
}

// The advice for a file that others can write does not fit a folder.
func TestAFolderIsNoConfiguration(t *testing.T) {
	open := t.TempDir()
	must(t, os.Chmod(open, 0o777))
	for _, dir := range []string{open, t.TempDir()} {
		want := "cannot use the configuration: cannot read " + dir + ": it is a folder; name the file in it"
		if _, err := config.LoadAs(dir, nil, os.Geteuid(), "/absent"); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A file that was named and is not there is told once, whoever asks.
func TestANamedFileThatIsMissing(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Symlink("gone", dir+"/link"))
	for path, says := range map[string]string{
		dir + "/none": "does not exist",
		dir + "/link": "is a link to gone, which does not exist",
	} {
		for _, uid := range []int{0, 1000} {
			want := "cannot use the configuration: " + path + " " + says
			if _, err := config.LoadAs(path, nil, uid, "/absent"); err == nil || err.Error() != want {
				t.Errorf("uid %d: %v, want %s", uid, err, want)
			}
		}
	}
}

func TestUnsetHome(t *testing.T) {
	c, err := config.LoadAs("", nil, 1000, t.TempDir()+"/none")
	must(t, err)
	if len(c.ToolsDir) != 3 || c.ToolsDir[0] != "/etc/snens/tools" || c.SessionsDir != "" {
		t.Errorf("got %+v", c)
	}
	notes := strings.Join(c.Notes, "\n")
	if len(c.Notes) != 2 || !strings.Contains(notes, `tools_dir[0]: "~/.config/snens/tools" is passed over: HOME is not set`) ||
		!strings.Contains(notes, `sessions_dir: "$XDG_STATE_HOME/snens/sessions" is passed over: neither XDG_STATE_HOME nor HOME is set`) {
		t.Errorf("notes:\n%s", notes)
	}
	// A written key replaces the default and the note about it.
	path := write(t, t.TempDir()+"/c.toml", `tools_dir = ["/a", "~/b", "$XDG_RUNTIME_DIR/c"]`+"\nsessions_dir = '/s'")
	c, err = config.LoadAs(path, []string{"XDG_RUNTIME_DIR=/run/me"}, 1000, "")
	must(t, err)
	if !reflect.DeepEqual(c.ToolsDir, []string{"/a", "/run/me/c"}) || c.SessionsDir != "/s" {
		t.Errorf("got %+v", c)
	}
	if !reflect.DeepEqual(c.Notes, []string{`tools_dir[1]: "~/b" is passed over: HOME is not set`}) {
		t.Errorf("notes %q", c.Notes)
	}
}

func TestRootTrustsNobodyElse(t *testing.T) {
	testneed.Root(t)
	dir := t.TempDir()
	path := write(t, dir+"/d/snens.toml", "")
	for name, c := range map[string]struct {
		spoil, mend func() error
		want        string
	}{
		"file of a user":      {func() error { return os.Chown(path, 1000, 0) }, func() error { return os.Chown(path, 0, 0) }, "belongs to uid 1000"},
		"file open to all":    {func() error { return os.Chmod(path, 0o666) }, func() error { return os.Chmod(path, 0o644) }, "is writable by others (mode 0666)"},
		"folder open to all":  {func() error { return os.Chmod(dir+"/d", 0o777) }, func() error { return os.Chmod(dir+"/d", 0o755) }, dir + "/d is writable by others"},
		"folder of a user":    {func() error { return os.Chown(dir+"/d", 1000, 0) }, func() error { return os.Chown(dir+"/d", 0, 0) }, dir + "/d belongs to uid 1000"},
		"folder of its group": {func() error { return os.Chmod(dir, 0o775) }, func() error { return os.Chmod(dir, 0o755) }, dir + " is writable by its group"},
	} {
		must(t, c.spoil())
		if _, err := config.LoadAs(path, nil, 0, ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if _, err := config.LoadAs(path, nil, 1000, ""); err != nil {
			t.Errorf("%s: a user is refused too: %v", name, err)
		}
		must(t, c.mend())
	}
	if _, err := config.LoadAs(path, nil, 0, ""); err != nil {
		t.Errorf("mended: %v", err)
	}
	// A home of somebody else without a configuration is no reason to fail.
	must(t, os.Mkdir(dir+"/home", 0o700))
	must(t, os.Chown(dir+"/home", 1000, 0))
	if c, err := config.LoadAs("", []string{"HOME=" + dir + "/home"}, 0, dir+"/none"); err != nil || c.Path != "" {
		t.Errorf("foreign home: %+v, %v", c, err)
	}
}
