// Command testrun runs go test and says plainly how it went.
//
// It passes its arguments on to go test -json and prints, as they come, the
// runner's own closing line of each package and the whole output of what
// failed; at the end every skipped test with its reason, and the counts. Its
// exit status is go test's. It is started by make test and is part of no
// program that is installed.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = stderr
	events, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintf(stderr, "testrun: cannot start go test: %v\n", err)
		return 1
	}
	sum, readErr := read(events, stdout)
	waitErr := cmd.Wait()
	sum.print(stdout)
	if readErr != nil {
		fmt.Fprintf(stderr, "testrun: cannot read the output of go test: %v\n", readErr)
		return 1
	}
	if waitErr != nil {
		if code := cmd.ProcessState.ExitCode(); code > 0 {
			return code
		}
		return 1
	}
	if sum.passed == 0 {
		fmt.Fprintln(stderr, "testrun: cannot call this a success: no test ran")
		return 1
	}
	return 0
}
