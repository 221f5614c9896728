package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"snens/cmd/snens-tools/internal/atomicfile"
	"snens/cmd/snens-tools/internal/cli"
	"snens/cmd/snens-tools/internal/edit"
	"snens/cmd/snens-tools/internal/reader"
	"snens/cmd/snens-tools/internal/visible"
)

const editHelp = `edit — replace exact text in a file; the change is JSON on stdin; prints a unified diff.
edit <path> [--dry-run]   (stdin: {"old": "...", "new": "...", "all": false})

"old" must occur exactly once, unless "all" is true. It is compared byte for
byte: no patterns, no trimming. When it occurs more often, the lines are named;
when it does not occur, the nearest text is. Mode, owner, line ends and a
missing last newline stay as they are. In a file whose lines all end with
CR LF, plain newlines in the change stand for CR LF.

--dry-run   print the diff, write nothing

Exit status: 0 done, 1 not changed (no match, several matches, not a text
file, not writable), 2 bad arguments or bad JSON, 3 the file changed meanwhile.
`

// maxEditable is the largest file that is edited, in bytes: it is held in
// memory a few times.
const maxEditable = 64 << 20

func parseEdit(args []string) (path string, dryRun bool, err error) {
	set := cli.NewSet(editHelp)
	set.Bool("dry-run", &dryRun)
	positionals, err := set.Parse(args)
	if err != nil {
		return "", false, err
	}
	path, err = set.One(positionals, "a path")
	return path, dryRun, err
}

func runEdit(args []string, std cli.IO) error {
	path, dryRun, err := parseEdit(args)
	if err != nil {
		return err
	}
	change, err := edit.ParseChange(std.In)
	if err != nil {
		return cli.Usage(`stdin is one object: {"old": "...", "new": "...", "all": false}`, "%v", err)
	}
	target, err := atomicfile.Resolve(path)
	if err != nil {
		return fileError(path, err)
	}
	content, err := loadText(path, target)
	if err != nil {
		return err
	}
	outcome, err := edit.Apply(content, change)
	if err != nil {
		return matchError(path, err)
	}
	var result atomicfile.Result
	if !dryRun {
		result, err = target.Replace(bytes.NewReader(outcome.Content), atomicfile.Options{Unchanged: true})
		if err != nil {
			return fileError(path, err)
		}
	}
	return reportEdit(std.Out, path, dryRun, outcome, content, result.Notes())
}

func loadText(path string, target atomicfile.Target) ([]byte, error) {
	if target.Info == nil {
		return nil, cli.Fail("write creates files", "cannot open %s: %v", path, os.ErrNotExist)
	}
	f, err := openText(target.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxEditable+1))
	if err != nil {
		return nil, cli.Fail("", "cannot read %s: %v", path, bare(err))
	}
	if len(content) > maxEditable {
		return nil, cli.Fail("sed works on larger files", "%s is larger than %s", path, visible.Size(maxEditable))
	}
	if what := reader.Binary(content, true); what != "" {
		return nil, cli.Fail("", "%s is not text: %s, %s", path, what, visible.Size(int64(len(content))))
	}
	return content, nil
}

func matchError(path string, err error) error {
	var ambiguous *edit.AmbiguousError
	var none *edit.NoMatchError
	switch {
	case errors.As(err, &ambiguous):
		return cli.Fail("add lines around it to old until it is unique, or set all=true", "%s: %v; nothing was changed", path, err)
	case errors.As(err, &none):
		return cli.Fail(none.Near, "%s: %v; nothing was changed", path, err)
	}
	return err
}

func reportEdit(w io.Writer, path string, dryRun bool, o edit.Outcome, old []byte, notes []string) error {
	verb := "edited"
	if dryRun {
		verb = "would edit"
		notes = append(notes, "dry run: nothing was written")
	}
	if o.CRLF {
		notes = append(notes, "the file's lines end with CR LF; those of the change were written so too")
	}
	fmt.Fprintf(w, "%s %s: %s, %s\n", verb, visible.Line(path), visible.Count(o.Count, "replacement"), edit.Places(o.Lines, o.Count, 10))
	for _, note := range notes {
		fmt.Fprintf(w, "note: %s\n", visible.Line(note))
	}
	hideCR := edit.OnlyCRLF(old) && edit.OnlyCRLF(o.Content)
	shown := "... no diff: the changes are spread over too much text\n"
	if unified, ok := edit.Unified(visible.Line(path), old, o.Content); ok {
		shown = edit.Show(unified, hideCR)
	}
	_, err := io.WriteString(w, shown)
	return err
}
