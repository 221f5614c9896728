package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// event is one line of go test -json; the fields that are used here.
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
}

type testKey struct{ pkg, test string }

// summary is what has been seen so far.
type summary struct {
	passed, failed int
	skips          []string // "package Test: reason"
	fails          []string // "package Test"
	output         map[testKey][]string
}

// read prints what a person wants to see at once and collects the rest.
func read(events io.Reader, out io.Writer) (*summary, error) {
	sum := &summary{output: map[testKey][]string{}}
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil {
				sum.add(e, out)
			} else {
				out.Write(line)
			}
		}
		if err == io.EOF {
			return sum, nil
		}
		if err != nil {
			return sum, err
		}
	}
}

func (s *summary) add(e event, out io.Writer) {
	key := testKey{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(out, e.Output)
	case "output":
		if e.Test == "" && closing(e.Output) {
			fmt.Fprint(out, e.Output)
			return
		}
		s.output[key] = append(s.output[key], e.Output)
	case "pass":
		if e.Test != "" {
			s.passed++
		}
		delete(s.output, key)
	case "fail":
		if e.Test != "" {
			s.failed++
			s.fails = append(s.fails, e.Package+" "+e.Test)
		}
		for _, line := range s.output[key] {
			fmt.Fprint(out, line)
		}
		delete(s.output, key)
	case "skip":
		if e.Test != "" {
			s.skips = append(s.skips, e.Package+" "+e.Test+": "+reason(s.output[key]))
		}
		delete(s.output, key)
	}
}

// closing says whether a line of package output is the one with which go test
// closes a package that has tests.
func closing(line string) bool {
	return strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "FAIL\t")
}

// reason is what a skipped test printed last, without file and line.
func reason(output []string) string {
	for _, line := range slices.Backward(output) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "=== ") {
			continue
		}
		if _, text, ok := strings.Cut(line, ".go:"); ok {
			if _, text, ok = strings.Cut(text, ": "); ok {
				return text
			}
		}
		return line
	}
	return "no reason given"
}

func (s *summary) print(out io.Writer) {
	list := func(title string, names []string) {
		if len(names) == 0 {
			return
		}
		slices.Sort(names)
		fmt.Fprintf(out, "\n%s:\n", title)
		for _, name := range names {
			fmt.Fprintf(out, "  %s\n", name)
		}
	}
	list("skipped", s.skips)
	list("failed", s.fails)
	fmt.Fprintf(out, "\n%d passed, %d failed, %d skipped\n", s.passed, s.failed, len(s.skips))
}
