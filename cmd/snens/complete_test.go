package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"snens/internal/testneed"
)

// completions asks as a shell would, and cuts off descriptions.
func (b *bench) completions(words ...string) string {
	b.t.Helper()
	_, stdout, _ := b.run("", append([]string{"__complete"}, words...)...)
	var names []string
	for line := range strings.Lines(stdout) {
		if strings.HasPrefix(line, ":") {
			break
		}
		name, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func TestCompletion(t *testing.T) {
	b := newBench(t)
	typedTool(b)
	b.tool("plain", "cat\n")
	// The bench's --tools-dir is given before __complete; shells give it behind.
	dir := []string{"--tools-dir", b.dir}
	ask := func(words ...string) string { return b.completions(append(dir, words...)...) }
	if got := ask("call", ""); got != "" {
		t.Errorf("before anything is cached: %q", got)
	}
	if status, _, stderr := b.run("", "tools"); status != 0 {
		t.Fatalf("cannot fill the cache: %s", stderr)
	}
	for _, c := range []struct{ words, want string }{
		{"call sh", "show"},
		{"call +", "plain show"},
		{"tools p", "plain"},
		{"check +", "plain show"},
		{"test +", "plain show"},
		{"call show +", "word= n= loud= tags= text="},
		{"call show word=in tags=a +", "n= loud= tags= text="},
		{"call show word=", "word=in word=out word=fail"},
		{"call show word=i", "word=in"},
		{"call show t", "tags= text="},
		{"call show loud=", "loud=true loud=false"},
		{"call show n=", ""},
		{"call plain +", ""},
		{"completion +", "bash zsh fish"},
		{"tools --format +", "openai mcp"},
		{"do", "doctor"},
	} {
		words := strings.Fields(c.words)
		if last := len(words) - 1; words[last] == "+" {
			words[last] = ""
		}
		if got := ask(words...); got != c.want {
			t.Errorf("%q: got %q, want %q", c.words, got, c.want)
		}
	}
}

func TestCompletionScriptsParse(t *testing.T) {
	for shell, option := range map[string]string{"bash": "-n", "zsh": "-n", "fish": "--no-execute"} {
		t.Run(shell, func(t *testing.T) {
			program := testneed.Program(t, shell)
			status, script, stderr := newRunner(t).run("completion", shell)
			if status != 0 || stderr != "" || !strings.Contains(script, "__complete") {
				t.Fatalf("got %d, %q", status, stderr)
			}
			path := filepath.Join(t.TempDir(), "script")
			if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(program, option, path).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s says %v:\n%s", shell, err, out)
			}
		})
	}
}

// A name or a value that would act on the terminal is not offered.
func TestCompletionOffersNoControls(t *testing.T) {
	b := newBench(t)
	b.tool("odd", "cat\n")
	b.file("odd/schema.json", `{"type": "object", "properties": {
		"fine": {"type": "string", "enum": ["one", "t\u001bwo", "th\u009bree", "fo\nur"]},
		"b\u001bad": {"type": "string"}, "c\u009bsi": {"type": "string"}, "li\nne": {"type": "string"}
	}, "x-snens": {"argv": [{"field": "fine"}], "stdin": {"mode": "json", "fields": ["b\u001bad", "c\u009bsi", "li\nne"]}}}`, 0o644)
	if status, _, stderr := b.run("", "tools"); status != 0 || stderr != "" {
		t.Fatalf("cannot fill the cache: %s", stderr)
	}
	for typed, want := range map[string]string{"": "fine=", "fine=": "fine=one"} {
		if got := b.completions("--tools-dir", b.dir, "call", "odd", typed); got != want {
			t.Errorf("%q: got %q, want %q", typed, got, want)
		}
	}
}
