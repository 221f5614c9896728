package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestToolsForPeople(t *testing.T) {
	b := newBench(t)
	typedTool(b)
	b.tool("plain", "cat\n")
	b.file("evil/evil", "#!/bin/sh\n# evil — \x1b[2Jwipes \u202ethe screen\n# evil\n", 0o755)
	b.file("broken/broken", "#!/no/such/interpreter\n", 0o755)

	status, stdout, stderr := b.run("", "tools")
	const list = "evil   wipes \\u{202e}the screen\nplain  a tool of a test.\nshow   a tool of a test.\n"
	if status != 0 || stdout != list {
		t.Errorf("got %d:\n%s\nwant:\n%s", status, stdout, list)
	}
	if strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "snens: tool broken skipped: ") {
		t.Errorf("stderr: %q", stderr)
	}

	status, stdout, stderr = b.run("", "tools", "--all")
	if status != 0 || !strings.Contains(stdout, "\nbroken  set aside: ") || stderr != "" {
		t.Errorf("--all: got %d, %q, stderr %q", status, stdout, stderr)
	}
	if _, stdout, _ = b.run("", "tools", "--names"); stdout != "evil\nplain\nshow\n" {
		t.Errorf("--names: %q", stdout)
	}
	_, stdout, _ = b.run("", "tools", "show")
	for _, want := range []string{"show: a tool of a test.\n", "snens call show FIELD=VALUE", "  word  in|out|fail  required  A word\n", "  tags  array        optional  Tags\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("tools show lacks %q:\n%s", want, stdout)
		}
	}
}

func TestToolsForPrograms(t *testing.T) {
	b := newBench(t)
	typedTool(b)
	b.tool("plain", "cat\n")
	b.file("broken/broken", "#!/no/such/interpreter\n", 0o755)
	list := func(args ...string) []map[string]any {
		t.Helper()
		_, stdout, _ := b.run("", append([]string{"tools"}, args...)...)
		var all []map[string]any
		if err := json.Unmarshal([]byte(stdout), &all); err != nil {
			t.Fatalf("%q: %v in:\n%s", args, err, stdout)
		}
		return all
	}
	keys := func(m map[string]any) string {
		var names []string
		for k := range m {
			names = append(names, k)
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}

	all := list("--json")
	if len(all) != 2 || all[0]["name"] != "plain" || all[1]["name"] != "show" {
		t.Fatalf("got %v", all)
	}
	for _, tool := range all {
		if keys(tool) != "description name parameters" {
			t.Errorf("keys: %s", keys(tool))
		}
	}
	if all[1]["description"] != "show — a tool of a test.\nshow [WORD]" {
		t.Errorf("description: %q", all[1]["description"])
	}
	if parameters := all[1]["parameters"].(map[string]any); parameters["x-snens"] != nil || parameters["properties"].(map[string]any)["word"] == nil {
		t.Errorf("parameters: %v", parameters)
	}

	last := list("--all", "--json")[2]
	if last["name"] != "broken" || last["quarantined"] != true || last["path"] != filepath.Join(b.dir, "broken", "broken") || last["cause"] == "" {
		t.Errorf("set aside: %v", last)
	}
	one := list("--json", "show")
	if len(one) != 1 || one[0]["name"] != "show" {
		t.Errorf("one tool: %v", one)
	}
	if openai := list("--format", "openai"); openai[0]["type"] != "function" || keys(openai[0]["function"].(map[string]any)) != "description name parameters" {
		t.Errorf("openai: %v", openai[0])
	}
	if mcp := list("--format=mcp"); keys(mcp[0]) != "description inputSchema name" {
		t.Errorf("mcp: %v", mcp[0])
	}
}

func TestABrokenSchemaKeepsTheTool(t *testing.T) {
	b := newBench(t)
	typedTool(b)
	b.file("show/schema.json", `{"type": "object"`, 0o644)
	status, stdout, stderr := b.run("", "call", "show", "out", "x")
	if status != 0 || stdout != "<out><x>\n" || !strings.HasPrefix(stderr, "snens: show: schema.json ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("got %d, %q, %q", status, stdout, stderr)
	}
	if status, _, _ := b.run("", "check", "show"); status != 1 {
		t.Errorf("check: %d", status)
	}
}

func TestNewToolIsInOrder(t *testing.T) {
	b := newBench(t)
	status, stdout, stderr := b.run("", "new", "tool", "hello")
	path := filepath.Join(b.dir, "hello", "hello")
	if status != 0 || stdout != path+"\n" || stderr != "" {
		t.Fatalf("got %d, %q, %q", status, stdout, stderr)
	}
	if status, stdout, stderr := b.run("", "check", "hello"); status != 0 || stdout != "ok      hello  1 example\n" || stderr != "" {
		t.Errorf("check: %d, %q, %q", status, stdout, stderr)
	}
	if status, stdout, stderr := b.run("", "test", "hello"); status != 0 || !strings.HasPrefix(stdout, "ok      hello  ") || stderr != "" {
		t.Errorf("test: %d, %q, %q", status, stdout, stderr)
	}
	if _, stdout, _ := b.run("", "call", "hello", "text=-x", "upper=true"); stdout != "-X\n" {
		t.Errorf("call: %q", stdout)
	}
	status, stdout, stderr = b.run("", "new", "tool", "hello")
	if status != 1 || stdout != "" || stderr != "snens: cannot begin the tool hello: "+filepath.Join(b.dir, "hello")+" is there already\n" {
		t.Errorf("again: %d, %q, %q", status, stdout, stderr)
	}
}

// The self-test that comes with a new tool fails when the tool does not do as
// it says, and names what it tried.
func TestTheNewSelfTestCanFail(t *testing.T) {
	for what, c := range map[string]struct{ from, to, says string }{
		"no text is taken":   {"exit 2\n", "exit 0\n", "no text at all: got exit status 0, want another"},
		"--upper is ignored": {"upper=1", "upper=0", "a text with --upper: got 'hello', want 'HELLO'"},
		"it says nothing":    {"set -eu\n", "exit 3\n", "a text: got '', want 'hello'"},
	} {
		b := newBench(t)
		b.run("", "new", "tool", "hello")
		path := filepath.Join(b.dir, "hello", "hello")
		text, err := os.ReadFile(path)
		if err != nil || strings.Count(string(text), c.from) != 1 {
			t.Fatalf("%s: %v, the template holds %q not once:\n%s", what, err, c.from, text)
		}
		b.file("hello/hello", strings.Replace(string(text), c.from, c.to, 1), 0o755)
		if status, stdout, stderr := b.run("", "test", "hello"); status != 1 || !strings.HasPrefix(stdout, "failed  hello") || !strings.Contains(stdout, "    "+c.says+"\n") || stderr != "snens: 1 of 1 self-tests failed\n" {
			t.Errorf("%s: got %d, %q, %q", what, status, stdout, stderr)
		}
	}
}

// A script that had to be run for its description could have told it unrun; a
// link to somebody else's program could not.
func TestCheckPrefersCommentsToHelp(t *testing.T) {
	b := newBench(t)
	const warning = "        warning: described by running --help; below the first line, two comment lines `# "
	b.tool("good", "")
	b.file("echoes/echoes", "#!/bin/sh\n# prints its arguments\necho \"$@\"\n", 0o755)
	b.file("linked/other", "#!/bin/sh\necho linked\n", 0o755)
	if err := os.Symlink("other", filepath.Join(b.dir, "linked", "linked")); err != nil {
		t.Fatal(err)
	}
	want := "ok      echoes\n" + warning + "echoes — what it does` and `# echoes and how it is used` would do without\nok      good\nok      linked\n"
	if status, stdout, stderr := b.run("", "check"); status != 0 || stdout != want || stderr != "" {
		t.Errorf("got %d, %q, %q; want %q", status, stdout, stderr, want)
	}
}

func TestCheckAndTestTellTheBroken(t *testing.T) {
	b := newBench(t)
	typedTool(b)
	b.tool("plain", "cat\n")
	b.file("plain/selftest.sh", "#!/bin/sh\necho 'it is \x1b[31mred'\nexit 1\n", 0o755)
	if status, stdout, _ := b.run("", "check"); status != 0 || stdout != "ok      plain\nok      show  1 example\n" {
		t.Errorf("check: %d, %q", status, stdout)
	}
	schema := filepath.Join(b.dir, "show", "schema.json")
	text, err := os.ReadFile(schema)
	if err != nil {
		t.Fatal(err)
	}
	b.file("show/schema.json", strings.Replace(string(text), "--n=3", "--n=4", 1), 0o644)
	status, stdout, stderr := b.run("", "check")
	if status != 1 || !strings.Contains(stdout, "broken  show  1 example\n        error: x-snens.examples[0]: ") || stderr != "snens: cannot vouch for 1 of 2 tools\n" {
		t.Errorf("check: %d, %q, %q", status, stdout, stderr)
	}
	status, stdout, stderr = b.run("", "test")
	if status != 1 || !strings.Contains(stdout, "    it is \\u{1b}[31mred\n") || stderr != "snens: 1 of 1 self-tests failed\n" {
		t.Errorf("test: %d, %q, %q", status, stdout, stderr)
	}
	if status, _, stderr = b.run("", "test", "show"); status != 1 || stderr != "snens: cannot test the tool show: it has no selftest.sh\n" {
		t.Errorf("test show: %d, %q", status, stderr)
	}
}

// That nobody listens where nobody said so is no fault; anything else is told
// as it is.
func TestTheStatusOfTheBroker(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		env  []string
		s    brokerState
		want string
	}{
		{nil, brokerState{Socket: dir + "/none", Text: "as it is"}, "none: no tool needs one (snens-priv, for commands of root's)"},
		{nil, brokerState{Socket: dir, Text: "as it is"}, "as it is"},
		{nil, brokerState{Socket: dir + "/none", Reachable: true, Text: "as it is"}, "as it is"},
		{[]string{"SNENS_PRIV=" + dir + "/none"}, brokerState{Socket: dir + "/none", Text: "as it is"}, "as it is"},
	} {
		if got := (&app{env: c.env}).brokerWords(c.s); got != c.want {
			t.Errorf("%v, %+v: got %q, want %q", c.env, c.s, got, c.want)
		}
	}
}

func TestStatusIsShortAndStartsNothing(t *testing.T) {
	b := newBench(t)
	b.file("probe/probe", "#!/bin/sh\ntouch "+b.dir+"/started\n", 0o755)
	status, stdout, stderr := b.run("")
	if status != 0 || stderr != "" || strings.Count(stdout, "\n") > 20 {
		t.Errorf("got %d, %q:\n%s", status, stderr, stdout)
	}
	for _, want := range []string{"snens " + version + "\n", "config  none; the defaults are used\n", "tools   " + b.dir + ": 1 tool\n", "\nbroker  "} {
		if !strings.Contains(stdout, want) {
			t.Errorf("it lacks %q:\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "approvals") {
		t.Errorf("it speaks of what is not there:\n%s", stdout)
	}
	if _, err := os.Stat(b.dir + "/started"); err == nil {
		t.Error("the status started a tool")
	}
	// As many folders as one likes: it stays short.
	many := []string{}
	for range 30 {
		many = append(many, "--tools-dir", t.TempDir())
	}
	if _, stdout, _ = b.run("", many...); strings.Count(stdout, "\n") > 20 || !strings.Contains(stdout, "and 24 more folders") {
		t.Errorf("with 31 folders:\n%s", stdout)
	}
}
