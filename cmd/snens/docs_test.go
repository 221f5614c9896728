package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"snens/broker/action"
	"snens/internal/manual"
	"snens/supervisor/call"
)

// The exit statuses, as the manual pages and the reference tell them.
var (
	plainStatus = manual.Section{Title: "EXIT STATUS", Items: []manual.Item{
		{Term: "0", Text: "it went well"},
		{Term: fmt.Sprint(statusFailed), Text: "it did not; stderr says why"},
		{Term: fmt.Sprint(statusUsage), Text: "the command line was not understood"},
		{Term: "128+N", Text: "ended by signal N"},
	}}
	callStatus = manual.Section{Title: "EXIT STATUS", Text: "That of the tool, except:", Items: []manual.Item{
		{Term: fmt.Sprint(call.ExitTimeout), Text: "the tool was ended because its time was up"},
		{Term: fmt.Sprint(call.ExitOurs), Text: "a fault on the side of snens, bad arguments included; nothing was started"},
		{Term: fmt.Sprint(call.ExitNotRun), Text: "the tool is there, but cannot be run"},
		{Term: fmt.Sprint(call.ExitNotFound), Text: "there is no such tool"},
		{Term: fmt.Sprintf("%d+N", call.ExitSignal), Text: "the tool died by signal N, or signal N made snens end it"},
	}}
	statusFD = manual.Section{
		Title: "STATUS LINE",
		Text: `A tool may itself end with 124 to 127. --status-fd N writes one line of JSON to
descriptor N that tells the two apart:

  {"tool":"grep","call_id":"...","status":124,"ours":true,"class":"timeout","exit_code":null,"signal":"SIGTERM"}

"status" is the exit status of snens, "ours" says that snens made it and not
the command, "class" is the class of the result record, and "exit_code" and
"signal" are the command's own end.`,
	}
	privStatus = manual.Section{Title: "EXIT STATUS", Text: "That of the command, except:", Items: []manual.Item{
		{Term: fmt.Sprint(action.ExitBadRequest), Text: "the command line or the request is malformed, or lacks a reason"},
		{Term: fmt.Sprint(action.ExitUnreachable), Text: "no broker answers, or who listens is not root (--user: not oneself)"},
		{Term: fmt.Sprint(action.ExitInternal), Text: "a fault of the broker, or nobody knows how the command ended"},
		{Term: fmt.Sprint(action.ExitTryLater), Text: "busy, a duplicate, stale or cancelled: nothing has run"},
		{Term: fmt.Sprint(action.ExitExpired), Text: "nobody answered in time"},
		{Term: fmt.Sprint(action.ExitDenied), Text: "denied, by the policy or by a person"},
		{Term: fmt.Sprint(action.ExitTimedOut), Text: "the command was ended because its time was up"},
		{Term: fmt.Sprint(action.ExitNotRunnable), Text: "the command is there, but could not be started"},
		{Term: fmt.Sprint(action.ExitMissing), Text: "there is no such command"},
		{Term: fmt.Sprintf("%d+N", action.ExitSignal), Text: "the command died by signal N, or was ended by a person or with its requester (137)"},
	}}
	privLine = manual.Section{
		Title: "STATUS LINE",
		Text: `A command may itself end with any of these. --status-fd N writes one line of JSON
to descriptor N that tells the two apart, also when nothing was run:

  {"id":"...","rule":"web","state":"denied","reason":"approver_denied","exit_code":null,"signal":null,
   "started":null,"ended":null,"ours":true,"exit":77,"message":"..."}

"exit" is the exit status of snens, "ours" says that the broker or snens made it
and not the command, "reason" is the word for why, and "exit_code" and "signal"
(its number) are the command's own end. What is not known is null. --json prints
the same object. Only a command line whose options cannot be read gives no line.`,
	}
	checkStatus = manual.Section{Title: "EXIT STATUS", Items: []manual.Item{
		{Term: "0", Text: "it would run at once"},
		{Term: fmt.Sprint(statusFailed), Text: "people would be asked"},
		{Term: fmt.Sprint(action.ExitDenied), Text: "it would be refused"},
	}}
	privEnvironment = manual.Section{Title: "ENVIRONMENT", Items: []manual.Item{
		{Term: "SNENS_PRIV", Text: "the request socket, when --socket does not name one; a tool of snens is told it"},
		{Term: "SNENS_SESSION", Text: "the session that the request is said to come from"},
	}}
	environment = manual.Section{Title: "ENVIRONMENT", Items: []manual.Item{
		{Term: "SNENS_CONFIG", Text: "the configuration, when --config does not name one"},
		{Term: "SNENS_TOOLS_DIR", Text: "the tools folders, parted by colons, when --tools-dir does not name them; only absolute ones count"},
		{Term: "SNENS_SESSION", Text: "the session, when --session does not name one"},
		{Term: "NO_COLOR", Text: "when set, nothing is coloured"},
	}}
	filesSection = manual.Section{Title: "FILES", Items: []manual.Item{
		{Term: "$XDG_CONFIG_HOME/snens/snens.toml, /etc/snens/snens.toml", Text: "the configuration; the first one found is read"},
		{Term: "$XDG_CACHE_HOME/snens", Text: "what tools have said about themselves"},
	}}
)

// sections is what a command's page holds beside the command's own text.
func sections(c *cobra.Command) []manual.Section {
	switch {
	case !c.HasParent():
		return []manual.Section{plainStatus, environment, filesSection}
	case c.Name() == "call":
		return []manual.Section{callStatus, statusFD}
	case c.CommandPath() == "snens priv":
		return []manual.Section{privStatus, privLine, privEnvironment}
	case c.CommandPath() == "snens priv check":
		return []manual.Section{checkStatus}
	case c.Parent().CommandPath() == "snens priv":
		return nil // those of snens priv
	}
	return []manual.Section{plainStatus}
}

func documented(t *testing.T) (*cobra.Command, []*cobra.Command) {
	t.Helper()
	root := (&app{}).root("")
	for _, c := range manual.Commands(root) {
		c.InitDefaultHelpFlag()
	}
	return root, manual.Commands(root)
}

func TestGeneratedManualPages(t *testing.T) {
	_, commands := documented(t)
	var pages []string
	for _, c := range commands {
		pages = append(pages, strings.ReplaceAll(c.CommandPath(), " ", "-"))
	}
	for i, c := range commands {
		also := slices.DeleteFunc(slices.Clone(pages), func(p string) bool { return p == pages[i] })
		if c.HasParent() {
			also = []string{"snens"}
		}
		generated(t, filepath.Join("docs", "man", pages[i]+".1"), manual.Man(c, sections(c), also))
	}
	have, err := filepath.Glob("../../docs/man/*.1")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range have {
		if name := strings.TrimSuffix(filepath.Base(path), ".1"); !slices.Contains(pages, name) {
			t.Errorf("%s is the page of no command; remove it", path)
		}
	}
}

func TestGeneratedReference(t *testing.T) {
	root, commands := documented(t)
	var b bytes.Buffer
	b.WriteString("# Commands of snens\n\nGenerated from the commands themselves; `make gen` writes it anew.\n\n")
	b.Write(manual.MarkdownSection(manual.GlobalOptions(root), 2))
	plain := plainStatus
	plain.Text = "Of all commands but snens call and snens priv, which have their own."
	b.Write(manual.MarkdownSection(plain, 2))
	for _, c := range commands {
		more := slices.DeleteFunc(sections(c), func(s manual.Section) bool { return reflect.DeepEqual(s, plainStatus) })
		b.Write(manual.Markdown(c, more))
	}
	generated(t, filepath.Join("docs", "cli.md"), append(bytes.TrimRight(b.Bytes(), "\n"), '\n'))
}

// generated holds a file equal to what the commands give now; make gen writes it.
func generated(t *testing.T, name string, want []byte) {
	t.Helper()
	path := filepath.Join("..", "..", name)
	if os.Getenv("SNENS_GENERATE") == "1" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("cannot read %s (make gen writes it): %v", name, err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the commands say now; run make gen and look at the difference", name)
	}
}
