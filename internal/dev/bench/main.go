// Command bench measures the budgets of this project and prints one table.
//
// Every line compares two things that are measured in turns in one run, A B A
// B, so that whatever else the machine does falls on both; what counts are the
// medians. The numbers of two runs, or of two machines, are not compared: a
// quotient is. No test depends on any of this, and the exit status says only
// whether measuring was possible. It is started by make bench, needs the built
// programs (-bin) and is part of no program that is installed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// options are what the command line says.
type options struct {
	bin  string
	only string // rows whose name holds this
	div  int    // divides the number of turns
}

// bench is one run: the folder it works in and what the rows share.
type bench struct {
	options
	dir string // removed at the end
}

// rows are measured in this order.
var rows = []struct {
	name    string
	measure func(*bench) (row, error)
}{
	{"call, captured", (*bench).engineCapture},
	{"call, passed through", (*bench).enginePass},
	{"call by the supervisor", (*bench).supervisorCall},
	{"snens call", (*bench).wholeCall},
	{"start, 1000 cached tools", (*bench).startCached},
	{"call, 1000 cached tools", (*bench).callCached},
	{"discovery of 1000 tools", (*bench).discovery},
	{"flood of 4 GiB", (*bench).flood},
	{"snens priv, sudo", (*bench).privSudo},
	{"snens priv, doas", (*bench).privDoas},
	{"approval to exec", (*bench).approval},
	{"broker's memory", (*bench).memory},
	{"audit record on disk", (*bench).auditSync},
}

func main() {
	var o options
	flag.StringVar(&o.bin, "bin", "bin", "the folder of the built programs")
	flag.StringVar(&o.only, "only", "", "measure only the lines whose name holds this text")
	quick := flag.Bool("quick", false, "take a tenth of the turns: to see that it works, not to quote")
	flag.Parse()
	o.div = 1
	if *quick {
		o.div = 10
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(o options) (err error) {
	if o.bin, err = filepath.Abs(o.bin); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(o.bin, "snens")); err != nil {
		return fmt.Errorf("cannot find the program to measure: %w; build it first (make build)", err)
	}
	b := &bench{options: o}
	if b.dir, err = os.MkdirTemp("", "snens-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	fmt.Println("Medians of turns A B A B; the aim is for A against B.")
	printHead(os.Stdout)
	for _, r := range rows {
		if !strings.Contains(r.name, o.only) {
			continue
		}
		got, err := r.measure(b)
		var missing *missingError
		switch {
		case errors.As(err, &missing):
			fmt.Printf("| %s | not measured: %v |\n", r.name, err)
			continue
		case err != nil:
			return fmt.Errorf("cannot measure %q: %w", r.name, err)
		}
		got.name = r.name
		got.print(os.Stdout)
	}
	fmt.Println("\nCalls in a sandbox are not measured: the sandbox of tools is not part of this version.")
	return nil
}

// missingError says what a line needs and this machine lacks.
type missingError struct{ what string }

func (e *missingError) Error() string { return e.what + " is not there" }
