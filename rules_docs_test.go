package snens_test

import (
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"snens/supervisor/call"
)

func TestReadmeNamesTheTwoCommands(t *testing.T) {
	readme := readFile(t, "README.md")
	for _, command := range []string{"make demo", "make test"} {
		if !strings.Contains(readme, command) {
			t.Errorf("README.md does not name `%s`", command)
		}
	}
}

// Links and names of pages in what people read first must lead somewhere.
func TestPagesThatAreNamedExist(t *testing.T) {
	page := regexp.MustCompile("`?((?:docs/)?[A-Za-z-]+\\.md)`?")
	for _, name := range []string{"README.md", "ARCHITECTURE.md", "docs/tools.md", "docs/config.md", "docs/x-snens.md", "docs/shipped.md"} {
		for _, found := range page.FindAllStringSubmatch(readFile(t, name), -1) {
			if _, err := os.Stat(found[1]); err != nil {
				t.Errorf("%s names %s, which does not exist", name, found[1])
			}
		}
	}
}

// docs/tools.md has every key of the result record and every class.
func TestTheRecordIsDocumented(t *testing.T) {
	documented := map[string]bool{}
	for _, row := range tableRows(readFile(t, "docs/tools.md")) {
		for key := range strings.SplitSeq(row[0], ",") {
			documented[strings.Trim(key, " `")] = true
		}
	}
	record := reflect.TypeFor[call.Record]()
	for i := range record.NumField() {
		key, _, _ := strings.Cut(record.Field(i).Tag.Get("json"), ",")
		if key != "-" && !documented[key] {
			t.Errorf("docs/tools.md lacks the key %s of the result record", key)
		}
	}
	for _, class := range []call.Class{
		call.ClassOK, call.ClassEmpty, call.ClassRetry, call.ClassUsage, call.ClassError,
		call.ClassSignal, call.ClassTimeout, call.ClassCancelled, call.ClassRefused, call.ClassStart,
	} {
		if !documented[string(class)] {
			t.Errorf("docs/tools.md lacks the class %s", class)
		}
	}
}

// Every module that our own files import has a row in docs/dependencies.md:
// | module | for what | why this one | licence |.
func TestDependenciesAreExplained(t *testing.T) {
	rows := tableRows(readFile(t, "docs/dependencies.md"))
	explained := map[string]bool{}
	for _, row := range rows {
		module := strings.Trim(row[0], "`")
		explained[module] = true
		if len(row) < 4 || slices.Contains(row[:4], "") {
			t.Errorf("docs/dependencies.md: the row of %s needs four columns: module, for what, why this one, licence", module)
		}
	}
	direct := directModules(t)
	for _, module := range direct {
		if !explained[module] {
			t.Errorf("docs/dependencies.md has no row for %s, which our files import", module)
		}
	}
	for module := range explained {
		if strings.Contains(module, ".") && !slices.Contains(direct, module) && module != "mvdan.cc/gofumpt" && module != "honnef.co/go/tools" {
			t.Errorf("docs/dependencies.md explains %s, which none of our files imports", module)
		}
	}
}

// directModules lists the modules of others that a file of ours imports.
func directModules(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Path}}", "all").Output()
	if err != nil {
		t.Fatalf("cannot list the modules: %v", err)
	}
	modules := strings.Fields(string(out))
	var direct []string
	for _, src := range allSources(t) {
		for _, spec := range src.file.Imports {
			imp := strings.Trim(spec.Path.Value, `"`)
			// The longest module that holds the package is the one.
			best := ""
			for _, module := range modules {
				if module != "snens" && within(imp, module) && len(module) > len(best) {
					best = module
				}
			}
			if best != "" && !slices.Contains(direct, best) {
				direct = append(direct, best)
			}
		}
	}
	slices.Sort(direct)
	return direct
}

var separatorRow = regexp.MustCompile(`^[-: ]*$`)

// tableRows returns the cells of every row of every table of a Markdown text,
// without head and separator rows.
func tableRows(text string) [][]string {
	var rows [][]string
	head := true
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			head = true
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case separatorRow.MatchString(cells[0]):
		case head:
			head = false
		default:
			rows = append(rows, cells)
		}
	}
	return rows
}
