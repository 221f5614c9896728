package main

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"snens/cmd/snens-tools/internal/atomicfile"
	"snens/cmd/snens-tools/internal/cli"
	"snens/cmd/snens-tools/internal/reader"
	"snens/cmd/snens-tools/internal/visible"
)

const readHelp = `read — show a text file's lines with their numbers, and say what was left out.
read <path> [--start N] [--limit N] [--tail N] [--column N] [--width N]

Each line is its number, a tab and its text. Lines that begin with "..." are
notes: what was left out, and which fields get it.

--start N   first line to show (default 1)
--limit N   most lines to show (default 400, at most 20000)
--tail N    begin N lines before the end instead
--column N  begin each line at its Nth byte (default 1)
--width N   most bytes of a line to show (default 1000, at most 50000)

At most 64 KiB are printed. Control and invisible characters are shown as
\u{HEX}, bytes that are not UTF-8 as \x{HEX}. Binary files are refused with
what they are and their size; large files are never read whole.

Exit status: 0 shown, 1 not a text file, missing or past the end, 2 bad arguments.
`

func parseRead(args []string) (string, reader.Request, error) {
	var r reader.Request
	set := cli.NewSet(readHelp)
	const most = 1 << 40
	set.Int("start", &r.Start, 1, most)
	set.Int("limit", &r.Limit, 1, reader.MaxLines)
	set.Int("tail", &r.Tail, 1, most)
	set.Int("column", &r.Column, 1, most)
	set.Int("width", &r.Width, 1, reader.MaxWidth)
	positionals, err := set.Parse(args)
	if err != nil {
		return "", r, err
	}
	if r.Start > 0 && r.Tail > 0 {
		return "", r, set.Refuse("--start and --tail exclude each other")
	}
	path, err := set.One(positionals, "a path")
	return path, r, err
}

func runRead(args []string, std cli.IO) error {
	path, request, err := parseRead(args)
	if err != nil {
		return err
	}
	f, err := openText(path)
	if err != nil {
		return err
	}
	defer f.Close()
	err = reader.Print(std.Out, f, request)
	var binary *reader.BinaryError
	var past *reader.PastEndError
	switch {
	case errors.As(err, &binary):
		return cli.Fail("a program for that kind of file can show it; od -A d -t x1z -N 256 shows its first bytes", "%s is %v", path, err)
	case errors.As(err, &past):
		return cli.Fail("use a smaller start, or tail", "%s: %v", path, err)
	case err != nil:
		return cli.Fail("", "cannot read %s: %v", path, bare(err))
	}
	return nil
}

// openText opens a plain file. Others are refused before they are opened,
// because opening a device can have effects, and again after it.
func openText(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, cli.Fail(missingHint(path, err), "cannot open %s: %v", path, bare(err))
	}
	if err := plainFile(path, info); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, cli.Fail("", "cannot open %s: %v", path, bare(err))
	}
	if info, err = f.Stat(); err == nil {
		err = plainFile(path, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func plainFile(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	hint := ""
	if info.IsDir() {
		hint = "ls lists a folder; grep searches below it"
	}
	return cli.Fail(hint, "%s is %s, not a text file", path, atomicfile.Kind(info.Mode()))
}

// missingHint says from where a relative path was taken.
func missingHint(path string, err error) string {
	if !errors.Is(err, fs.ErrNotExist) || path == "" || path[0] == '/' {
		return ""
	}
	if cwd, cwdErr := os.Getwd(); cwdErr == nil {
		return "the path is relative to " + visible.Line(cwd)
	}
	return ""
}

// bare is the cause of a file error without the call and the path, which the message names already.
func bare(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
