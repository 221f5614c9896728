package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"snens/internal/escape"
	"snens/supervisor"
	"snens/supervisor/discovery"
	"snens/supervisor/tool"
	"snens/supervisor/xsnens"
)

type toolsOptions struct {
	all, names, refresh bool
	format              string
}

// formats are the spellings in which definitions can be printed.
var formats = []string{"openai", "mcp"}

func (a *app) toolsCommand() *cobra.Command {
	var o toolsOptions
	c := &cobra.Command{
		Use:   "tools [NAME]",
		Short: "list the tools, or show one",
		Long: `tools lists the tools that work, with what each says about itself. A tool that
does not work is set aside with one line on stderr; --all lists those too.

With --json it prints an array of {name, description, parameters}, as a model
is given them. --format prints the same in the spelling of another interface.
With NAME it shows that tool alone, with its fields.`,
		Example: `  snens tools
  snens tools wc-lines
  snens tools --json | jq -r '.[].name'`,
		ValidArgsFunction: a.completeName,
		RunE: func(_ *cobra.Command, args []string) error {
			name, err := oneName(args)
			if err != nil {
				return err
			}
			return a.tools(name, o)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&o.all, "all", false, "also list the tools that are set aside, each with the cause")
	flags.BoolVar(&o.names, "names", false, "print the names alone, one a line")
	flags.BoolVar(&o.refresh, "refresh", false, "ask every tool again, whatever is cached")
	flags.StringVar(&o.format, "format", "", "print the definitions as JSON for `openai` or mcp")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) tools(name string, o toolsOptions) error {
	if o.format != "" && !slices.Contains(formats, o.format) {
		return failf(statusUsage, "cannot print the format %q", o.format).withHint("one of: %s", strings.Join(formats, ", "))
	}
	if name != "" {
		return a.oneTool(name, o)
	}
	listing, sup, err := a.discover(o.refresh)
	if err != nil {
		return err
	}
	if !o.all {
		for _, q := range listing.Quarantined {
			fmt.Fprintf(a.notes, "snens: tool %s skipped: %s\n", escape.Line(q.Name), escape.Line(q.Cause))
		}
	}
	a.noteOddities(listing)
	for _, t := range listing.Tools {
		a.noteSchema(t)
	}
	switch {
	case o.names:
		for _, t := range listing.Tools {
			fmt.Fprintln(a.out, t.Name)
		}
		return nil
	case a.json || o.format != "":
		return a.printDefinitions(sup, listing, o)
	}
	a.printTools(listing, o.all)
	return nil
}

// discover finds the tools, with a progress line when that takes long. A
// signal ends it.
func (a *app) discover(refresh bool) (discovery.Listing, *supervisor.Supervisor, error) {
	line := a.newProgress()
	defer line.end()
	sup, err := a.supervisor(line.report)
	if err != nil {
		return discovery.Listing{}, nil, err
	}
	var listing discovery.Listing
	err = a.interruptible(func(ctx context.Context) (err error) {
		listing, err = sup.Tools(ctx, refresh)
		return err
	})
	if err != nil {
		return listing, nil, wrap(err, "cannot list the tools")
	}
	return listing, sup, nil
}

// noteOddities says on stderr which tools are hidden by others, and what is
// wrong with folders. That a folder is not there matters only when it was
// named on the command line.
func (a *app) noteOddities(listing discovery.Listing) {
	for _, n := range listing.Notes {
		if n.Kind != discovery.NoteMissing || len(a.toolsDirs) > 0 {
			fmt.Fprintf(a.notes, "snens: %s\n", escape.Line(n.Text))
		}
	}
	for _, s := range listing.Shadowed {
		fmt.Fprintf(a.notes, "snens: %s is hidden by %s\n", escape.Line(s.Path), escape.Line(s.By))
	}
}

// noteSchema says on stderr why a tool's schema.json does not count.
func (a *app) noteSchema(t tool.Tool) {
	if t.SchemaNote != "" {
		fmt.Fprintf(a.notes, "snens: %s: %s; it is called as a generic tool\n", t.Name, oneLine(t.SchemaNote))
	}
}

// oneLine is text of several lines on one, safe to show.
func oneLine(text string) string {
	return escape.Line(strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "))
}

// setAside is a quarantined tool in the output of tools --all --json.
type setAside struct {
	Name        string `json:"name"`
	Quarantined bool   `json:"quarantined"`
	Path        string `json:"path"`
	Cause       string `json:"cause"`
}

func (a *app) printDefinitions(sup *supervisor.Supervisor, listing discovery.Listing, o toolsOptions) error {
	all := []any{}
	for _, t := range listing.Tools {
		handle, err := sup.Handle(t)
		if err != nil {
			return wrap(err, fmt.Sprintf("cannot define the tool %s", t.Name))
		}
		all = append(all, definition(handle, o.format))
	}
	if o.all {
		for _, q := range listing.Quarantined {
			all = append(all, setAside{q.Name, true, q.Path, q.Cause})
		}
	}
	return a.printJSON(all)
}

// definition is a tool's definition in one of the formats.
func definition(handle *supervisor.Handle, format string) any {
	d := handle.Definition()
	switch format {
	case "openai":
		return struct {
			Type     string                `json:"type"`
			Function supervisor.Definition `json:"function"`
		}{"function", d}
	case "mcp":
		return struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"inputSchema"`
		}{d.Name, d.Description, d.Parameters}
	}
	return d
}

func (a *app) printTools(listing discovery.Listing, all bool) {
	var rows []row
	for _, t := range listing.Tools {
		rows = append(rows, row{[]string{string(t.Name), escape.Line(essence(t))}, a.style.strong})
	}
	if all {
		for _, q := range listing.Quarantined {
			rows = append(rows, row{[]string{escape.Line(q.Name), "set aside: " + escape.Line(q.Cause)}, a.style.bad})
		}
	}
	a.style.table(a.out, rows)
	if len(rows) == 0 {
		fmt.Fprintln(a.notes, "snens: there are no tools")
		fmt.Fprintln(a.notes, "hint: snens new tool NAME begins one; snens alone shows the folders")
	}
}

// essence is what a tool does, without its own name in front: that is in the
// column beside it.
func essence(t tool.Tool) string {
	for _, dash := range []string{" — ", " - ", ": "} {
		if rest, ok := strings.CutPrefix(t.Essence, string(t.Name)+dash); ok && rest != "" {
			return rest
		}
	}
	return t.Essence
}

// oneTool shows a single tool.
func (a *app) oneTool(name string, o toolsOptions) error {
	sup, err := a.supervisor(nil)
	if err != nil {
		return err
	}
	var handle *supervisor.Handle
	err = a.interruptible(func(ctx context.Context) (err error) {
		handle, err = sup.Tool(ctx, name)
		return err
	})
	var broken *supervisor.QuarantinedError
	switch {
	case errors.As(err, &broken) && o.all && a.json:
		return a.printJSON([]any{setAside{broken.Name, true, broken.Path, broken.Cause}})
	case err != nil:
		return a.explainMissing(name, err)
	}
	a.noteSchema(handle.Tool)
	switch {
	case o.names:
		fmt.Fprintln(a.out, handle.Name)
		return nil
	case a.json || o.format != "":
		return a.printJSON([]any{definition(handle, o.format)})
	}
	a.describe(handle)
	return nil
}

// describe prints a tool for a person.
func (a *app) describe(handle *supervisor.Handle) {
	fmt.Fprintf(a.out, "%s: %s\n", a.style.strong(string(handle.Name)), escape.Line(essence(handle.Tool)))
	if handle.Usage != "" {
		fmt.Fprintf(a.out, "  %s\n", escape.Line(handle.Usage))
	}
	rows := []row{
		{cells: []string{"program", escape.Line(handle.Path)}},
		{cells: []string{"described by", string(handle.Source)}},
	}
	if handle.Interface == nil {
		rows = append(rows, row{cells: []string{"call it with", fmt.Sprintf("snens call %s -- WORD ...", handle.Name)}})
	} else {
		rows = append(rows, row{cells: []string{"call it with", typedCall(handle)}})
	}
	a.style.table(a.out, rows)
	switch {
	case handle.Interface == nil:
		return
	case len(handle.Interface.Fields()) == 0 && handle.Interface.Open():
		fmt.Fprintln(a.out, "\nit takes any fields")
		return
	case len(handle.Interface.Fields()) == 0:
		fmt.Fprintln(a.out, "\nit takes no fields")
		return
	}
	fmt.Fprintln(a.out, "\nfields:")
	rows = nil
	for _, f := range handle.Interface.Fields() {
		must := "optional"
		if f.Required {
			must = "required"
		}
		rows = append(rows, row{cells: []string{"  " + escape.Line(f.Name), kind(f), must, escape.Line(f.Description)}, paint: a.style.strong})
	}
	a.style.table(a.out, rows)
}

// kind is a field's type, or its values, in few words.
func kind(f xsnens.Field) string {
	switch {
	case len(f.Values) > 0 && !slices.Contains(f.Types, "boolean"):
		return escape.Line(cut(strings.Join(f.Values, "|"), 40))
	case len(f.Types) == 0:
		return "any"
	}
	return escape.Line(strings.Join(f.Types, "|"))
}

// healthy finds one tool by name, or all of them.
func (a *app) healthy(name string, refresh bool) ([]tool.Tool, *supervisor.Supervisor, error) {
	if name == "" {
		listing, sup, err := a.discover(refresh)
		return listing.Tools, sup, err
	}
	sup, err := a.supervisor(nil)
	if err != nil {
		return nil, nil, err
	}
	var handle *supervisor.Handle
	err = a.interruptible(func(ctx context.Context) (err error) {
		handle, err = sup.Tool(ctx, name)
		return err
	})
	if err != nil {
		return nil, nil, a.explainMissing(name, err)
	}
	return []tool.Tool{handle.Tool}, sup, nil
}
