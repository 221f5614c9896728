package config_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"snens/supervisor/config"
)

// Each fault, with the place and the words it is reported with.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"timout = '1s'", "1:1: unknown key timout (did you mean timeout?); known here: tools_dir, sessions_dir, "},
		{"\n  nonsense = 1", "2:3: unknown key nonsense; known here: "},
		{"Timeout = '1s'", "1:1: unknown key Timeout (did you mean timeout?)"},
		{"[tool.grep]\n\"sandbx\" = 1", "2:1: unknown key tool.grep.sandbx (did you mean sandbox?); known here: env, env_pass, limits, sandbox, require_schema"},
		{"[tool.grep]\nlimits = {memory = 1048576, cpus = 1}", "2:29: unknown key tool.grep.limits.cpus (did you mean cpu?)"},
		{"tool.grep.limits.mem = 1", "1:18: unknown key tool.grep.limits.mem"},
		{"[run]\n# comment with = and [x]\n é.x = 1", "3:2: "},
		{"[run.more]", "1:6: unknown key run.more; known here: shell"},
		{"[tols.grep]", "1:2: unknown key tols"},
		{"timeout = 1.5", `1:11: timeout: must be a time such as "90s", not a float`},
		{"timeout = true", `1:11: timeout: must be a time such as "90s", not a boolean`},
		{"timeout = '90'", `1:11: timeout: "90" is no time; write one as "90s" or "1m30s", or a number of seconds`},
		{"timeout = 0", "1:11: timeout: must be from 1ms to 168h"},
		{"timeout = '-5s'", "1:11: timeout: must be from 1ms to 168h"},
		{"timeout = 9223372036854775807", "timeout: must be from 1ms to 168h"},
		{"grace = '200h'", "1:9: grace: must be from 0s to 168h"},
		{"output = '64K'", `1:10: output: "64K" is no size; write one as "64KiB", "512MiB", "2GiB", or a number of bytes`},
		{"output = '9999999999999TiB'", "is no size"},
		{"output = '-1KiB'", "is no size"},
		{"output = 0", `1:10: output: must be from 1 to "64MiB"`},
		{"spill_max = 1979-05-27", "1:13: spill_max: must be a size such as \"64KiB\", not a date or time"},
		{"survivors = 'keep'", `1:13: survivors: "keep" is not known; write one of kill, leave`},
		{"survivors = 1", "1:13: survivors: must be a string, not an integer"},
		{"concurrency = 0", "1:15: concurrency: must be from 1 to 1024"},
		{"concurrency = '8'", "1:15: concurrency: must be an integer, not a string"},
		{"tools_dir = '/a'", "1:13: tools_dir: must be a list of strings, not a string"},
		{"tools_dir = ['/a', # one\n  2]", "2:3: tools_dir[1]: must be a string, not an integer"},
		{"tools_dir = ['/a', 'b/c']", `1:20: tools_dir[1]: "b/c" is not absolute; begin with /, ~/ or $XDG_CONFIG_HOME/ and the like`},
		{"tools_dir = ['~bob/x']", `1:14: tools_dir[0]: "~bob/x" names another user's home; write it out`},
		{"tools_dir = ['$PWD/x']", `begins with $PWD; only $HOME and $XDG_CONFIG_HOME, $XDG_DATA_HOME, $XDG_STATE_HOME, $XDG_CACHE_HOME, $XDG_RUNTIME_DIR are known`},
		{"sessions_dir = ''", `1:16: sessions_dir: "" is not absolute`},
		{"sessions_dir = \"/a\\u0000b\"", "1:16: sessions_dir: a path cannot hold a NUL character"},
		{"env_allow = ['A', '*']", `1:19: env_allow[1]: "*" is not a pattern for variables`},
		{"env_allow = ['SNENS_*']", "1:14: env_allow[0]: SNENS_ cannot be set"},
		{"tool = 1", "1:8: tool: must be tables, each written as [tool.NAME], not an integer"},
		{"[[tool]]", "tool: must be tables, each written as [tool.NAME], not a list"},
		{"[tool]\ngrep = 1", "2:8: tool.grep: must be a table, not an integer"},
		{"[tool.'a b']", `1:7: tool.a b: tool name "a b" has a character outside`},
		{"[tool.run]", `1:7: tool.run: tool name "run" is reserved`},
		{"[tool.x]\nenv = ['A=1']", `2:7: tool.x.env: must be a table such as {LANG = "C"}, not a list`},
		{"[tool.x]\nenv = {A = 1}", "2:12: tool.x.env.A: must be a string, not an integer"},
		{"[tool.x.env]\n'A-B' = ''", `2:1: tool.x.env.A-B: "A-B" is not the name of a variable`},
		{"[tool.x.env]\nSNENS_PRIV = 'x'", "2:1: tool.x.env.SNENS_PRIV: SNENS_PRIV cannot be set"},
		{"[tool.x.env]\nA = \"\\u0000\"", "2:5: tool.x.env.A: a variable cannot hold a NUL"},
		{"[tool.x]\nenv_pass = ['A_*']", `2:13: tool.x.env_pass[0]: "A_*" is not the name of a variable`},
		{"[tool.x]\nsandbox = 'workspace'", `2:11: tool.x.sandbox: sandbox profiles are not available in this version; write "none" or remove the key`},
		{"[tool.x]\nsandbox = 'read-only'", "sandbox profiles are not available in this version"},
		{"[tool.x]\nsandbox = 'on'", `2:11: tool.x.sandbox: "on" is not known; write one of none, read-only, workspace`},
		{"[tool.x]\nrequire_schema = 'yes'", "2:18: tool.x.require_schema: must be true or false, not a string"},
		{"[tool.x.limits]\nmemory = 100", `2:10: tool.x.limits.memory: must be from "1MiB" to "1024TiB"`},
		{"[tool.x.limits]\npids = 0", "2:8: tool.x.limits.pids: must be from 1 to"},
		{"[tool.x.limits]\ncpu = '1500ms'", "2:7: tool.x.limits.cpu: must be whole seconds"},
		{"[tool.x.limits]\nopen_files = 3", "2:14: tool.x.limits.open_files: must be from 16"},
		{"priv.socket = 'a.sock'", `1:15: priv.socket: "a.sock" is not absolute`},
		{"priv.user = 'yes'", "1:13: priv.user: "},
		{"priv.sock = '/x'", "1:6: unknown key priv.sock; known here: socket, approval_socket, user"},
		{"run.shell = ''", "1:13: run.shell: must be the name or the absolute path of a shell"},
		{"run.shell = 'a/b'", `1:13: run.shell: "a/b" is not absolute`},
		{"run = 'bash'", "1:7: run: must be a table, not a string"},
		{"timeout = \n", "1:11: expected value"},
		{"a = 1\na = 2", "2:1: Key 'a' has already been defined"},
		{"\ufefftimeout = !", "1:11: expected value"},
		{"# ä\ntimeout = 'ä' !", "snens.toml:2:1"},
		{"x = \"\xff\"", "invalid UTF-8"},
		{"\x1b[2J = 1", "1:1: "},
		{"\"\\u001b[2J\" = 1", `1:1: unknown key \u{1b}[2J; known here`},
	} {
		_, err := loadText(t, c.text)
		if err == nil || !strings.Contains(err.Error(), "snens.toml:"+c.want) && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q:\ngot  %v\nwant %s", c.text, err, c.want)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\x1b\x00") {
			t.Errorf("%q: the message is not fit for a terminal: %q", c.text, err)
		}
	}
}

func TestAllFaultsAtOnceInOrder(t *testing.T) {
	_, err := loadText(t, "timeout = 0\n[tool.b]\nx = 1\n[tool.a]\ny = 1\nz = 1\n[run]\nshell = 5\n")
	want := []string{":1:11: timeout", ":3:1: unknown key tool.b.x", ":5:1: unknown key tool.a.y", ":6:1: unknown key tool.a.z", ":8:9: run.shell"}
	if err == nil || !strings.HasPrefix(err.Error(), "cannot use the configuration:\n") {
		t.Fatalf("got %v", err)
	}
	lines := strings.Split(err.Error(), "\n")[1:]
	if len(lines) != len(want) {
		t.Fatalf("got %q", lines)
	}
	for i, w := range want {
		if !strings.Contains(lines[i], w) {
			t.Errorf("line %d: %q, want %q", i, lines[i], w)
		}
	}
	var e *config.Error
	if !errors.As(err, &e) || e.Line != 1 || e.Column != 11 || !strings.HasSuffix(e.File, "/snens.toml") {
		t.Errorf("no *Error: %#v", e)
	}
}

func TestFaultsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "x%d = 1\n", i)
	}
	_, err := loadText(t, b.String())
	if n := strings.Count(err.Error(), "\n"); n != 21 || !strings.HasSuffix(err.Error(), "and 80 more") {
		t.Errorf("%d lines: %v", n, err)
	}
	for _, deep := range []string{"a = " + strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000), strings.Repeat("a.", 2000) + "a = 1"} {
		if _, err := loadText(t, deep); err == nil || !strings.Contains(err.Error(), ":1:1: unknown key a") {
			t.Errorf("a deep file: %.200s", err)
		}
	}
	if _, err := loadText(t, "#"+strings.Repeat("x", 1<<20)); err == nil || !strings.Contains(err.Error(), "too big") {
		t.Errorf("a huge file: %v", err)
	}
}

func TestStringAndOrigin(t *testing.T) {
	c, err := loadText(t, "timeout = '5s'\n[tool.x]\nenv = {TOKEN = 's3cr3t'}\n limits.memory = '3MiB'\n")
	must(t, err)
	for key, want := range map[string]string{
		"timeout": c.Path + ":1:1", "tool.x.env": c.Path + ":3:1", "tool.x.limits.memory": c.Path + ":4:9",
		"grace": "default", "no.such": "default",
	} {
		if got := c.Origin(key); got != want {
			t.Errorf("Origin(%s) = %s, want %s", key, got, want)
		}
	}
	text := c.String()
	for _, want := range []string{
		"# \"" + c.Path + "\"\n", "timeout = \"5s\"  # " + c.Path + ":1:1\n", "grace = \"3s\"  # default\n", "spill_max = \"64MiB\"  # default\n",
		"# run.shell is not set\n", "tool.x.env = {TOKEN = \"(not shown)\"}", "tool.x.limits.memory = \"3MiB\"",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("String lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "s3cr3t") {
		t.Error("String shows a secret")
	}
	// What it prints is a configuration again, the same one.
	again, err := loadText(t, text)
	must(t, err)
	strip := func(s string) string {
		var b strings.Builder
		for line := range strings.Lines(s) {
			before, _, _ := strings.Cut(line, "#")
			b.WriteString(before)
		}
		return b.String()
	}
	if strip(again.String()) != strip(text) {
		t.Errorf("printed\n%s\nread back\n%s", text, again)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("timeout = '1s'\n[tool.x]\nenv = {A = 'b'}\nlimits.memory = '1GiB'")
	f.Add("tools_dir = ['~', '$HOME/x', 1]\n[run]\nshell = 'sh'")
	f.Add("tool = [{}]")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := loadText(t, text)
		if err == nil && (c.Timeout <= 0 || c.Grace < 0 || c.Output <= 0 || c.SpillMax < 0 || c.Concurrency < 1) {
			t.Errorf("%q gave %+v", text, c)
		}
		for _, dir := range func() []string {
			if err != nil {
				return nil
			}
			return append(c.ToolsDir, "/"+c.SessionsDir)
		}() {
			if !strings.HasPrefix(dir, "/") {
				t.Errorf("%q gave the folder %q", text, dir)
			}
		}
	})
}
