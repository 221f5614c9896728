package execute_test

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snens/broker/execute"
)

// hardenSelf is the other process of TestHarden.
func hardenSelf() {
	if len(os.Args) > 1 {
		signal.Ignore(unix.SIGHUP)
	}
	err := execute.Harden()
	n, _ := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	fmt.Println(n, err)
}

func TestHarden(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{hardened}, "0 <nil>\n"},
		{[]string{hardened, "ignore"}, "0 cannot serve while SIGHUP is ignored"},
	} {
		out, err := (&exec.Cmd{Path: exe, Args: c.args, Env: []string{"GORACE=atexit_sleep_ms=0"}}).Output()
		if err != nil || !strings.HasPrefix(string(out), c.want) {
			t.Errorf("%q, %v; want %q", out, err, c.want)
		}
	}
}

func TestHardenReads(t *testing.T) {
	for value, ok := range map[string]bool{"0": true, "2": true, "1": false, "": false, "3": false} {
		if err := execute.CheckDumpable(value); (err == nil) != ok {
			t.Errorf("%q: %v", value, err)
		}
	}
	for status, ok := range map[string]bool{
		"SigBlk:\t0000000000000000\nSigIgn:\t0000000000001000\n": true,  // PIPE
		"SigIgn:\t0000000000000001\n":                            false, // HUP
		"SigIgn:\t0000000000000002\n":                            false, // INT
		"SigBlk:\t0000000000004000\n":                            false, // TERM
		"SigIgn:\tx\n":                                           false,
	} {
		if err := execute.CheckSignals(status); (err == nil) != ok {
			t.Errorf("%q: %v", status, err)
		}
	}
}
