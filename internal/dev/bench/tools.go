package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// home makes an empty home folder: no configuration, no cache, no state.
func (b *bench) home(name string) (string, error) {
	home := filepath.Join(b.dir, "home-"+name)
	return home, os.MkdirAll(home, 0o700)
}

// env is the environment of what is measured: nothing of the caller's but PATH.
func (b *bench) env(home string) []string {
	return []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
}

// linkTool makes a tools folder with one tool, a link to a program.
func (b *bench) linkTool(folder, name, program string) (tools string, err error) {
	tools = filepath.Join(b.dir, folder)
	if err := os.MkdirAll(filepath.Join(tools, name), 0o755); err != nil {
		return "", err
	}
	err = os.Symlink(program, filepath.Join(tools, name, name))
	if os.IsExist(err) {
		err = nil
	}
	return tools, err
}

func toolName(i int) string { return fmt.Sprintf("tool-%04d", i) }

// manyTools makes a folder with a thousand tools and one with none, and a home.
func (b *bench) manyTools() (home, many, none string, err error) {
	if home, err = b.home("many"); err != nil {
		return "", "", "", err
	}
	none = filepath.Join(b.dir, "none")
	if err := os.MkdirAll(none, 0o755); err != nil {
		return "", "", "", err
	}
	many, err = b.scriptTools("many", thousand)
	return home, many, none, err
}

// scriptTools makes a tools folder of n scripts, each of its own content. Only
// asking such a script with --help brings its description.
func (b *bench) scriptTools(folder string, n int) (tools string, err error) {
	tools = filepath.Join(b.dir, folder)
	if _, err := os.Stat(tools); err == nil {
		return tools, nil
	}
	for i := range n {
		name := toolName(i)
		dir := filepath.Join(tools, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		text := fmt.Sprintf("#!/bin/sh\ncase $1 in\n--help) echo 'count the lines of file %d'; echo 'Usage: %s FILE' ;;\nesac\n", i, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			return "", err
		}
	}
	return tools, nil
}

// diskUsage is the size of all files below a folder.
func diskUsage(dir string) (bytes int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return bytes, err
}
