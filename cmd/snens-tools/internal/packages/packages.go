// Package packages names Debian packages, and asks apt and dpkg about them, which
// needs no rights. Changing them is for package privileged.
package packages

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"

	"snens/cmd/snens-tools/internal/visible"
)

// What is shown at most.
const (
	maxLines = 200
	maxLine  = 2000
	maxBytes = 64 << 10
)

// ErrNone says that nothing fits.
var ErrNone = errors.New("there is no such package")

// name is compiled when it is needed: this program is started for every call of
// every tool.
var name = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9.+-]+(:[a-z0-9]+)?$`) })

// CheckName refuses what apt would not take for the name of one package: options,
// files, versions, and "name-", by which apt-get removes what it was to install.
func CheckName(s string) error {
	switch {
	case !name().MatchString(s) || len(s) > 128:
		return fmt.Errorf("%q is no name of a package", s)
	case strings.HasSuffix(s, "-") || strings.Contains(s, "-:"):
		return fmt.Errorf("%q ends with a dash, by which apt-get would remove it", s)
	}
	return nil
}

// CheckRemoved is CheckName for what is to be removed: there apt-get takes one
// plus at the end for "install it".
func CheckRemoved(s string) error {
	base, _, _ := strings.Cut(s, ":")
	if strings.HasSuffix(base, "+") && !strings.HasSuffix(base, "++") {
		return fmt.Errorf("%q ends with a plus, by which apt-get would install it", s)
	}
	return CheckName(s)
}

// Search lists packages whose name or description fits all patterns, which are
// regular expressions in the extended syntax.
func Search(ctx context.Context, w io.Writer, patterns []string) error {
	return show(ctx, w, append([]string{"apt-cache", "search", "--"}, patterns...))
}

// Show writes what the lists of packages say about each.
func Show(ctx context.Context, w io.Writer, names []string) error {
	return show(ctx, w, append([]string{"apt-cache", "show", "--no-all-versions", "--"}, names...))
}

// Installed lists installed packages with their versions; all without names.
func Installed(ctx context.Context, w io.Writer, names []string) error {
	return show(ctx, w, append([]string{"dpkg-query", "--show", "--showformat=${Package} ${Version} ${Architecture} ${db:Status-Status}\n", "--"}, names...))
}

// show runs a program that only reads, and writes its first lines.
func show(ctx context.Context, w io.Writer, argv []string) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("%s is not installed; only Debian's packages are known here", argv[0])
	}
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines, err := copyLines(w, out)
	_, _ = io.Copy(io.Discard, out)
	ended, said := cmd.Wait(), strings.TrimSpace(stderr.String())
	missing := strings.Contains(strings.ToLower(said), "no packages found")
	switch {
	case err != nil:
		return err
	case lines == 0 && (ended == nil || missing):
		return ErrNone
	case ended != nil && !missing:
		return fmt.Errorf("%s failed: %w: %s", argv[0], ended, said)
	}
	if said != "" { // about some of the names
		_, err = fmt.Fprintf(w, "... %s\n", visible.Line(strings.ReplaceAll(said, "\n", "; ")))
	}
	return err
}

// copyLines writes the first lines and says how many there are.
func copyLines(w io.Writer, r io.Reader) (lines int, err error) {
	in := bufio.NewReaderSize(r, maxLine)
	bytes, shown := 0, 0
	for {
		line, err := in.ReadSlice('\n')
		more := errors.Is(err, bufio.ErrBufferFull)
		if len(line) > 0 {
			lines++
			if shown < maxLines && bytes+len(line) <= maxBytes {
				text, _ := visible.Append(nil, []byte(strings.TrimSuffix(string(line), "\n")))
				if more {
					text = append(text, " ..."...)
				}
				if _, err := w.Write(append(text, '\n')); err != nil {
					return lines, err
				}
				shown++
				bytes += len(text)
			}
		}
		for more {
			_, err = in.ReadSlice('\n')
			more = errors.Is(err, bufio.ErrBufferFull)
		}
		if err != nil {
			break
		}
	}
	if lines > shown {
		_, err = fmt.Fprintf(w, "... %s; ask more narrowly\n", visible.Count(lines-shown, "more line"))
	}
	return lines, err
}
