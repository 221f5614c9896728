package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snens/supervisor"
	"snens/supervisor/call"
	"snens/supervisor/tool"
)

func TestHintsNameWhatIsToBeMended(t *testing.T) {
	b := newBench(t)
	marked(b)
	if err := os.Chmod(b.file("t1/schema.json", "{}", 0o644), 0o666); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := b.run("", "call", "t1", "x"); status != 126 || !strings.Contains(stderr, "\nhint: mend "+filepath.Join(b.dir, "t1", "schema.json")+", then: ") {
		t.Errorf("a schema.json that others can write to: got %d, %q", status, stderr)
	}
	if status, _, stderr := b.run("", "call", ""); status != 127 || strings.Contains(stderr, "new tool") || !strings.Contains(stderr, "no tool can have that name") {
		t.Errorf("an empty name: got %d, %q", status, stderr)
	}
}

// A file where a folder should be cannot be read as one, even by root.
func TestAFolderThatCannotBeRead(t *testing.T) {
	b := newBench(t)
	b.tool("fine", "")
	dark := b.file("dark", "", 0o644)
	if status, stdout, stderr := b.run("", "--tools-dir", dark, "check"); status != 1 || !strings.Contains(stdout, "fine") || !strings.Contains(stderr, dark) {
		t.Errorf("check: got %d, %q, %q", status, stdout, stderr)
	}
	if status, _, stderr := b.run("", "--tools-dir", dark, "call", "x"); status != 127 || !strings.Contains(stderr, "hint: the tools folder "+dark+" cannot be read: ") {
		t.Errorf("call: got %d, %q", status, stderr)
	}
}

func TestANewToolInJSON(t *testing.T) {
	b := newBench(t)
	status, stdout, stderr := b.run("", "--json", "new", "tool", "fresh")
	var got map[string]string
	if err := json.Unmarshal([]byte(stdout), &got); status != 0 || err != nil || len(got) != 2 || got["name"] != "fresh" || got["path"] != filepath.Join(b.dir, "fresh", "fresh") {
		t.Errorf("got %d, %q, %q", status, stdout, stderr)
	}
}

// What this machine lacks is no fault of the tool's.
func TestALackOfTheMachineIsOurs(t *testing.T) {
	err := &supervisor.QuarantinedError{Quarantined: tool.Quarantined{Name: "t", Path: "/t/t", Cause: "too many open files", Here: true}}
	a := &app{json: true}
	class, status := classOfMissing(err)
	f := asFailure(a.explainMissing("t", err))
	if r := a.neverStarted("t", class, status, "", f); r.ExitStatus() != 125 || r.Class != call.ClassStart || strings.Contains(r.Content, "mend") {
		t.Errorf("got %d, %+v", r.ExitStatus(), r)
	}
	err.Here = false
	if class, status = classOfMissing(err); class != call.ClassStart || status != 126 {
		t.Errorf("a broken tool: got %s, %d", class, status)
	}
}
