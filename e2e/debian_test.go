package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"snens/internal/testneed"
)

// debianTexts are what 25 of the programs must be described by: read by hand
// from their help, and independent of what an update of Debian 12 may change.
var debianTexts = map[string][2]string{
	"env":        {"Set each NAME to VALUE in the environment and run COMMAND.", "Usage: env [OPTION]... [-] [NAME=VALUE]... [COMMAND [ARG]...]"},
	"timeout":    {"Start COMMAND, and kill it if still running after DURATION.", "Usage: timeout [OPTION] DURATION COMMAND [ARG]..."},
	"sort":       {"Write sorted concatenation of all FILE(s) to standard output.", "Usage: sort [OPTION]... [FILE]..."},
	"wc":         {"Print newline, word, and byte counts for each FILE, and a total line if", "Usage: wc [OPTION]... [FILE]..."},
	"head":       {"Print the first 10 lines of each FILE to standard output.", "Usage: head [OPTION]... [FILE]..."},
	"sed":        {"sed", "Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]..."},
	"gawk":       {"gawk", "Usage: gawk [POSIX or GNU style options] -f progfile [--] file ..."},
	"ps":         {"ps", "Usage: ps [options]"},
	"pgrep":      {"pgrep", "Usage: pgrep [options] <pattern>"},
	"ss":         {"ss", "Usage: ss [ OPTIONS ]"},
	"tar":        {"GNU 'tar' saves many files together into a single tape or disk archive, and can", "Usage: tar [OPTION...] [FILE]..."},
	"find":       {"Default path is the current directory; default expression is -print.", "Usage: find [-H] [-L] [-P] [-Olevel] [-D debugopts] [path...] [expression]"},
	"xargs":      {"Run COMMAND with arguments INITIAL-ARGS and more arguments read from input.", "Usage: xargs [OPTION]... COMMAND [INITIAL-ARGS]..."},
	"diff":       {"Compare FILES line by line.", "Usage: diff [OPTION]... FILES"},
	"lsblk":      {"List information about block devices.", "Usage: lsblk [options] [<device> ...]"},
	"lscpu":      {"Display information about the CPU architecture.", "Usage: lscpu [options]"},
	"man":        {"man", "Usage: man [OPTION...] [SECTION] PAGE..."},
	"python3":    {"python3", "usage: python3 [option] ... [-c cmd | -m mod | file | -] [arg] ..."},
	"perl":       {"perl", "Usage: perl [switches] [--] [programfile] [arguments]"},
	"time":       {"Run COMMAND, then print system resource usage.", "Usage: time [OPTIONS] COMMAND [ARG]..."},
	"getent":     {"Get entries from administrative database.", "Usage: getent [OPTION...] database [key ...]"},
	"systemctl":  {"Query or send control commands to the system manager.", "systemctl [OPTIONS...] COMMAND ..."},
	"journalctl": {"Query the journal.", "journalctl [OPTIONS...] [MATCHES...]"},
	"curl":       {"curl", "Usage: curl [options...] <url>"},
	"prlimit":    {"Show or change the resource limits of a process.", "Usage: prlimit [options] [--<resource>=<limit>] [-p PID]"},
}

// definition is one tool in the output of snens tools --json.
type definition struct {
	Name, Description string
	Quarantined       bool
	Path, Cause       string
	Parameters        json.RawMessage
}

func definitions(t testing.TB, text string) map[string]definition {
	t.Helper()
	var list []definition
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatalf("cannot read the definitions: %v\n%s", err, text)
	}
	byName := map[string]definition{}
	for _, d := range list {
		byName[d.Name] = d
	}
	if len(byName) != len(list) {
		t.Errorf("%d definitions have %d names", len(list), len(byName))
	}
	return byName
}

// linkDebian makes each program of the list a tool and returns the causes why
// some must be set aside, "" for the others.
func linkDebian(t *testing.T, w *world) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/debian.txt")
	must(t, err)
	causes := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, cause, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		path := systemProgram(t, name)
		must(t, os.Mkdir(filepath.Join(w.tools, name), 0o755))
		must(t, os.Symlink(path, filepath.Join(w.tools, name, name)))
		causes[name] = cause
	}
	return causes
}

// systemProgram is where the system itself has a program, whatever else is on PATH.
func systemProgram(t *testing.T, name string) string {
	t.Helper()
	for _, dir := range []string{"/usr/bin", "/usr/sbin", "/bin", "/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	return testneed.Program(t, name, "make need-e2e installs the package")
}

// Hundreds of real programs are described, those that cannot be are named with
// a true cause, and nothing hangs or stays. A second start runs none of them.
func TestDebian(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	causes := linkDebian(t, w)
	first := w.run("tools", "--json")
	w.nothingLeft()
	if first.status != 0 {
		t.Fatalf("exit status %d:\n%s", first.status, first.stderr)
	}
	found := definitions(t, first.stdout)
	if len(found) < 150 {
		t.Errorf("only %d programs are described", len(found))
	}
	wantErr := ""
	for _, name := range sortedKeys(causes) {
		cause := causes[name]
		if cause != "" {
			wantErr += "snens: tool " + name + " skipped: " + cause + "\n"
		}
		if d, ok := found[name]; ok != (cause == "") {
			t.Errorf("%s: described %v (%q), want cause %q", name, ok, d.Description, cause)
		}
	}
	if first.stderr != wantErr {
		t.Errorf("stderr:\n%s\nwant:\n%s", first.stderr, wantErr)
	}
	for name, d := range found {
		essence, usage, _ := strings.Cut(d.Description, "\n")
		if strings.HasPrefix(strings.ToLower(essence), "usage") || essence == "" {
			t.Errorf("%s: the essence is %q", name, essence)
		}
		if want, ok := debianTexts[name]; ok && want != [2]string{essence, usage} {
			t.Errorf("%s: described by\n%q\n%q\nwant\n%q", name, essence, usage, want)
		}
	}
	for name := range debianTexts {
		if _, ok := found[name]; !ok {
			t.Errorf("%s is in the table and not in the list", name)
		}
	}
	secondStart(t, w, first, len(found))
}

// secondStart starts snens where it cannot start any process. What it needs
// not run it still describes; with --refresh everything would be run, which
// shows that the restriction holds.
func secondStart(t *testing.T, w *world, first result, described int) {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	w.setenv(roleName, "cannot-fork")
	w.wrap = []string{exe}
	if second := w.run("tools", "--json"); second != first {
		t.Errorf("the second start gives %d, stderr:\n%s\nand another list: %v", second.status, second.stderr, second.stdout != first.stdout)
	}
	third := w.run("tools", "--json", "--refresh")
	if n := len(definitions(t, third.stdout)); n != 0 {
		t.Errorf("%d tools are described though none can be run", n)
	}
	if n := strings.Count(third.stderr, " skipped: "); n < described {
		t.Errorf("--refresh set %d tools aside, want all %d:\n%s", n, described, third.stderr)
	}
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
