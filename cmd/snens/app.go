package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"snens/supervisor"
	"snens/supervisor/config"
)

// app is one run of the program: its streams, its environment and the options
// that every command takes.
type app struct {
	stdin, stdout, stderr *os.File
	out                   *output // stdout, for our own words
	notes                 *notes  // stderr, for our own words
	env                   []string

	toolsDirs  []string
	configFile string
	session    string
	json       bool
	noColor    bool
	verbose    bool
	recorded   bool // the record of the call is printed
	ownBroker  bool // --user was given, and hints must say it too

	style style
	cfg   *config.Config // as read by the method config
}

// getenv is the value of a variable: the first one, as for getenv(3).
func (a *app) getenv(name string) string {
	for _, kv := range a.env {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v
		}
	}
	return ""
}

// config reads snens.toml as the options and the environment say.
func (a *app) config() (*config.Config, error) {
	cfg, err := config.Load(a.configFile, a.env)
	if err != nil {
		return nil, fail(statusFailed, err)
	}
	if dirs := a.givenToolsDirs(); len(dirs) > 0 {
		cfg.ToolsDir = nil
		for _, dir := range dirs {
			abs, err := filepath.Abs(dir)
			if err != nil {
				return nil, failf(statusFailed, "cannot find the tools folder %s: %w", dir, err)
			}
			cfg.ToolsDir = append(cfg.ToolsDir, abs)
		}
	}
	a.cfg = cfg
	return cfg, nil
}

// givenToolsDirs are the tools folders that stand in for the configuration's:
// those of --tools-dir, else those that the snens we were started by a tool of
// was given.
func (a *app) givenToolsDirs() []string {
	if inherited := a.getenv("SNENS_TOOLS_DIR"); len(a.toolsDirs) == 0 && inherited != "" {
		// An empty or relative one would mean whatever folder we are in.
		return slices.DeleteFunc(filepath.SplitList(inherited), func(dir string) bool { return !filepath.IsAbs(dir) })
	}
	return a.toolsDirs
}

// supervisor wires the supervisor for this run. It starts nothing yet.
func (a *app) supervisor(progress func(done, total int)) (*supervisor.Supervisor, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, failf(statusFailed, "cannot find out where snens lies: %w", err)
	}
	session := a.session
	if session == "" {
		session = a.getenv("SNENS_SESSION")
	}
	sup, err := supervisor.New(supervisor.Options{
		Config:    cfg,
		Version:   version,
		Log:       a.log(),
		Env:       a.env,
		SessionID: session,
		Exe:       exe,
		Progress:  progress,

		ToolsDirGiven: len(a.givenToolsDirs()) > 0,
	})
	if err != nil {
		return nil, fail(statusFailed, err)
	}
	return sup, nil
}

// log is silent unless -v was given.
func (a *app) log() hclog.Logger {
	if !a.verbose {
		return hclog.NewNullLogger()
	}
	return hclog.New(&hclog.LoggerOptions{Name: "snens", Level: hclog.Debug, Output: a.notes})
}
