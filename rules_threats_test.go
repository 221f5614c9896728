package snens_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// supervisorThreats are the classes of fault on the caller's side, and
// brokerThreats those of the broker; none may vanish from docs/threats.md.
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

var brokerThreats = []string{
	"the text read is not the command run (CVE-2026-32065)",
	"a display that cuts",
	"what was approved changes while it waits",
	"a later rule asked for by name",
	"a server or carrier that lies about the text",
	"input that nobody has read decides what happens",
	"a wrapper that is looked through, a shell behind the check",
	"one approval, several runs",
	"a name looked up a second time",
	"a word that means yes by accident",
	"an answer that comes too late",
	"sequences for the terminal (CVE-2023-28486, CVE-2023-28487)",
	"letters that are not seen, or turn the line round (CVE-2021-42574)",
	"a line end in an argument",
	"the requester speaks for others",
	"so many requests that nobody can read them",
	"output of a running command",
	"a stray key",
	"a pid taken for a user (CVE-2013-4288, CVE-2019-6133)",
	"a look-up of somebody who has left (CVE-2021-3560)",
	"a user read out of text (CVE-2019-7304)",
	"edges of user ids (CVE-2019-14287, CVE-2018-19788)",
	"one who approves himself",
	"a service that speaks for several users",
	"a user of another namespace",
	"a fake broker",
	"questions that only want to know",
	"a socket that is too open",
	"a user by way of variables",
	"ids that are guessed (CVE-2015-4625)",
	"approvals that have gone stale (CVE-2013-1775, CVE-2013-1776)",
	"variables that run code",
	"no words at all (CVE-2021-4034)",
	"options in the place of values",
	"tricks with paths",
	"programs that run others (CVE-2023-22809, CVE-2023-26604)",
	"a root folder of the caller's choice (CVE-2025-32463)",
	"words put into the requester's terminal",
	"descriptors that leak or harm",
	"a folder swapped below a path",
	"processes that stay",
	"a daemon that dies",
	"signals to the wrong process",
	"exhaustion (CVE-2021-4115)",
	"a race for the command's path",
	"a command or policy that others can write",
	"the log as a target",
	"a log that was cut or changed",
	"no room for the log",
	"secrets in a recording",
	"a deputy who can read more",
}

// The name of a test, with its folder in front where that is needed, and what
// the last column may say: names and perhaps what they leave open, or why there
// is none.
const testName = "`((?:[a-z0-9_/-]+\\.)?(?:Test|Fuzz)[A-Za-z0-9_]+|[a-z0-9_-]+\\.txtar)`"

var (
	testNamed  = regexp.MustCompile(testName)
	testColumn = regexp.MustCompile("^(?:none: .+|" + testName + "(?:, " + testName + ")*(?:; missing: .+)?)$")
)

// Every row of docs/threats.md names tests that exist, or says why there is none.
func TestThreatsHaveTests(t *testing.T) {
	exists := testNames(t)
	listed := map[string]bool{}
	for _, row := range tableRows(readFile(t, "docs/threats.md")) {
		if listed[row[0]] {
			t.Errorf("docs/threats.md has two rows %q", row[0])
		}
		listed[row[0]] = true
		if why := rowFault(row, exists); why != "" {
			t.Errorf("docs/threats.md: the row %q %s", row[0], why)
		}
	}
	for _, class := range slices.Concat(supervisorThreats, brokerThreats) {
		if !listed[class] {
			t.Errorf("docs/threats.md has no row %q", class)
		}
	}
}

// rowFault says what is wrong with a row, "" when it is right. exists has how
// many tests there are of each name.
func rowFault(row []string, exists map[string]int) string {
	if len(row) != 4 || slices.Contains(row, "") {
		return "needs four columns: class, input, right result, test"
	}
	if !testColumn.MatchString(row[3]) {
		return "must end with the names of tests, or with \"none: \" and why; what the tests leave open stands after \"; missing: \""
	}
	for _, found := range testNamed.FindAllStringSubmatch(row[3], -1) {
		switch n := exists[found[1]]; {
		case n == 0:
			return "names the test " + found[1] + ", which does not exist"
		case n > 1:
			return "names the test " + found[1] + ", which several packages have; write `folder." + found[1] + "`"
		}
	}
	return ""
}

// testNames counts the test and fuzz functions, each by its name alone and with
// its folder, and the script archives of the tree.
func testNames(t *testing.T) map[string]int {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9_]+)\(`)
	names := map[string]int{}
	for _, src := range allSources(t) {
		if !src.test {
			continue
		}
		for _, found := range function.FindAllStringSubmatch(src.text, -1) {
			names[found[1]]++
			names[src.pkg+"."+found[1]]++
		}
	}
	for _, name := range allFiles(t) {
		if strings.HasSuffix(name, ".txtar") {
			names[name[strings.LastIndexByte(name, '/')+1:]]++
		}
	}
	return names
}

func TestTheThreatRuleCanFail(t *testing.T) {
	exists := map[string]int{"TestA": 1, "FuzzB": 1, "TestTwice": 2, "a/b.TestTwice": 1, "x.txtar": 1}
	for last, want := range map[string]string{
		"`TestA`":                            "",
		"`TestA`, `FuzzB`, `x.txtar`":        "",
		"`a/b.TestTwice`; missing: the rest": "",
		"none: there is no such thing":       "",
		"none: ":                             "must end with",
		"`TestA` and more":                   "must end with",
		"`TestA`; missing: ":                 "must end with",
		"missing: all":                       "must end with",
		"TestA":                              "must end with",
		"`TestNone`":                         "TestNone, which does not exist",
		"`TestA`, `a/c.TestTwice`; missing: a part": "a/c.TestTwice, which does not exist",
		"`TestTwice`": "several packages have",
		"":            "four columns",
	} {
		got := rowFault([]string{"class", "input", "result", last}, exists)
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", last, got, want)
		}
	}
	if rowFault([]string{"class", "input", "result"}, exists) == "" {
		t.Error("three columns are enough")
	}
}
