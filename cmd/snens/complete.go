package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"snens/internal/escape"
	"snens/supervisor"
	"snens/supervisor/xsnens"
)

// Completion reads what is cached and starts nothing: a Tab key must neither
// run a stranger's program nor wait for one.

// completeName completes the name of a tool, once.
func (a *app) completeName(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.toolNames(typed), cobra.ShellCompDirectiveNoFileComp
}

// completeCall completes a tool's name, then the fields of a typed tool. The
// words of any other tool are the shell's to complete (file names).
func (a *app) completeCall(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return a.toolNames(typed), cobra.ShellCompDirectiveNoFileComp
	}
	handle := a.knownTool(args[0])
	if handle == nil || handle.Interface == nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	fields := handle.Interface.Fields()
	if name, _, ok := strings.Cut(typed, "="); ok {
		return completeValue(fields, name, typed)
	}
	var out []cobra.Completion
	for _, f := range fields {
		given := slices.ContainsFunc(args[1:], func(word string) bool {
			name, _, _ := strings.Cut(word, "=")
			return strings.TrimRight(name, ":@") == f.Name
		})
		if !strings.HasPrefix(f.Name, typed) || !showable(f.Name) || given && !slices.Contains(f.Types, "array") {
			continue
		}
		out = append(out, cobra.CompletionWithDesc(f.Name+"=", escape.Line(f.Description)))
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// showable says whether a word of a tool's can be offered as it is. A spelled
// out one would be another word.
func showable(word string) bool { return escape.Line(word) == word }

// completeValue completes the value of a field whose values are known.
func completeValue(fields []xsnens.Field, name, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	at := slices.IndexFunc(fields, func(f xsnens.Field) bool { return f.Name == name })
	if at < 0 || len(fields[at].Values) == 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var out []cobra.Completion
	for _, v := range fields[at].Values {
		if word := name + "=" + v; strings.HasPrefix(word, typed) && showable(v) {
			out = append(out, word)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) toolNames(typed string) []cobra.Completion {
	sup, err := a.supervisor(nil)
	if err != nil {
		return nil
	}
	var names []cobra.Completion
	for _, t := range sup.Cached() {
		if strings.HasPrefix(string(t.Name), typed) {
			names = append(names, cobra.CompletionWithDesc(string(t.Name), escape.Line(essence(t))))
		}
	}
	return names
}

func (a *app) knownTool(name string) *supervisor.Handle {
	sup, err := a.supervisor(nil)
	if err != nil {
		return nil
	}
	for _, t := range sup.Cached() {
		if string(t.Name) == name {
			if handle, err := sup.Handle(t); err == nil {
				return handle
			}
		}
	}
	return nil
}
