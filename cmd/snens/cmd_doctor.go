package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"snens/internal/escape"
	"snens/supervisor"
)

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "say what this machine can and cannot do",
		Long: `doctor tries what supervision relies on: cgroups, process descriptors, the
restriction of probes, the folders for state and cache. It ends with 1 when
something that the configuration requires is missing.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.doctor() },
	}
}

// finding is one line of the doctor's, as JSON.
type finding struct {
	Name     string `json:"name"`
	OK       bool   `json:"ok"`
	Required bool   `json:"required"`
	Text     string `json:"text"`
}

func (a *app) doctor() error {
	sup, err := a.supervisor(nil)
	if err != nil {
		return err
	}
	var found []supervisor.Finding
	err = a.interruptible(func(ctx context.Context) error {
		found = sup.Doctor(ctx)
		return nil
	})
	if err != nil {
		return err
	}
	all, rows, missing := []finding{}, []row{}, 0
	for _, f := range found {
		all = append(all, finding(f))
		verdict, paint := "ok", a.style.good
		switch {
		case f.OK:
		case f.Required:
			verdict, paint = "missing", a.style.bad
			missing++
		default:
			verdict, paint = "without", a.style.faint
		}
		rows = append(rows, row{[]string{verdict, f.Name, escape.Line(f.Text)}, paint})
	}
	if a.json {
		if err := a.printJSON(all); err != nil {
			return err
		}
	} else {
		a.style.table(a.out, rows)
	}
	if missing > 0 {
		return fail(statusFailed, fmt.Errorf("cannot do what the configuration requires: %d missing", missing))
	}
	return nil
}
