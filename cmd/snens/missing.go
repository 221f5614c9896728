package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"snens/supervisor"
	"snens/supervisor/call"
	"snens/supervisor/config"
	"snens/supervisor/tool"
)

// classOfMissing says how a call ends whose tool was not found healthy.
func classOfMissing(err error) (call.Class, int) {
	var notFound *supervisor.NotFoundError
	var broken *supervisor.QuarantinedError
	switch {
	case errors.As(err, &notFound):
		return call.ClassStart, call.ExitNotFound
	case errors.As(err, &broken) && broken.Here:
		return call.ClassStart, call.ExitOurs
	case errors.As(err, &broken):
		return call.ClassStart, call.ExitNotRun
	case errors.Is(err, context.Canceled):
		return call.ClassCancelled, call.ExitOurs
	}
	return call.ClassRefused, call.ExitOurs
}

// explainMissing says why a tool cannot be used, and what to do.
func (a *app) explainMissing(name string, err error) error {
	var notFound *supervisor.NotFoundError
	var broken *supervisor.QuarantinedError
	switch {
	case errors.As(err, &notFound):
		f := failf(statusFailed, "cannot find a tool named %q", name)
		if why := unreadable(a.cfg); why != "" {
			return f.withHint("%s", why)
		}
		if len(notFound.Near) > 0 {
			return f.withHint("did you mean: %s", notFound.Near[0])
		}
		if _, err := tool.ParseName(name); err != nil {
			return f.withHint("no tool can have that name; snens tools lists what there is")
		}
		return f.withHint("snens tools lists what there is; snens new tool %s begins one", name)
	case errors.As(err, &broken):
		if broken.Here {
			return failf(statusFailed, "cannot use the tool %s: %s", name, broken.Cause).
				withHint("it is this machine that lacks something, not the tool; snens doctor may say what")
		}
		mend := "mend " + broken.Path
		if strings.Contains(broken.Cause, schemaFile) {
			schema := filepath.Join(filepath.Dir(broken.Path), schemaFile)
			mend = "mend " + schema
			if !exists(schema) {
				mend = "write " + schema
			}
		}
		return failf(statusFailed, "cannot use the tool %s: %s", name, broken.Cause).
			withHint("%s, then: snens check %s", mend, name)
	}
	return fail(statusFailed, fmt.Errorf("cannot look at the tool %s: %w", name, err))
}

// schemaFile is the file beside a tool that makes it a typed one.
const schemaFile = "schema.json"

// unreadable says which tools folder is there and cannot be looked into, ""
// when none is.
func unreadable(cfg *config.Config) string {
	if cfg == nil {
		return ""
	}
	for _, dir := range cfg.ToolsDir {
		f, err := os.Open(dir)
		if err == nil {
			_, err = f.ReadDir(1)
			f.Close()
		}
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Sprintf("the tools folder %s cannot be read: %v", dir, err)
		}
	}
	return ""
}
