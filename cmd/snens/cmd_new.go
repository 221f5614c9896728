package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"snens/supervisor/tool"
)

func (a *app) newCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "new",
		Short: "begin something new",
		RunE: func(_ *cobra.Command, args []string) error {
			return failf(statusUsage, "cannot begin that: say what").withHint("snens new tool NAME")
		},
	}
	c.AddCommand(&cobra.Command{
		Use:   "tool NAME",
		Short: "begin a tool, and print its path",
		Long: `new tool makes a small typed tool that works: the program (a shell script),
schema.json and selftest.sh, in the first tools folder that can be written to.
It prints the path of the program. Change all three to what you want, then:
snens check NAME && snens test NAME`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return failf(statusUsage, "cannot begin a tool: give it one name").withHint("snens new tool NAME")
			}
			return a.newTool(args[0])
		},
	})
	return c
}

func (a *app) newTool(word string) error {
	name, err := tool.ParseName(word)
	if err != nil {
		return failf(statusUsage, "cannot begin a tool: %w", err)
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	for _, dir := range cfg.ToolsDir {
		if path := filepath.Join(dir, word); exists(path) {
			return failf(statusFailed, "cannot begin the tool %s: %s is there already", name, path)
		}
	}
	dir := firstWritable(cfg.ToolsDir)
	if dir == "" {
		return failf(statusFailed, "cannot begin a tool: no tools folder can be written to").
			withHint("snens alone shows the folders; --tools-dir DIR takes another")
	}
	if err := writeTool(filepath.Join(dir, word), word); err != nil {
		return failf(statusFailed, "cannot begin the tool %s: %w", name, err)
	}
	path := filepath.Join(dir, word, word)
	if a.json {
		return a.printJSON(struct {
			Name string `json:"name"`
			Path string `json:"path"`
		}{word, path})
	}
	fmt.Fprintln(a.out, path)
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// firstWritable is the first folder that can be written to, or made.
func firstWritable(dirs []string) string {
	for _, dir := range dirs {
		at := dir
		for {
			err := unix.Access(at, unix.W_OK|unix.X_OK)
			if err == nil {
				return dir
			}
			up := filepath.Dir(at)
			if !errors.Is(err, fs.ErrNotExist) || up == at {
				break
			}
			at = up
		}
	}
	return ""
}

// writeTool makes the folder and its files; on a fault nothing is left of it.
func writeTool(dir, name string) (err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	for _, f := range []struct {
		name, text string
		mode       fs.FileMode
	}{
		{name, programTemplate, 0o755},
		{schemaFile, schemaTemplate, 0o644},
		{selfTest, selfTestTemplate, 0o755},
	} {
		path := filepath.Join(dir, f.name)
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(f.text, "NAME", name)), f.mode); err != nil {
			return err
		}
		// The mode as written, whatever the umask: a tool others may call.
		if err := os.Chmod(path, f.mode); err != nil {
			return err
		}
	}
	return nil
}
