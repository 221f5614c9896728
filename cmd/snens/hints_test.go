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
	config := b.file("snens.toml", "[tool.bare]\nrequire_schema = true\n", 0o644)
	b.tool("bare", "")
	status, stdout, stderr := b.run("", "--config", config, "call", "--json", "bare")
	var r call.Record
	if err := json.Unmarshal([]byte(stdout), &r); status != 126 || err != nil || r.Class != call.ClassStart ||
		!strings.Contains(stderr, "\nhint: write "+filepath.Join(b.dir, "bare", "schema.json")+", then: ") {
		t.Errorf("a schema.json that is required and missing: got %d, %q, %q", status, stdout, stderr)
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

// With --json and with -n the caller's stdin is not read, and the hint says so.
func TestTheHintOnAMissingInput(t *testing.T) {
	b := newBench(t)
	b.file("in/in", "#!/bin/sh\n# in — shows stdin.\n# in\ncat\n", 0o755)
	for _, option := range []string{"--json", "-n"} {
		// In a record the text is JSON.
		if status, stdout, stderr := b.run("hey", "call", "in", option); status != 125 || !strings.Contains(stdout+stderr, "hint: leave out --json and -n and pipe it in, or give it in JSON: ") {
			t.Errorf("%s: got %d, %q, %q", option, status, stdout, stderr)
		}
	}
	if status, stdout, _ := b.run("hey", "call", "in"); status != 0 || stdout != "hey" {
		t.Errorf("as the hint says: got %d, %q", status, stdout)
	}
}

func TestTheHintOnABareWord(t *testing.T) {
	b := newBench(t)
	for name, properties := range map[string]string{
		"text":   `"upper": {"type": "boolean"}, "text": {"type": "string"}`,
		"number": `"text": {"type": "integer"}`,
		"choice": `"text": {"type": "string", "enum": ["up", "down"]}`,
		"list":   `"text": {"type": "array", "items": {"type": "string"}}`,
		"secret": `"text": {"type": "string", "secret": true}`,
	} {
		b.tool(name, "")
		used := `"text"`
		if strings.Contains(properties, "upper") {
			used += `, "upper"`
		}
		b.file(name+"/schema.json", `{"type": "object", "properties": {`+properties+`}, "required": ["text"], "x-snens": {"stdin": {"mode": "json", "fields": [`+used+`]}}}`, 0o644)
	}
	b.tool("nothing", "")
	b.file("nothing/schema.json", `{"type": "object", "properties": {}, "x-snens": {}}`, 0o644)
	for _, c := range []struct{ name, words, hint string }{
		{"text", "hi", "write it as: snens call text text=hi; snens tools text shows its fields"},
		{"text", "$(hi)", "write it as: snens call text text=VALUE; snens tools text shows its fields"},
		{"number", "hi", "write it as: snens call number text=VALUE; snens tools number shows its fields"},
		{"choice", "hi", "write it as: snens call choice text=up; snens tools choice shows its fields"},
		{"choice", "down", "write it as: snens call choice text=down; snens tools choice shows its fields"},
		{"list", "hi", "write it as: snens call list text=hi; snens tools list shows its fields"},
		{"secret", "hi", "write it as: snens call secret text=VALUE; snens tools secret shows its fields"},
		{"text", "text:=1 hi", "write it as: snens call text upper=true; snens tools text shows its fields"},
		{"list", "text=1 hi", "snens tools list shows its fields"},
		{"text", "txt=hi", "snens tools text shows its fields"},
		{"nothing", "hi", "it takes no fields: snens call nothing"},
	} {
		if status, _, stderr := b.run("", append([]string{"call", c.name}, strings.Fields(c.words)...)...); status != 125 || !strings.HasSuffix(stderr, "\nhint: "+c.hint+"\n") {
			t.Errorf("%s %s: got %d, %q, want %q", c.name, c.words, status, stderr, c.hint)
		}
	}
	_, stdout, _ := b.run("", "tools", "nothing")
	if !strings.HasSuffix(stdout, "  snens call nothing\n\nit takes no fields\n") {
		t.Errorf("tools nothing: %q", stdout)
	}
}
