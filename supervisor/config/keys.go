package config

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"snens/internal/tomlread"
	"snens/supervisor/tool"
)

// key is one key of a table: how it is written, what it is when it is not
// written, and how its value is taken.
type key struct {
	name  string
	kind  string // for people
	plain string // default, as one would write it; "" = nothing
	set   func(d *decoder, path []string, v any)
}

// Bounds of the numbers, wide enough for any machine: they are there to catch
// a slip of the pen.
const (
	maxOutput   = 64 << 20
	maxSpill    = 1 << 40
	maxMemory   = 1 << 50
	minMemory   = 1 << 20 // nothing starts with less
	maxPIDs     = 1 << 22
	minFiles    = 16
	maxFiles    = 1 << 20
	maxParallel = 1024
)

var topKeys = []key{
	{
		"tools_dir", "list of paths", `["~/.config/snens/tools", "/etc/snens/tools", "/usr/local/lib/snens/tools", "/usr/lib/snens/tools"]`,
		func(d *decoder, p []string, v any) {
			d.Strings(p, v, &d.cfg.ToolsDir, func(p []string, s string) (string, bool) { return d.path(p, s) })
		},
	},
	{
		"sessions_dir", "path", `"$XDG_STATE_HOME/snens/sessions"`,
		func(d *decoder, p []string, v any) { takePath(d, p, v, &d.cfg.SessionsDir) },
	},
	{"timeout", "time", `"120s"`, func(d *decoder, p []string, v any) { d.Duration(p, v, time.Millisecond, &d.cfg.Timeout) }},
	{"grace", "time", `"3s"`, func(d *decoder, p []string, v any) { d.Duration(p, v, 0, &d.cfg.Grace) }},
	{"output", "size", `"64KiB"`, func(d *decoder, p []string, v any) { d.Size(p, v, 1, maxOutput, &d.cfg.Output) }},
	{"spill_max", "size", `"64MiB"`, func(d *decoder, p []string, v any) { d.Size(p, v, 0, maxSpill, &d.cfg.SpillMax) }},
	{
		"survivors", "word", `"kill"`,
		func(d *decoder, p []string, v any) {
			d.Word(p, v, []string{string(SurvivorsKill), string(SurvivorsLeave)}, (*string)(&d.cfg.Survivors))
		},
	},
	{"concurrency", "integer", `8`, func(d *decoder, p []string, v any) { d.Integer(p, v, 1, maxParallel, &d.cfg.Concurrency) }},
	{
		"env_allow", "list of names", `[]`,
		func(d *decoder, p []string, v any) { d.Strings(p, v, &d.cfg.EnvAllow, d.checked(CheckPattern)) },
	},
	{"tool", "table of tables", ``, takeTools},
	{"run", "table", ``, func(d *decoder, p []string, v any) { d.table(p, v, runKeys) }},
	{"priv", "table", ``, func(d *decoder, p []string, v any) { d.table(p, v, privKeys) }},
}

var toolKeys = []key{
	{"env", "table of strings", ``, takeEnv},
	{
		"env_pass", "list of names", `[]`,
		func(d *decoder, p []string, v any) { d.Strings(p, v, &d.tool.EnvPass, d.checked(CheckVariable)) },
	},
	{"limits", "table", ``, func(d *decoder, p []string, v any) { d.table(p, v, limitKeys) }},
	{"sandbox", "word", `"none"`, takeSandbox},
	{
		"require_schema", "boolean", `false`,
		func(d *decoder, p []string, v any) { d.Bool(p, v, &d.tool.RequireSchema) },
	},
}

var limitKeys = []key{
	{"memory", "size", ``, func(d *decoder, p []string, v any) { d.Size(p, v, minMemory, maxMemory, &d.tool.Limits.Memory) }},
	{"pids", "integer", ``, func(d *decoder, p []string, v any) { d.Integer(p, v, 1, maxPIDs, &d.tool.Limits.PIDs) }},
	{
		"cpu", "time", ``,
		func(d *decoder, p []string, v any) {
			d.Duration(p, v, time.Second, &d.tool.Limits.CPU)
			if d.tool.Limits.CPU%time.Second != 0 {
				d.Fail(p, "must be whole seconds, which is what the kernel counts")
			}
		},
	},
	{"open_files", "integer", ``, func(d *decoder, p []string, v any) { d.Integer(p, v, minFiles, maxFiles, &d.tool.Limits.OpenFiles) }},
	{"timeout", "time", ``, func(d *decoder, p []string, v any) { d.Duration(p, v, time.Millisecond, &d.tool.Limits.Timeout) }},
	{
		"grace", "time", ``,
		func(d *decoder, p []string, v any) {
			d.tool.Limits.Grace = new(time.Duration)
			d.Duration(p, v, 0, d.tool.Limits.Grace)
		},
	},
	{"output", "size", ``, func(d *decoder, p []string, v any) { d.Size(p, v, 1, maxOutput, &d.tool.Limits.Output) }},
}

var runKeys = []key{
	{"shell", "path or name", `"bash", else "sh"`, takeShell},
}

// takeTools takes the tables [tool.NAME].
func takeTools(d *decoder, path []string, v any) {
	tables, ok := v.(map[string]any)
	if !ok {
		d.WrongType(path, "tables, each written as [tool.NAME]", v)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		at := tomlread.Child(path, name)
		n, err := tool.ParseName(name)
		if err != nil {
			d.FailKey(at, "%s", err)
			continue
		}
		d.tool = &Tool{}
		d.origin(at)
		d.table(at, tables[name], toolKeys)
		d.cfg.Tools[n] = *d.tool
	}
}

func takeEnv(d *decoder, path []string, v any) {
	table, ok := v.(map[string]any)
	if !ok {
		d.WrongType(path, `a table such as {LANG = "C"}`, v)
		return
	}
	d.tool.Env = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		at := tomlread.Child(path, name)
		if err := CheckVariable(name); err != nil {
			d.FailKey(at, "%s", err)
			continue
		}
		var value string
		switch {
		case !d.String(at, table[name], &value):
		case strings.IndexByte(value, 0) >= 0:
			d.Fail(at, "a variable cannot hold a NUL character")
		default:
			d.tool.Env[name] = value
		}
	}
}

func takeSandbox(d *decoder, path []string, v any) {
	words := []string{string(SandboxNone), string(SandboxReadOnly), string(SandboxWorkspace)}
	// Running without the restriction that was asked for is no answer.
	if d.Word(path, v, words, (*string)(&d.tool.Sandbox)) && d.tool.Sandbox != SandboxNone {
		d.Fail(path, `sandbox profiles are not available in this version; write "none" or remove the key`)
	}
}

func takeShell(d *decoder, path []string, v any) {
	var s string
	if !d.String(path, v, &s) {
		return
	}
	if s == "" || strings.IndexByte(s, 0) >= 0 {
		d.Fail(path, "must be the name or the absolute path of a shell")
		return
	}
	if !strings.ContainsRune(s, filepath.Separator) && !strings.HasPrefix(s, "~") && !strings.HasPrefix(s, "$") {
		d.cfg.Run.Shell = s
		return
	}
	d.cfg.Run.Shell, _ = d.path(path, s)
}

// checked makes an item function for strings of a check.
func (d *decoder) checked(check func(string) error) func([]string, string) (string, bool) {
	return func(path []string, s string) (string, bool) {
		if err := check(s); err != nil {
			d.Fail(path, "%s", err)
			return "", false
		}
		return s, true
	}
}

// path expands a path; where that needs a variable that is not set it says so
// in a note and returns false.
func (d *decoder) path(at []string, s string) (string, bool) {
	full, missing, err := d.env.expand(s)
	switch {
	case err != nil:
		d.Fail(at, "%s", err)
		return "", false
	case missing != "":
		d.cfg.note("%s: %s is passed over: %s", tomlread.KeyText(at), tomlread.Quote(s), missing)
		return "", false
	}
	return full, true
}

// Key describes one key for people.
type Key struct {
	Path    string // "tool.NAME.limits.memory"
	Kind    string // "size"
	Default string // as one would write it; "" = nothing
}

// Keys lists every key of the file, sorted, tables themselves left out.
func Keys() []Key {
	var all []Key
	add := func(prefix string, keys []key) {
		for _, k := range keys {
			if k.kind != "table" && k.kind != "table of tables" {
				all = append(all, Key{prefix + k.name, k.kind, k.plain})
			}
		}
	}
	add("", topKeys)
	add("run.", runKeys)
	add("priv.", privKeys)
	add("tool.NAME.", toolKeys)
	add("tool.NAME.limits.", limitKeys)
	slices.SortFunc(all, func(a, b Key) int { return strings.Compare(a.Path, b.Path) })
	return all
}
