package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/safefile"
	"snens/internal/tomlread"
	"snens/supervisor/tool"
)

// maxFile bounds the size of a configuration file in bytes.
const maxFile = 1 << 20

// systemFile is read when the user has no file of his own.
const systemFile = "/etc/snens/snens.toml"

// Load reads the configuration. explicit is the value of --config, "" without
// it; env is the environment as NAME=value. The first that applies is used alone:
//
//  1. explicit, which must exist,
//  2. $SNENS_CONFIG, which must exist,
//  3. $XDG_CONFIG_HOME/snens/snens.toml (~/.config when that is not set),
//  4. /etc/snens/snens.toml,
//  5. the defaults.
//
// /dev/null as explicit or $SNENS_CONFIG means the defaults. Root refuses a file
// that anybody else could have written, its folders included.
func Load(explicit string, env []string) (*Config, error) {
	return load(explicit, env, os.Geteuid(), systemFile)
}

func load(explicit string, env []string, uid int, system string) (*Config, error) {
	e := expander{getenv: lookup(env)}
	path, err := find(explicit, e, system)
	if err != nil {
		return nil, fmt.Errorf("cannot find the configuration: %w", err)
	}
	cfg := &Config{Path: path, Tools: map[tool.Name]Tool{}}
	cfg.defaults(e)
	if path == "" || path == os.DevNull {
		return cfg, nil
	}
	data, err := read(path, uid)
	if err != nil {
		return nil, fmt.Errorf("cannot use the configuration: %w", err)
	}
	notes := cfg.Notes
	cfg.Notes = nil
	if err := decode(path, string(data), e, cfg); err != nil {
		sep := " "
		if strings.Contains(err.Error(), "\n") {
			sep = "\n"
		}
		return nil, fmt.Errorf("cannot use the configuration:%s%w", sep, err)
	}
	cfg.keepNotes(notes)
	cfg.warnOpen(path)
	return cfg, nil
}

// find chooses the file; "" when there is none.
func find(explicit string, e expander, system string) (string, error) {
	if explicit != "" {
		return filepath.Abs(explicit)
	}
	if named := e.getenv("SNENS_CONFIG"); named != "" {
		return filepath.Abs(named)
	}
	candidates := []string{system}
	if dir, missing := e.xdgDir("XDG_CONFIG_HOME"); missing == "" {
		candidates = []string{filepath.Join(dir, "snens", "snens.toml"), system}
	}
	for _, path := range candidates {
		// Only what is not there is passed over: a file that cannot be read may
		// hold guards that must not be lost.
		switch _, err := os.Lstat(path); {
		case err == nil:
			return path, nil
		case !errors.Is(err, fs.ErrNotExist) && !isNotDir(err):
			return "", fmt.Errorf("%w; fix: name another by --config (/dev/null: none)", err)
		}
	}
	return "", nil
}

func read(path string, uid int) ([]byte, error) {
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		// A folder that others can write, such as /tmp, needs no other mode.
		return nil, fmt.Errorf("cannot read %s: it is a folder; name the file in it", path)
	case errors.Is(err, fs.ErrNotExist):
		if target, err := os.Readlink(path); err == nil {
			return nil, fmt.Errorf("%s is a link to %s, which does not exist", path, target)
		}
		return nil, fmt.Errorf("%s does not exist", path)
	}
	if uid == 0 {
		return safefile.ReadTrusted(path, uid, maxFile)
	}
	return safefile.ReadFile(path, maxFile)
}

// defaults fills in what holds when nothing is written.
func (c *Config) defaults(e expander) {
	for i, dir := range []string{
		"~/.config/snens/tools", "/etc/snens/tools", "/usr/local/lib/snens/tools", "/usr/lib/snens/tools",
	} {
		if full, ok := c.defaultPath(e, fmt.Sprintf("tools_dir[%d]", i), dir); ok {
			c.ToolsDir = append(c.ToolsDir, full)
		}
	}
	c.SessionsDir, _ = c.defaultPath(e, "sessions_dir", "$XDG_STATE_HOME/snens/sessions")
	c.Timeout = 120 * time.Second
	c.Grace = 3 * time.Second
	c.Output = 64 << 10
	c.SpillMax = 64 << 20
	c.Survivors = SurvivorsKill
	c.Concurrency = 8
}

func (c *Config) defaultPath(e expander, key, path string) (string, bool) {
	full, missing, err := e.expand(path)
	if err != nil || missing != "" {
		c.note("%s: %s is passed over: %s", key, tomlread.Quote(path), missing)
		return "", false
	}
	return full, true
}

// keepNotes puts back those notes on defaults that no written key has replaced.
func (c *Config) keepNotes(notes []string) {
	for _, n := range notes {
		key, _, _ := strings.Cut(n, ":")
		key, _, _ = strings.Cut(key, "[")
		if c.Origin(key) == "default" {
			c.Notes = append(c.Notes, n)
		}
	}
}

// warnOpen notes values for tools in a file that others can read.
func (c *Config) warnOpen(path string) {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o044 == 0 {
		return
	}
	for _, name := range c.toolNames() {
		if len(c.Tools[name].Env) > 0 {
			c.note("tool.%s.env: others can read its values in %s (mode %04o)", name, path, info.Mode().Perm())
		}
	}
}

func (c *Config) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// lookup makes getenv of an environment; the first of a repeated name counts.
func lookup(env []string) func(string) string {
	return func(name string) string {
		for _, entry := range env {
			if n, value, ok := strings.Cut(entry, "="); ok && n == name {
				return value
			}
		}
		return ""
	}
}

// isNotDir: a file stands where a folder of the path should be.
func isNotDir(err error) bool { return errors.Is(err, unix.ENOTDIR) }
