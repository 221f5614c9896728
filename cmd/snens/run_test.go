package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runner runs the whole program in this process, with files as its streams.
type runner struct {
	t                     *testing.T
	stdin, stdout, stderr *os.File
	env                   []string
}

func newRunner(t *testing.T) *runner {
	t.Helper()
	home := t.TempDir()
	r := &runner{t: t, env: []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8",
		"XDG_CONFIG_HOME=" + filepath.Join(home, "config"), "XDG_CACHE_HOME=" + filepath.Join(home, "cache"),
		"XDG_STATE_HOME=" + filepath.Join(home, "state"),
	}}
	for _, f := range []struct {
		at   **os.File
		name string
	}{{&r.stdin, "stdin"}, {&r.stdout, "stdout"}, {&r.stderr, "stderr"}} {
		file, err := os.Create(filepath.Join(t.TempDir(), f.name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		*f.at = file
	}
	return r
}

// run returns the exit status and what was written since the last run.
func (r *runner) run(args ...string) (status int, stdout, stderr string) {
	r.t.Helper()
	status = run(args, r.stdin, r.stdout, r.stderr, r.env)
	return status, r.drain(r.stdout), r.drain(r.stderr)
}

func (r *runner) drain(f *os.File) string {
	r.t.Helper()
	text, err := os.ReadFile(f.Name())
	if err != nil {
		r.t.Fatal(err)
	}
	if err := f.Truncate(0); err != nil {
		r.t.Fatal(err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

func TestFaultsInTheCommandLine(t *testing.T) {
	for _, c := range []struct {
		args   string
		status int
		stderr string
	}{
		{"tols", 2, "snens: cannot run the command \"tols\": there is none of that name\nhint: did you mean: snens tools\n"},
		{"wc-lines", 2, "snens: cannot run the command \"wc-lines\": there is none of that name\nhint: the commands are: tools, call, priv, approve, check, test, new, doctor, completion, version; a tool is called by: snens call wc-lines\n"},
		{"tools --refrsh", 2, "snens: cannot use the option --refrsh: snens tools has no such option\nhint: did you mean: --refresh\n"},
		{"tools --format xml", 2, "snens: cannot print the format \"xml\"\nhint: one of: openai, mcp\n"},
		{"tools a b", 2, "snens: cannot take 2 names: at most one is allowed\n"},
		{"--json tools --config", 2, "snens: cannot read the options: flag needs an argument: --config\nhint: see: snens tools --help\n"},
		{"version 1", 2, "snens: cannot take arguments: snens version needs none\n"},
		{"completion", 2, "snens: cannot print a completion script: name one shell\nhint: one of: bash, zsh, fish\n"},
		{"completion tcsh", 2, "snens: cannot print a completion script for \"tcsh\"\nhint: one of: bash, zsh, fish\n"},
		{"new", 2, "snens: cannot begin that: say what\nhint: snens new tool NAME\n"},
		{"new tool", 2, "snens: cannot begin a tool: give it one name\nhint: snens new tool NAME\n"},
		{"new tool a/b", 2, "snens: cannot begin a tool: tool name \"a/b\" has a character outside A-Z a-z 0-9 _ -\n"},
		{"new tool run", 2, "snens: cannot begin a tool: tool name \"run\" is reserved\n"},

		{"call", 125, "snens: cannot call a tool: no name is given\nhint: snens tools lists them; then: snens call NAME ...\n"},
		{"call uname -a", 125, "snens: cannot use the option -a: snens call has no such option\nhint: what is meant for the tool goes behind --: snens call uname -- -a\n"},
		{"call --all", 125, "snens: cannot use the option --all: snens call has no such option\nhint: what is meant for the tool goes behind --: snens call NAME -- --all\n"},
		{"call x --timeout -1s", 125, "snens: cannot read the options: invalid argument \"-1s\" for \"--timeout\" flag: it must be above zero\nhint: see: snens call --help\n"},
		{"call x --status-fd 987", 125, "snens: cannot write to descriptor 987 of --status-fd: it is not open\n"},
	} {
		t.Run(c.args, func(t *testing.T) {
			status, stdout, stderr := newRunner(t).run(strings.Fields(c.args)...)
			if status != c.status || stdout != "" || stderr != c.stderr {
				t.Errorf("got %d, stdout %q, stderr:\n%s\nwant %d, stderr:\n%s", status, stdout, stderr, c.status, c.stderr)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	r := newRunner(t)
	for _, args := range [][]string{{"version"}, {"-V"}, {"--version"}, {"--no-color", "version"}} {
		status, stdout, stderr := r.run(args...)
		if status != 0 || stdout != "snens "+version+"\n" || stderr != "" {
			t.Errorf("%q: got %d, %q, %q", args, status, stdout, stderr)
		}
	}
}

func TestSubcommandIsFoundBehindGlobalOptions(t *testing.T) {
	for _, c := range []struct{ args, name, rest string }{
		{"call grep x", "call", "grep x"},
		{"--json --tools-dir call tools a", "tools", "a"},
		{"--tools-dir=call -v check", "check", ""},
		{"--config f --session s call", "call", ""},
		{"-- call", "", ""},
		{"", "", ""},
	} {
		name, rest := subcommand(strings.Fields(c.args))
		if name != c.name || strings.Join(rest, " ") != c.rest {
			t.Errorf("%q: got %q, %q", c.args, name, rest)
		}
	}
}

// A call pays for its own options alone, but behaves as if all were there.
func TestOneCommandAloneIsTheSameCommand(t *testing.T) {
	for _, c := range commands {
		whole, _, err := (&app{}).root("").Find([]string{c.name})
		if err != nil {
			t.Fatal(err)
		}
		alone, _, err := (&app{}).root(c.name).Find([]string{c.name})
		if err != nil {
			t.Fatal(err)
		}
		if whole.Name() != c.name || alone.UsageString() != whole.UsageString() {
			t.Errorf("%s built alone is not the same:\n%s\n%s", c.name, alone.UsageString(), whole.UsageString())
		}
	}
}

func TestAFullDiskIsNoSuccess(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for args, want := range map[string]int{"version": 1, "completion bash": 1, "--json version": 1, "": 1, "--help": 1, "call --json none": 127} {
		r := newRunner(t)
		r.stdout = full
		status := run(strings.Fields(args), r.stdin, full, r.stderr, r.env)
		stderr := r.drain(r.stderr)
		if status != want || want == 1 && stderr != "snens: cannot write the output: write /dev/full: no space left on device\n" {
			t.Errorf("%q: got %d, %q", args, status, stderr)
		}
	}
}
