package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"snens/internal/escape"
	"snens/internal/tomlread"
	"snens/supervisor/tool"
)

// Survivors says what becomes of processes that outlive their tool.
type Survivors string

// What can become of them.
const (
	SurvivorsKill  Survivors = "kill"  // ended at once, named in the record
	SurvivorsLeave Survivors = "leave" // named in the record
)

// Config is a configuration in use. The tags are the keys of snens.toml.
type Config struct {
	Path string // of the file, absolute; "" when there is none and all is default

	ToolsDir    []string           `toml:"tools_dir"`    // absolute; the first that holds a tool wins
	SessionsDir string             `toml:"sessions_dir"` // absolute; "" = below the folder that session.StateBase chooses
	Timeout     time.Duration      `toml:"timeout"`      // of a call, above zero
	Grace       time.Duration      `toml:"grace"`        // between TERM and KILL; 0 = KILL at once
	Output      int64              `toml:"output"`       // bytes kept of the beginning and of the end of each stream
	SpillMax    int64              `toml:"spill_max"`    // bytes of each spill file
	Survivors   Survivors          `toml:"survivors"`
	Concurrency int                `toml:"concurrency"` // calls at once in one service
	EnvAllow    []string           `toml:"env_allow"`   // names and PREFIX_* for every tool
	Tools       map[tool.Name]Tool `toml:"tool"`        // never nil
	Run         Run                `toml:"run"`
	Priv        Priv               `toml:"priv"`

	// Notes are remarks fit for -v and doctor, never errors.
	Notes []string

	origins map[string]string // key -> "FILE:LINE:COL"
}

// Tool is the table [tool.NAME]. Its zero value is that of a tool without one.
type Tool struct {
	Env           map[string]string `toml:"env"`      // variables the tool gets; their values are redacted
	EnvPass       []string          `toml:"env_pass"` // names taken from the caller's environment, redacted likewise
	Limits        Limits            `toml:"limits"`
	Sandbox       Sandbox           `toml:"sandbox"`
	RequireSchema bool              `toml:"require_schema"` // a tool without a usable schema.json is set aside
}

// Limits bound one tool's calls; zero means that nothing is said.
type Limits struct {
	Memory    int64          `toml:"memory"`     // bytes
	PIDs      int            `toml:"pids"`       // processes and threads
	CPU       time.Duration  `toml:"cpu"`        // processor time, whole seconds
	OpenFiles int            `toml:"open_files"` // descriptors of each process
	Timeout   time.Duration  `toml:"timeout"`    // instead of Config.Timeout
	Grace     *time.Duration `toml:"grace"`      // instead of Config.Grace; nil = nothing said
	Output    int64          `toml:"output"`     // instead of Config.Output
}

// Sandbox is the restriction a tool runs under. "" means none.
type Sandbox string

// The words of a sandbox. Only SandboxNone passes Load in this version.
const (
	SandboxNone      Sandbox = "none"
	SandboxReadOnly  Sandbox = "read-only"
	SandboxWorkspace Sandbox = "workspace"
)

// Run is the table [run].
type Run struct {
	Shell string `toml:"shell"` // absolute path or a name on PATH; "" = bash, else sh
}

// Tool returns the table of one tool, the zero Tool when there is none.
func (c *Config) Tool(name tool.Name) Tool { return c.Tools[name] }

// Origin says where the value of a key comes from: "FILE:LINE:COLUMN", or
// "default". Keys are written as in "timeout" and "tool.grep.limits.memory".
func (c *Config) Origin(key string) string {
	if at, ok := c.origins[key]; ok {
		return at
	}
	return "default"
}

// String prints the configuration in use, one key per line with its origin as
// a comment, in the syntax of the file. Values of env are not shown.
func (c *Config) String() string {
	var b strings.Builder
	line := func(key, value string) {
		if value == `""` {
			fmt.Fprintf(&b, "# %s is not set\n", key)
			return
		}
		fmt.Fprintf(&b, "%s = %s  # %s\n", key, value, escape.Line(c.Origin(key)))
	}
	if c.Path == "" {
		b.WriteString("# no configuration file\n")
	} else {
		fmt.Fprintf(&b, "# %s\n", tomlread.Quote(c.Path))
	}
	line("tools_dir", tomlread.QuoteAll(c.ToolsDir))
	line("sessions_dir", tomlread.Quote(c.SessionsDir))
	line("timeout", tomlread.Quote(c.Timeout.String()))
	line("grace", tomlread.Quote(c.Grace.String()))
	line("output", tomlread.SizeText(c.Output))
	line("spill_max", tomlread.SizeText(c.SpillMax))
	line("survivors", tomlread.Quote(string(c.Survivors)))
	line("concurrency", fmt.Sprint(c.Concurrency))
	line("env_allow", tomlread.QuoteAll(c.EnvAllow))
	line("run.shell", tomlread.Quote(c.Run.Shell))
	line("priv.socket", tomlread.Quote(c.Priv.Socket))
	line("priv.approval_socket", tomlread.Quote(c.Priv.ApprovalSocket))
	line("priv.user", strconv.FormatBool(c.Priv.User))
	for _, name := range c.toolNames() {
		c.Tools[name].print("tool."+string(name), line)
	}
	return b.String()
}

func (c *Config) toolNames() []tool.Name {
	return slices.Sorted(maps.Keys(c.Tools))
}

// print prints what a tool's table says.
func (t Tool) print(key string, line func(key, value string)) {
	if t.Env != nil {
		var vars []string
		for _, name := range slices.Sorted(maps.Keys(t.Env)) {
			vars = append(vars, name+` = "(not shown)"`)
		}
		line(key+".env", "{"+strings.Join(vars, ", ")+"}")
	}
	if t.EnvPass != nil {
		line(key+".env_pass", tomlread.QuoteAll(t.EnvPass))
	}
	l := t.Limits
	for _, x := range []struct {
		name, value string
		set         bool
	}{
		{"memory", tomlread.SizeText(l.Memory), l.Memory != 0},
		{"pids", fmt.Sprint(l.PIDs), l.PIDs != 0},
		{"cpu", tomlread.Quote(l.CPU.String()), l.CPU != 0},
		{"open_files", fmt.Sprint(l.OpenFiles), l.OpenFiles != 0},
		{"timeout", tomlread.Quote(l.Timeout.String()), l.Timeout != 0},
		{"output", tomlread.SizeText(l.Output), l.Output != 0},
	} {
		if x.set {
			line(key+".limits."+x.name, x.value)
		}
	}
	if l.Grace != nil {
		line(key+".limits.grace", tomlread.Quote(l.Grace.String()))
	}
	if t.Sandbox != "" {
		line(key+".sandbox", tomlread.Quote(string(t.Sandbox)))
	}
	if t.RequireSchema {
		line(key+".require_schema", "true")
	}
}
