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

var (
	separatorRow = regexp.MustCompile(`^[-: ]*$`)
	testName     = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9_]+|[a-z0-9_-]+\\.txtar)`")
)

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

// supervisorThreats are the classes of fault on the caller's side; none may
// vanish from docs/threats.md.
var supervisorThreats = []string{
	"pipe held by a grandchild, also on success",
	"descendants escape",
	"flood, binary, invalid UTF-8",
	"stdin closed early, never read, terminal prompts",
	"argument faults",
	"`--help` hangs, pages, needs a terminal, fires a daemon, prints 1 GB",
	"program faults",
	"secrets",
	"sandbox missing or leaky",
	"a start ends somebody else's call",
	"a probe has effects",
	"concurrent senders to one mailbox, crash in mid-write",
}

// Every row of docs/threats.md names tests that exist, or says why there is none.
func TestThreatsHaveTests(t *testing.T) {
	exists := testNames(t)
	listed := map[string]bool{}
	for _, row := range tableRows(readFile(t, "docs/threats.md")) {
		if len(row) != 4 {
			t.Errorf("docs/threats.md: the row %q has %d columns; it needs class, input, right result, test", row[0], len(row))
			continue
		}
		listed[row[0]] = true
		named := testName.FindAllStringSubmatch(row[3], -1)
		for _, name := range named {
			if !exists[name[1]] {
				t.Errorf("docs/threats.md: the row %q names the test %s, which does not exist", row[0], name[1])
			}
		}
		if len(named) == 0 && !strings.HasPrefix(row[3], "none: ") {
			t.Errorf("docs/threats.md: the row %q names no test; name one, or write \"none: \" and why", row[0])
		}
	}
	for _, class := range supervisorThreats {
		if !listed[class] {
			t.Errorf("docs/threats.md has no row %q", class)
		}
	}
}

// testNames is the set of test and fuzz functions and of script archives in the tree.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9_]+)\(`)
	names := map[string]bool{}
	for _, src := range allSources(t) {
		if !src.test {
			continue
		}
		for _, found := range function.FindAllStringSubmatch(src.text, -1) {
			names[found[1]] = true
		}
	}
	for _, name := range allFiles(t) {
		if strings.HasSuffix(name, ".txtar") {
			names[name[strings.LastIndexByte(name, '/')+1:]] = true
		}
	}
	return names
}
