package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"snens/internal/escape"
	"snens/supervisor"
	"snens/supervisor/discovery"
	"snens/supervisor/tool"
)

// verdict is what check says about one tool.
type verdict struct {
	Name     string   `json:"name"`
	OK       bool     `json:"ok"`
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
	Examples int      `json:"examples"` // how many were tried
}

func (a *app) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check [NAME]",
		Short: "check that tools are in order",
		Long: `check asks every tool anew what it does, reads its schema.json, and tries the
examples in it: each must give the argument vector and the stdin it says. No
tool is called. It ends with 1 when a tool is broken or an example is wrong;
warnings alone are no fault.`,
		ValidArgsFunction: a.completeName,
		RunE: func(_ *cobra.Command, args []string) error {
			name, err := oneName(args)
			if err != nil {
				return err
			}
			return a.check(name)
		},
	}
}

func (a *app) check(name string) error {
	verdicts, dark, err := a.verdicts(name)
	if err != nil {
		return err
	}
	bad := 0
	for _, v := range verdicts {
		if !v.OK {
			bad++
		}
	}
	if a.json {
		if err := a.printJSON(verdicts); err != nil {
			return err
		}
	} else {
		a.printVerdicts(verdicts)
	}
	if bad > 0 {
		return failf(statusFailed, "cannot vouch for %d of %d tools", bad, len(verdicts))
	}
	if dark > 0 {
		return failf(statusFailed, "cannot vouch for what is in %d tools folders, which cannot be read", dark)
	}
	return nil
}

// verdicts judges one tool, or all of them. That there is no tool of the name
// is an error; that it is broken is a verdict. dark is how many tools folders
// cannot be looked into.
func (a *app) verdicts(name string) (all []verdict, dark int, err error) {
	if name == "" {
		listing, sup, err := a.discover(true)
		if err != nil {
			return nil, 0, err
		}
		verdicts := []verdict{}
		for _, t := range listing.Tools {
			handle, err := sup.Handle(t)
			if err != nil {
				verdicts = append(verdicts, broken(string(t.Name), err.Error()))
				continue
			}
			verdicts = append(verdicts, judge(handle))
		}
		for _, q := range listing.Quarantined {
			verdicts = append(verdicts, broken(q.Name, q.Cause))
		}
		a.noteOddities(listing)
		for _, n := range listing.Notes {
			if n.Kind == discovery.NoteUnreadable {
				dark++
			}
		}
		return verdicts, dark, nil
	}
	sup, err := a.supervisor(nil)
	if err != nil {
		return nil, 0, err
	}
	var handle *supervisor.Handle
	err = a.interruptible(func(ctx context.Context) (err error) {
		handle, err = sup.Fresh(ctx, name)
		return err
	})
	var quarantined *supervisor.QuarantinedError
	switch {
	case errors.As(err, &quarantined):
		return []verdict{broken(name, quarantined.Cause)}, 0, nil
	case err != nil:
		return nil, 0, a.explainMissing(name, err)
	}
	return []verdict{judge(handle)}, 0, nil
}

func broken(name, cause string) verdict {
	return verdict{Name: name, Errors: []string{cause}, Warnings: []string{}}
}

// judge looks at a healthy tool's description and its schema.json.
func judge(handle *supervisor.Handle) verdict {
	v := verdict{Name: string(handle.Name), Errors: []string{}, Warnings: []string{}}
	if handle.Source == tool.SourceHelp && isScript(handle.Path) {
		v.Warnings = append(v.Warnings, fmt.Sprintf("described by running --help; below the first line, two comment lines `# %[1]s — what it does` and `# %[1]s and how it is used` would do without", handle.Name))
	}
	if handle.SchemaNote != "" {
		v.Errors = append(v.Errors, handle.SchemaNote)
	}
	if handle.Interface != nil {
		v.Warnings = append(v.Warnings, handle.Interface.Warnings()...)
		v.Examples = len(handle.Interface.Examples())
		for _, err := range handle.Interface.CheckExamples() {
			v.Errors = append(v.Errors, err.Error())
		}
	}
	v.OK = len(v.Errors) == 0
	return v
}

// isScript says whether path itself, not what it links to, begins with #!.
func isScript(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 2)
	n, err := f.Read(head)
	return err == nil && string(head[:n]) == "#!"
}

func (a *app) printVerdicts(verdicts []verdict) {
	for _, v := range verdicts {
		word, paint := "ok", a.style.good
		if !v.OK {
			word, paint = "broken", a.style.bad
		}
		note := ""
		switch v.Examples {
		case 0:
		case 1:
			note = "1 example"
		default:
			note = fmt.Sprintf("%d examples", v.Examples)
		}
		a.style.table(a.out, []row{{[]string{fmt.Sprintf("%-6s", word), escape.Line(v.Name), note}, paint}})
		for _, e := range v.Errors {
			fmt.Fprintf(a.out, "        error: %s\n", oneLine(e))
		}
		for _, w := range v.Warnings {
			fmt.Fprintf(a.out, "        warning: %s\n", oneLine(w))
		}
	}
}
