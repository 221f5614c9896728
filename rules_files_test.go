package snens_test

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

const (
	maxFileLines = 500
	maxFuncLines = 60
)

// Exceptions, each with its reason.
var (
	longFiles = map[string]string{}
	longFuncs = map[string]string{} // "file function"
	inits     = map[string]string{
		"cmd/snens/main.go":      "pins the main thread before any goroutine runs: it must never be handed to code that restricts its thread and lets it die",
		"cmd/snens-priv/main.go": "pins the main thread before any goroutine runs: it must never be handed to code that changes its identity and lets it die",
	}
	sleepers = map[string]string{
		"internal/cgroup/remove.go": "the kernel tells nobody when it has let go of the processes of a group; at most 200 ms in all",
	}
	skippers = map[string]string{
		"internal/testneed/testneed.go": "the one place that skips tests",
	}
	vagueNames = []string{"common", "helper", "helpers", "lib", "misc", "shared", "types", "util", "utils"}
)

func TestFilesAndFunctionsStaySmall(t *testing.T) {
	seen := map[string]bool{}
	for _, src := range allSources(t) {
		if src.lines > maxFileLines {
			seen[src.path] = true
			if longFiles[src.path] == "" {
				t.Errorf("%s has %d lines, more than %d; split it by concern, or give a reason in longFiles", src.path, src.lines, maxFileLines)
			}
		}
		for _, decl := range src.file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			lines := src.fset.Position(fn.End()).Line - src.fset.Position(fn.Pos()).Line + 1
			if src.test {
				lines -= tableLines(src, fn)
			}
			if lines <= maxFuncLines {
				continue
			}
			key := src.path + " " + fn.Name.Name
			seen[key] = true
			if longFuncs[key] == "" {
				t.Errorf("%s: %s has %d lines, more than %d; split it, or give a reason in longFuncs", src.at(fn), fn.Name.Name, lines, maxFuncLines)
			}
		}
	}
	unused(t, "longFiles", longFiles, seen)
	unused(t, "longFuncs", longFuncs, seen)
}

// tableLines counts the lines of the outermost composite literals in a function:
// a long table of cases does not make a test hard to read.
func tableLines(src source, fn *ast.FuncDecl) int {
	lines := 0
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if ok {
			lines += src.fset.Position(lit.End()).Line - src.fset.Position(lit.Pos()).Line
		}
		return !ok
	})
	return lines
}

func TestPackagesAreDescribed(t *testing.T) {
	docs := map[string]int{} // package folder -> lines of its doc comment
	for _, src := range allSources(t) {
		if src.test {
			continue
		}
		docs[src.pkg] += 0
		if src.file.Doc != nil {
			docs[src.pkg] += len(strings.Split(strings.TrimSpace(src.file.Doc.Text()), "\n"))
		}
		if name := src.file.Name.Name; slices.Contains(vagueNames, name) {
			t.Errorf("%s: package %s says nothing; name it after what it holds", src.path, name)
		}
	}
	for pkg, lines := range docs {
		if lines < 2 {
			t.Errorf("package %s: its doc comment has %d lines; say what it is for, what to use and what not", pkg, lines)
		}
	}
}

func TestNoInit(t *testing.T) {
	seen := map[string]bool{}
	for _, src := range allSources(t) {
		for _, decl := range src.file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || fn.Name.Name != "init" {
				continue
			}
			seen[src.path] = true
			if inits[src.path] == "" {
				t.Errorf("%s: func init; wire it in the main program instead", src.at(fn))
			}
		}
	}
	unused(t, "inits", inits, seen)
}

// Sleeping is not waiting: a test that sleeps is slow on a fast machine and
// flaky on a slow one, and a program that sleeps cannot be cancelled.
func TestNobodySleeps(t *testing.T) {
	seen := map[string]bool{}
	for _, src := range allSources(t) {
		calls(src, func(pkg, name string, at ast.Node) {
			if pkg != "time" || name != "Sleep" {
				return
			}
			seen[src.path] = true
			if sleepers[src.path] == "" {
				t.Errorf("%s: time.Sleep; wait for the thing itself, or give a reason in sleepers", src.at(at))
			}
		})
	}
	unused(t, "sleepers", sleepers, seen)
}

func TestSkipsNameTheirNeed(t *testing.T) {
	seen := map[string]bool{}
	for _, src := range allSources(t) {
		calls(src, func(_, name string, at ast.Node) {
			if name != "Skip" && name != "Skipf" && name != "SkipNow" {
				return
			}
			seen[src.path] = true
			if skippers[src.path] == "" && src.test && src.pkg != "internal/testneed" {
				t.Errorf("%s: %s; say what is missing through internal/testneed", src.at(at), name)
			}
		})
	}
	unused(t, "skippers", skippers, seen)
}
