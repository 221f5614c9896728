package snens_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// source is one Go file of this module, parsed.
type source struct {
	path  string // from the root, with slashes
	pkg   string // its folder, "." for the root
	test  bool
	lines int
	text  string
	file  *ast.File
	fset  *token.FileSet
}

// at says where a node is, as file:line.
func (s source) at(n ast.Node) string {
	p := s.fset.Position(n.Pos())
	return s.path + ":" + strconv.Itoa(p.Line)
}

// files lists every file of the work tree that could be committed, from the
// root with slashes, without asking git (a copy without .git is judged alike).
var files = sync.OnceValues(func() ([]string, error) {
	var all []string
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if os.IsNotExist(err) { // removed while we walk
				return nil
			}
			return err
		}
		if d.IsDir() {
			switch p {
			case ".git", ".cache", "bin":
				return filepath.SkipDir
			}
			return nil
		}
		all = append(all, filepath.ToSlash(p))
		return nil
	})
	return all, err
})

// sources are the module's Go files; those under testdata and of the linters'
// own module are left out.
var sources = sync.OnceValues(func() ([]source, error) {
	names, err := files()
	if err != nil {
		return nil, err
	}
	var all []source
	fset := token.NewFileSet()
	for _, name := range names {
		if !strings.HasSuffix(name, ".go") || strings.Contains(name, "testdata/") || strings.HasPrefix(name, ".") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		all = append(all, source{
			path:  name,
			pkg:   path.Dir(name),
			test:  strings.HasSuffix(name, "_test.go"),
			lines: strings.Count(string(text), "\n"),
			text:  string(text),
			file:  file,
			fset:  fset,
		})
	}
	return all, nil
})

func allSources(t *testing.T) []source {
	t.Helper()
	all, err := sources()
	if err != nil {
		t.Fatalf("cannot read the module's files: %v", err)
	}
	return all
}

func allFiles(t *testing.T) []string {
	t.Helper()
	all, err := files()
	if err != nil {
		t.Fatalf("cannot list the work tree: %v", err)
	}
	return all
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("cannot read %s: %v", name, err)
	}
	return string(text)
}

// unused reports entries of a table of exceptions that nothing needs any more.
func unused[V any](t *testing.T, table string, entries map[string]V, seen map[string]bool) {
	t.Helper()
	for name := range entries {
		if !seen[name] {
			t.Errorf("%s: the entry %q is not needed; remove it", table, name)
		}
	}
}
