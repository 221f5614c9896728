package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"snens/cmd/snens-tools/internal/atomicfile"
	"snens/cmd/snens-tools/internal/cli"
	"snens/cmd/snens-tools/internal/visible"
)

const writeHelp = `write — create a file, or replace all of it, with the content on stdin.
write <path> [--new] [--parents] [--mode OCTAL]

The content comes on stdin, byte for byte. It takes the place of the old
content in one step: readers see the old file or the new one, and an
interrupted write changes nothing. Mode, owner and extended attributes of an
existing file are kept. A symbolic link is followed; folders, devices, pipes
and sockets are refused.

--new         refuse when the file exists
--parents     create missing folders above the file
--mode OCTAL  permission bits of the result, such as 644 or 0600

Exit status: 0 written, 1 not written (nothing was changed), 2 bad arguments,
3 the file appeared or changed at the same moment (nothing was changed).
To change part of a file, use edit.
`

type writeRequest struct {
	path    string
	isNew   bool
	parents bool
	perm    *fs.FileMode
}

func parseWrite(args []string) (writeRequest, error) {
	var r writeRequest
	set := cli.NewSet(writeHelp)
	set.Bool("new", &r.isNew)
	set.Bool("parents", &r.parents)
	set.Func("mode", func(v string) error {
		n, err := strconv.ParseUint(v, 8, 32)
		if err != nil || n > 0o777 {
			return fmt.Errorf("must be octal permission bits from 0 to 777, not %q", v)
		}
		perm := fs.FileMode(n)
		r.perm = &perm
		return nil
	})
	positionals, err := set.Parse(args)
	if err != nil {
		return r, err
	}
	r.path, err = set.One(positionals, "a path")
	return r, err
}

func runWrite(args []string, std cli.IO) error {
	r, err := parseWrite(args)
	if err != nil {
		return err
	}
	target, err := atomicfile.Resolve(r.path)
	if err != nil {
		return fileError(r.path, err)
	}
	if r.isNew && target.Info != nil {
		return cli.Fail("leave out --new to replace it", "%s exists already (%s)", r.path, visible.Size(target.Info.Size()))
	}
	if r.parents {
		if err := os.MkdirAll(filepath.Dir(target.Path), 0o777); err != nil {
			return cli.Fail("", "cannot create the folders above %s: %v", r.path, err)
		}
	}
	result, err := target.Replace(std.In, atomicfile.Options{Perm: r.perm})
	if err != nil {
		return fileError(r.path, err)
	}
	verb := "replaced"
	if result.Created {
		verb = "created"
	}
	via := ""
	if target.Path != r.path && filepath.Clean(r.path) != target.Path {
		via = " (a link to " + target.Path + ")"
	}
	_, err = fmt.Fprintf(std.Out, "%s %s%s: %s, %s\n", verb, visible.Line(r.path), visible.Line(via),
		visible.Count(result.Bytes, "byte"), visible.Count(result.Lines, "line"))
	for _, note := range result.Notes() {
		fmt.Fprintf(std.Out, "note: %s\n", visible.Line(note))
	}
	return err
}

// fileError gives an error of atomicfile the form of the command line.
func fileError(path string, err error) error {
	var refusal *atomicfile.Refusal
	switch {
	case errors.Is(err, atomicfile.ErrChanged):
		return &cli.Error{
			Code: exitChanged, Message: fmt.Sprintf("%s: %v; nothing was written", path, err),
			Hint: "read it again, then repeat the call",
		}
	case errors.As(err, &refusal):
		if refusal.Missing {
			return cli.Fail("create the folder first, or use --parents (parents=true)", "%s", refusal.Message)
		}
		return cli.Fail(refusal.Hint, "%s", refusal.Message)
	}
	return cli.Fail("", "%s: %v", path, err)
}

// exitChanged is the status of write and edit when somebody else was faster.
const exitChanged = 3
