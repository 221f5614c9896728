package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"snens/internal/escape"
	"snens/supervisor/call"
)

// selfTest is the file beside a tool that tests it.
const selfTest = "selftest.sh"

func (a *app) testCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "test [NAME]",
		Short: "run the self-test of a tool, or of all that have one",
		Long: `test runs selftest.sh of each tool that has one, supervised like a call, and
shows the output of those that fail. It ends with 1 when one failed, or when
the named tool has none.`,
		ValidArgsFunction: a.completeName,
		RunE: func(_ *cobra.Command, args []string) error {
			name, err := oneName(args)
			if err != nil {
				return err
			}
			return a.selfTests(name)
		},
	}
}

func (a *app) selfTests(name string) error {
	tools, sup, err := a.healthy(name, false)
	if err != nil {
		return err
	}
	records, failed := []*call.Record{}, 0
	for _, t := range tools {
		if _, err := os.Stat(filepath.Join(t.Dir, selfTest)); err != nil {
			continue
		}
		handle, err := sup.Handle(t)
		if err != nil {
			return wrap(err, fmt.Sprintf("cannot test the tool %s", t.Name))
		}
		var record *call.Record
		err = a.interruptible(func(ctx context.Context) error {
			record = sup.SelfTest(ctx, handle)
			return nil
		})
		if err != nil {
			return err
		}
		records = append(records, record)
		if !record.OK {
			failed++
		}
		if !a.json {
			a.printSelfTest(string(t.Name), record)
			_ = a.out.flush() // each verdict as it comes
		}
	}
	if a.json {
		if err := a.printJSON(records); err != nil {
			return err
		}
	}
	switch {
	case failed > 0:
		return failf(statusFailed, "%d of %d self-tests failed", failed, len(records))
	case len(records) == 0 && name != "":
		return failf(statusFailed, "cannot test the tool %s: it has no %s", name, selfTest)
	case len(records) == 0:
		a.complain("no tool has a "+selfTest, "")
	}
	return nil
}

func (a *app) printSelfTest(name string, r *call.Record) {
	verdict, paint := "ok", a.style.good
	if !r.OK {
		verdict, paint = "failed", a.style.bad
	}
	a.style.table(a.out, []row{{[]string{fmt.Sprintf("%-6s", verdict), name, fmt.Sprintf("%d ms", r.DurationMS)}, paint}})
	if !r.OK {
		for line := range strings.Lines(r.Content) {
			fmt.Fprintf(a.out, "    %s\n", escape.Line(line))
		}
	}
}
