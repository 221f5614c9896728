package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"snens/cmd/snens-tools/internal/cli"
	"snens/cmd/snens-tools/internal/search"
)

const grepHelp = `grep — search files: path, line number and text of each match.
grep <pattern> [<path>...] [--glob G] [--context N] [--limit N] [--word]

The pattern is a regular expression in Go's syntax (RE2): (?i) in front ignores
case, \Q...\E takes text literally. Paths are files and folders, the current
folder when none is given. Hidden files are searched.

--glob G     only files of this name: *.go, *.{c,h}, src/**/*.go, !*.min.js
--context N  lines around each match (0 to 20)
--limit N    most matching lines to show (default 100, at most 10000)
--word       match whole words only

Matches are path:line:text, lines around them path-line-text, in the order of
the names. Long lines are cut around the match. Lines that begin with "..." say
what is not shown and what was skipped: binary files, links met on the way,
.git, .hg and .svn, /proc and its like. --glob does not apply to files named as
paths. Where ripgrep or GNU grep is installed it finds the files faster; the
lines shown are the same without.

Exit status: 0 found, 1 nothing found, 2 bad arguments or a path that does not
exist, 3 could not search.
`

func parseGrep(args []string) (search.Request, error) {
	var r search.Request
	set := cli.NewSet(grepHelp)
	set.String("glob", &r.Glob)
	set.Int("context", &r.Context, 0, search.MaxContext)
	set.Int("limit", &r.Limit, 1, search.MaxLimit)
	set.Bool("word", &r.Word)
	positionals, err := set.Parse(args)
	switch {
	case err != nil:
		return r, err
	case len(positionals) == 0:
		return r, set.Refuse("needs a pattern")
	case positionals[0] == "":
		return r, set.Refuse("the pattern is empty")
	}
	r.Pattern, r.Paths = positionals[0], positionals[1:]
	return r, nil
}

func runGrep(args []string, std cli.IO) error {
	r, err := parseGrep(args)
	if err != nil {
		return err
	}
	if missing := search.Missing(r.Paths); len(missing) > 0 {
		return cli.Usage(missingHint(missing[0], os.ErrNotExist), "no such file or folder: %s", strings.Join(missing, ", "))
	}
	r.Path = os.Getenv("PATH")
	found, err := search.Run(std.Out, r)
	var pattern *search.PatternError
	var glob *search.GlobError
	switch {
	case errors.As(err, &pattern):
		return cli.Usage(`for the text itself put \Q before it and \E behind it`, "%v", err)
	case errors.As(err, &glob):
		return cli.Usage("examples: *.go, *.{c,h}, src/**/*.go, !*.min.js", "%v", err)
	case err != nil:
		return &cli.Error{Code: exitBroken, Message: fmt.Sprintf("cannot search: %v", err)}
	case found == 0:
		return &cli.Error{Code: cli.ExitFail}
	}
	return nil
}

// exitBroken is the status of a failure in tools whose status 1 means that
// nothing was found.
const exitBroken = 3
