// Package search finds lines in files and prints path, number and text of
// each: in the order of the names, bounded, and with a count of what is not
// shown or was not searched.
//
// Run walks the paths itself, so that order, choice of files and output do not
// depend on the machine. Where ripgrep or GNU grep is installed, large lists
// of files are first narrowed by it (see engine.go). Binary files, links met
// on the way, folders of version control and the kernel's virtual file systems
// are passed over and counted. It keeps no index and decodes nothing.
package search

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

// Bounds of a request.
const (
	DefaultLimit = 100
	MaxLimit     = 10_000
	MaxContext   = 20
	// outputBytes bounds what is printed before the notes.
	outputBytes = 64 << 10
	// After the last line shown, matches are counted within these bounds.
	countBytes   = 256 << 20
	countMatches = 20_000
)

// When to let the engine narrow a list of files: starting it costs about as
// much as searching this much here.
const (
	engineFiles  = 200
	engineBytes  = 8 << 20
	batchFiles   = 2000
	batchPathLen = 64 << 10
)

// Request says what to look for.
type Request struct {
	Pattern string   // regular expression in Go's syntax
	Paths   []string // files and folders; none: the current folder
	Glob    string   // which files in folders
	Context int      // lines around each match
	Limit   int      // most matching lines shown; 0: DefaultLimit
	Word    bool     // only whole words
	// Path is the list of folders where another search program may be found.
	// Empty: none is used.
	Path string
}

// PatternError and GlobError say that a request cannot be understood.
type (
	PatternError struct{ Cause error }
	GlobError    struct{ Cause error }
)

func (e *PatternError) Error() string { return fmt.Sprintf("the pattern is wrong: %v", e.Cause) }
func (e *GlobError) Error() string    { return fmt.Sprintf("the glob is wrong: %v", e.Cause) }

// Run searches and prints. It returns the number of matching lines found. The
// error is a *PatternError, a *GlobError, or one of writing.
func Run(w io.Writer, r Request) (int, error) {
	p, err := compile(r.Pattern, r.Word)
	if err != nil {
		return 0, &PatternError{err}
	}
	g, err := parseGlob(r.Glob)
	if err != nil {
		return 0, &GlobError{err}
	}
	if r.Limit == 0 {
		r.Limit = DefaultLimit
	}
	if len(r.Paths) == 0 {
		r.Paths = []string{"."}
	}
	out := bufio.NewWriter(w)
	s := &searcher{request: r, pattern: p, in: bufio.NewReaderSize(nil, 128<<10)}
	s.out = output{w: out, request: r}
	walk := walker{glob: g, skip: &s.skip, emit: s.add}
	for _, path := range r.Paths {
		if err = walk.root(path); err != nil {
			break
		}
	}
	if err == nil {
		err = s.flush()
	}
	if err != nil && err != errEnough {
		return 0, err
	}
	s.out.notes(&s.skip, s.searched, err == errEnough)
	return s.out.found, out.Flush()
}

// errEnough ends a walk when even counting has reached its bounds.
var errEnough = fmt.Errorf("enough was found")

// searcher collects files into batches and searches them.
type searcher struct {
	request  Request
	pattern  *pattern
	in       *bufio.Reader
	out      output
	skip     skipped
	searched int // files

	batch     []file
	batchPath int   // bytes of the paths in batch
	batchSize int64 // bytes of the files in batch
	engine    *engine
	looked    bool  // for the engine
	counted   int64 // bytes read since the last line that was shown
}

func (s *searcher) add(f file) error {
	s.batch = append(s.batch, f)
	s.batchPath += len(f.path) + 3
	s.batchSize += f.size
	if len(s.batch) < batchFiles && s.batchPath < batchPathLen {
		return nil
	}
	return s.flush()
}

// flush searches the batch.
func (s *searcher) flush() error {
	files := s.batch
	s.searched += len(files)
	if len(files) >= engineFiles || s.batchSize >= engineBytes {
		if !s.looked {
			s.engine, s.looked = findEngine(s.request.Path), true
		}
		if s.engine.serves(s.pattern) {
			files = s.engine.narrow(s.pattern, files)
		}
	}
	for _, f := range files {
		s.out.begin(f.path, s.pattern)
		n := scan(f.path, s.pattern, &s.skip, s.in, &s.out)
		if s.out.full {
			if s.counted += n; s.counted > countBytes || s.out.found-s.out.shown > countMatches {
				return errEnough
			}
		}
	}
	s.batch, s.batchPath, s.batchSize = s.batch[:0], 0, 0
	return nil
}

// Missing returns those of paths that do not exist.
func Missing(paths []string) []string {
	var missing []string
	for _, path := range paths {
		if _, err := os.Stat(path); os.IsNotExist(err) {
			missing = append(missing, path)
		}
	}
	return missing
}
