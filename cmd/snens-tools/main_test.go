package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"snens/cmd/snens-tools/internal/cli"
)

// call runs a tool in this process and returns its status and both streams.
func call(stdin string, argv ...string) (status int, stdout, stderr string) {
	var out, errs strings.Builder
	status = run(argv, cli.IO{In: strings.NewReader(stdin), Out: &out, Err: &errs})
	return status, out.String(), errs.String()
}

// want calls a tool and compares all it does.
func want(t *testing.T, status int, stdout, stderr, stdin string, argv ...string) {
	t.Helper()
	gotStatus, gotOut, gotErr := call(stdin, argv...)
	if gotStatus != status || gotOut != stdout || gotErr != stderr {
		t.Errorf("%q ended with %d\nstdout %q\nstderr %q\nwant %d\nstdout %q\nstderr %q",
			argv, gotStatus, gotOut, gotErr, status, stdout, stderr)
	}
}

func TestDispatch(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("f", []byte("x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{
		{"read", "f"},
		{"/some/tools/read/read", "f"},
		{"snens-tools", "read", "f"},
		{"/bin/snens-tools.old", "read", "f"},
	} {
		want(t, 0, "1\tx\n", "", "", argv...)
	}
	want(t, 2, "", "snens-tools: called without a name (empty argv)\n", "")
	want(t, 2, "", "snens-tools: no tool is called \"rm\"\nhint: tools: edit, grep, logs, package, priv, read, service, sysinfo, write\n", "", "snens-tools", "rm", "-rf")
	if status, out, errs := call("", "snens-tools"); status != 2 || out != "" || !strings.Contains(errs, "\nwrite — ") {
		t.Errorf("without arguments: %d %q %q", status, out, errs)
	}
	if status, out, errs := call("", "snens-tools", "--help"); status != 0 || errs != "" || !strings.HasPrefix(out, "snens-tools — ") {
		t.Errorf("--help: %d %q %q", status, out, errs)
	}
}

// Each tool describes itself by the contract: the essence, then the usage,
// both one line, and stdin is named exactly where it is read.
func TestDescriptions(t *testing.T) {
	readsStdin := []string{"edit", "priv", "write"}
	if !slices.IsSorted(names()) {
		t.Errorf("not sorted: %q", names())
	}
	for _, name := range names() {
		status, out, errs := call("", name, "--help")
		if status != 0 || errs != "" {
			t.Errorf("%s --help: %d %q", name, status, errs)
		}
		essence, usage := cli.Essence(out), cli.UsageLine(out)
		if !strings.HasPrefix(essence, name+" — ") || len(essence) > 120 {
			t.Errorf("%s: essence %q", name, essence)
		}
		if usage != name && !strings.HasPrefix(usage, name+" ") {
			t.Errorf("%s: usage %q", name, usage)
		}
		if got := strings.Contains(essence+usage, "stdin"); got != slices.Contains(readsStdin, name) {
			t.Errorf("%s: its first lines name stdin: %v", name, got)
		}
		if len(out) > 4000 {
			t.Errorf("%s: the help has %d bytes; 4000 are read", name, len(out))
		}
		if !strings.Contains(out, "Exit status: 0 ") {
			t.Errorf("%s: the help does not tell the exit status", name)
		}
	}
}

func TestEveryToolRefusesUnknownOptions(t *testing.T) {
	for _, name := range names() {
		status, out, errs := call("", name, "--no-such-option", "x")
		lines := strings.Split(errs, "\n")
		if status != 2 || out != "" || lines[0] != name+": unknown option --no-such-option" || !strings.HasPrefix(lines[1], "hint: usage: "+name) {
			t.Errorf("%s: %d %q %q", name, status, out, errs)
		}
	}
}

func TestRead(t *testing.T) {
	t.Chdir(t.TempDir())
	dir, _ := os.Getwd()
	if err := os.WriteFile("-f", []byte("a\nb\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	want(t, 0, "2\tb\n", "", "", "read", "--start=2", "--", "-f")
	want(t, 2, "", "read: --start and --tail exclude each other\nhint: usage: "+cli.UsageLine(readHelp)+"\n", "", "read", "--start=2", "--tail=1", "f")
	want(t, 1, "", "read: cannot open gone: no such file or directory\nhint: the path is relative to "+dir+"\n", "", "read", "gone")
	want(t, 1, "", "read: cannot open /gone: no such file or directory\n", "", "read", "/gone")
	want(t, 1, "", "read: . is a folder, not a text file\nhint: ls lists a folder; grep searches below it\n", "", "read", ".")
	want(t, 1, "", "read: /dev/null is a device, not a text file\n", "", "read", "/dev/null")
	want(t, 1, "", "read: -f: line 7 is past the end (2 lines)\nhint: use a smaller start, or tail\n", "", "read", "--start", "7", "--", "-f")
	want(t, 1, "", "read: cannot open a\\u{1b}b: no such file or directory\nhint: the path is relative to "+dir+"\n", "", "read", "a\x1bb")
}

func TestWrite(t *testing.T) {
	t.Chdir(t.TempDir())
	want(t, 0, "created a/b: 2 bytes, 1 line\n", "", "x\n", "write", "--parents", "a/b")
	want(t, 0, "replaced a/b: 0 bytes, 0 lines\n", "", "", "write", "a/b")
	want(t, 1, "", "write: a/b exists already (0 bytes)\nhint: leave out --new to replace it\n", "y", "write", "--new", "a/b")
	if err := os.Symlink("a/b", "link"); err != nil {
		t.Fatal(err)
	}
	want(t, 0, "replaced link (a link to a/b): 1 byte, 1 line\n", "", "z", "write", "link")
	if err := os.Link("a/b", "twin"); err != nil {
		t.Fatal(err)
	}
	want(t, 0, "replaced ./twin: 1 byte, 1 line\nnote: other hard links to the file, which keep the old content: 1\n", "", "t", "write", "./twin")
	want(t, 1, "", "write: cannot open the folder no: no such file or directory\nhint: create the folder first, or use --parents (parents=true)\n", "", "write", "no/f")
	want(t, 1, "", "write: . is a folder\nhint: only plain files are replaced\n", "", "write", ".")
	for _, mode := range []string{"8", "1777", "rw", "", "-1"} {
		if status, _, errs := call("", "write", "--mode="+mode, "f"); status != 2 || !strings.HasPrefix(errs, "write: --mode must be octal permission bits from 0 to 777") {
			t.Errorf("mode %q: %d %q", mode, status, errs)
		}
	}
	if info, err := os.Stat("f"); err == nil {
		t.Errorf("%s was written with a bad mode", info.Name())
	}
}

func TestEdit(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("f", []byte("a\nb\na\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	diff := "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n a\n"
	want(t, 0, "would edit f: 1 replacement, line 2\nnote: dry run: nothing was written\n"+diff, "", `{"old":"b","new":"c"}`, "edit", "--dry-run", "f")
	want(t, 0, "edited f: 1 replacement, line 2\n"+diff, "", `{"old":"b","new":"c"}`, "edit", "f")
	want(t, 1, "", "edit: f: the old text occurs 2 times: lines 1, 3; nothing was changed\n"+
		"hint: add lines around it to old until it is unique, or set all=true\n", `{"old":"a","new":"x"}`, "edit", "f")
	want(t, 1, "", "edit: f: the old text does not occur in the file; nothing was changed\n"+
		"hint: it occurs on line 2 without the white space at its beginning or end\n", `{"old":"c ","new":"x"}`, "edit", "f")
	want(t, 1, "", "edit: cannot open gone: file does not exist\nhint: write creates files\n", `{"old":"a","new":"x"}`, "edit", "gone")
	want(t, 2, "", "edit: no change on stdin\nhint: stdin is one object: {\"old\": \"...\", \"new\": \"...\", \"all\": false}\n", "", "edit", "f")
	want(t, 1, "", "edit: /dev/null is a device\nhint: only plain files are replaced\n", `{"old":"a","new":"x"}`, "edit", "/dev/null")
	if data, err := os.ReadFile("f"); err != nil || string(data) != "a\nc\na\n" {
		t.Errorf("f holds %q, %v", data, err)
	}
	if err := os.WriteFile("bin", []byte("a\x00"), 0o644); err != nil {
		t.Fatal(err)
	}
	want(t, 1, "", "edit: bin is not text: binary data (a NUL at byte 1), 2 bytes\n", `{"old":"a","new":"x"}`, "edit", "bin")
	if err := os.WriteFile("big", []byte(strings.Repeat("a\n", 5<<20)), 0o644); err != nil {
		t.Fatal(err)
	}
	if status, out, errs := call(`{"old":"a","new":"b","all":true}`, "edit", "big"); status != 0 || errs != "" ||
		out != "edited big: 5242880 replacements, lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and later\n... no diff: the changes are spread over too much text\n" {
		t.Errorf("big: %d %.300q %q", status, out, errs)
	}
	if err := os.WriteFile("dos", []byte("a\r\nb\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	want(t, 0, "edited dos: 1 replacement, line 1\nnote: the file's lines end with CR LF; those of the change were written so too\n"+
		"--- dos\n+++ dos\n@@ -1,2 +1,3 @@\n-a\n+x\n+y\n b\n", "", `{"old":"a","new":"x\ny"}`, "edit", "dos")
}

func TestGrepLogsAndSysinfoRefuse(t *testing.T) {
	t.Chdir(t.TempDir())
	dir, _ := os.Getwd()
	want(t, 2, "", "grep: needs a pattern\nhint: usage: "+cli.UsageLine(grepHelp)+"\n", "", "grep")
	want(t, 2, "", "grep: the pattern is empty\nhint: usage: "+cli.UsageLine(grepHelp)+"\n", "", "grep", "")
	want(t, 2, "", "grep: no such file or folder: x, y\nhint: the path is relative to "+dir+"\n", "", "grep", "a", "x", ".", "y")
	want(t, 2, "", "grep: the pattern is wrong: missing closing ): (\nhint: for the text itself put \\Q before it and \\E behind it\n", "", "grep", "(")
	want(t, 2, "", "grep: the glob is wrong: a { is not closed\nhint: examples: *.go, *.{c,h}, src/**/*.go, !*.min.js\n", "", "grep", "--glob={", "a")
	want(t, 1, "... no match in 0 files\n", "", "", "grep", "a")
	want(t, 2, "", "sysinfo: no section is called \"cpu\"\nhint: sections: os, uptime, load, memory, disks, units\n", "", "sysinfo", "os", "cpu")
	usage := "\nhint: usage: " + cli.UsageLine(logsHelp) + "\n"
	want(t, 2, "", "logs: takes options only, not \"ssh\""+usage, "", "logs", "ssh")
	want(t, 2, "", "logs: --unit and --priority are for the journal, --file is not"+usage, "", "logs", "--file=x", "--unit=y")
	want(t, 2, "", "logs: --until is before --since"+usage, "", "logs", "--since=1h", "--until=2h")
	want(t, 2, "", "logs: --priority must be one of emerg, alert, crit, err, warning, notice, info, debug, not \"bad\""+usage, "", "logs", "--priority=bad")
}

func TestJournalctlNeedsAJournal(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	program := filepath.Join(dir, "journalctl")
	if got := journalctl(dir + "/"); got != "" {
		t.Errorf("%q without the program", got)
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := journalctl(dir + "/"); got != "" {
		t.Errorf("%q without a journal", got)
	}
	if err := os.MkdirAll(filepath.Join(dir, "run/log/journal/id"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := journalctl(dir + "/"); got != program {
		t.Errorf("%q; want %q", got, program)
	}
}
