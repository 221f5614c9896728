package xsnens_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"snens/supervisor/xsnens"
)

// block is an example of docs/x-snens.md.
type block struct {
	Schema        json.RawMessage `json:"schema"`
	SchemaText    *string         `json:"schema_text"`
	Generic       *genericBlock   `json:"generic"`
	LoadError     []string        `json:"load_error"`
	NotTyped      string          `json:"not_typed"`
	Parameters    string          `json:"parameters"`
	Behaviour     string          `json:"behaviour"`
	ExampleErrors []string        `json:"example_errors"`
	Warnings      []string        `json:"warnings"`
	Cases         []docCase       `json:"cases"`
}

type genericBlock struct {
	StdinRequired bool `json:"stdin_required"`
}

type docCase struct {
	In      json.RawMessage   `json:"in"`
	InText  *string           `json:"in_text"`
	Argv    []string          `json:"argv"`
	Stdin   *string           `json:"stdin"`
	Env     map[string]string `json:"env"`
	Files   []string          `json:"files"`
	Secrets []string          `json:"secrets"`
	Error   []string          `json:"error"`

	Words   []string          `json:"words"`
	Content map[string]string `json:"content"`
	Args    string            `json:"args"`
}

// minBlocks guards against a change of the fences that would skip them all.
const minBlocks = 40

func TestEveryExampleOfTheSpecification(t *testing.T) {
	doc, err := os.ReadFile("../../docs/x-snens.md")
	if err != nil {
		t.Fatal(err)
	}
	heading, found := "", 0
	lines := strings.Split(string(doc), "\n")
	for n := 0; n < len(lines); n++ {
		if strings.HasPrefix(lines[n], "#") {
			heading = strings.TrimLeft(lines[n], "# ")
		}
		if !strings.HasPrefix(lines[n], "```") {
			continue
		}
		if lines[n] != "```json example" {
			t.Fatalf("line %d: a fenced block that no test runs: %s", n+1, lines[n])
		}
		start := n + 1
		for n = start; n < len(lines) && lines[n] != "```"; {
			n++
		}
		found++
		text := strings.Join(lines[start:n], "\n")
		t.Run(fmt.Sprintf("line %d %s", start+1, heading), func(t *testing.T) { runBlock(t, text) })
	}
	if found < minBlocks {
		t.Errorf("only %d examples were found", found)
	}
}

func runBlock(t *testing.T, text string) {
	var b block
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		t.Fatal(err)
	}
	if b.Generic != nil {
		for _, c := range b.Cases {
			inv, err := xsnens.Generic(c.input(), b.Generic.StdinRequired)
			c.compare(t, inv, err)
		}
		return
	}
	data := []byte(b.Schema)
	if b.SchemaText != nil {
		data = []byte(*b.SchemaText)
	}
	i, err := xsnens.Load(data)
	if b.refused(t, err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	b.compare(t, i)
	for _, c := range b.Cases {
		if c.Words != nil {
			c.runWords(t, i)
			continue
		}
		inv, err := i.Build(c.input())
		c.compare(t, inv, err)
	}
}

// refused compares the error of Load with the one the block promises.
func (b *block) refused(t *testing.T, err error) bool {
	switch {
	case b.NotTyped != "":
		var e *xsnens.NotTypedError
		if !errors.As(err, &e) || e.Reason != b.NotTyped {
			t.Errorf("got %v, want %s", err, b.NotTyped)
		}
		return true
	case b.LoadError != nil:
		var e *xsnens.LoadError
		if !errors.As(err, &e) {
			t.Fatalf("got %v, want a *LoadError", err)
		}
		got := strings.Split(err.Error(), "\n")
		want := slices.Clone(b.LoadError)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("faults\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
		return true
	}
	return false
}

// compare checks what the block says of the interface itself.
func (b *block) compare(t *testing.T, i *xsnens.Interface) {
	if b.Parameters != "" && string(i.Parameters()) != b.Parameters {
		t.Errorf("parameters\n got %s\nwant %s", i.Parameters(), b.Parameters)
	}
	if got := behaviour(t, i); b.Behaviour != "" && got != b.Behaviour {
		t.Errorf("behaviour\n got %s\nwant %s", got, b.Behaviour)
	}
	if b.Warnings != nil && !slices.Equal(i.Warnings(), b.Warnings) {
		t.Errorf("warnings\n got %q\nwant %q", i.Warnings(), b.Warnings)
	}
	var exampleErrors []string
	for _, err := range i.CheckExamples() {
		exampleErrors = append(exampleErrors, err.Error())
	}
	if !slices.Equal(exampleErrors, b.ExampleErrors) {
		t.Errorf("examples\n got %q\nwant %q", exampleErrors, b.ExampleErrors)
	}
	if len(b.Cases) == 0 && b.Parameters == "" && b.ExampleErrors == nil && b.Warnings == nil {
		t.Error("the block shows nothing")
	}
}

func (c *docCase) input() []byte {
	if c.InText != nil {
		return []byte(*c.InText)
	}
	return c.In
}

func (c *docCase) compare(t *testing.T, inv *xsnens.Invocation, err error) {
	t.Helper()
	if c.Error != nil || err != nil {
		var e *xsnens.ArgsError
		if !errors.As(err, &e) || err.Error() != strings.Join(c.Error, "\n") {
			t.Errorf("%s\n got %v\nwant %s", c.input(), err, strings.Join(c.Error, "\n     "))
		}
		return
	}
	argv, files := flat(inv)
	if c.Argv == nil || !slices.Equal(argv, c.Argv) {
		t.Errorf("%s: argv\n got %q\nwant %q", c.input(), argv, c.Argv)
	}
	if !slices.Equal(files, c.Files) {
		t.Errorf("%s: files\n got %q\nwant %q", c.input(), files, c.Files)
	}
	if inv.HasStdin != (c.Stdin != nil) || c.Stdin != nil && string(inv.Stdin) != *c.Stdin {
		t.Errorf("%s: stdin %t %q", c.input(), inv.HasStdin, inv.Stdin)
	}
	env := map[string]string{}
	for _, v := range inv.Env {
		env[v.Name] = v.Value
	}
	if fmt.Sprint(env) != fmt.Sprint(c.Env) {
		t.Errorf("%s: env\n got %q\nwant %q", c.input(), env, c.Env)
	}
	var secrets []string
	for _, s := range inv.Secrets {
		secrets = append(secrets, string(s))
	}
	if c.Secrets != nil && !slices.Equal(secrets, c.Secrets) {
		t.Errorf("%s: secrets\n got %q\nwant %q", c.input(), secrets, c.Secrets)
	}
}

// flat is an invocation as examples write it.
func flat(inv *xsnens.Invocation) (argv, files []string) {
	for _, a := range inv.Args {
		if a.File != nil {
			files = append(files, string(a.File.Content))
			a.Text += xsnens.FilePlaceholder
		}
		argv = append(argv, a.Text)
	}
	return argv, files
}

func (c *docCase) runWords(t *testing.T, i *xsnens.Interface) {
	t.Helper()
	got, err := i.FromWords(c.Words, func(path string) ([]byte, error) {
		if text, ok := c.Content[path]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("no such file")
	})
	if c.Error != nil || err != nil {
		if err == nil || err.Error() != strings.Join(c.Error, "\n") {
			t.Errorf("%q\n got %v\nwant %s", c.Words, err, strings.Join(c.Error, "\n     "))
		}
		return
	}
	if string(got) != c.Args {
		t.Errorf("%q\n got %s\nwant %s", c.Words, got, c.Args)
	}
}

func behaviour(t *testing.T, i *xsnens.Interface) string {
	hints, err := json.Marshal(i.Hints())
	if err != nil {
		t.Fatal(err)
	}
	l := i.Limits()
	return fmt.Sprintf("version %d, output %s, exit 0 %s 1 %s 2 %s 75 %s, timeout %s grace %s output %d memory %d pids %d, hints %s",
		i.Version(), i.Output(), i.Exit(0), i.Exit(1), i.Exit(2), i.Exit(75),
		l.Timeout, l.Grace, l.Output, l.Memory, l.PIDs, hints)
}
