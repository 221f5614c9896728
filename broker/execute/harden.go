package execute

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const dumpableFile = "/proc/sys/fs/suid_dumpable"

// Harden makes this process fit to run actions, or says why it is not. Call it
// before serving and after the handlers of signals are set: what a process
// ignores its children ignore too.
//
// As root it refuses fs.suid_dumpable = 1, with which a start as another user
// leaves this process open to be traced and dumped by that user.
func Harden() error {
	if os.Geteuid() == 0 {
		b, err := os.ReadFile(dumpableFile)
		if err != nil {
			return fmt.Errorf("cannot learn whether other users may look into this process: %w", err)
		}
		if err := checkDumpable(strings.TrimSpace(string(b))); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot keep other processes from looking into this one: %w", err)
	}
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return fmt.Errorf("cannot learn which signals are ignored: %w", err)
	}
	return checkSignals(string(b))
}

// checkDumpable reads fs.suid_dumpable.
func checkDumpable(value string) error {
	if value != "0" && value != "2" {
		return fmt.Errorf("cannot serve while fs.suid_dumpable is %s: other users could look into this process when it starts actions for them; set it to 0 or 2 (sysctl -w fs.suid_dumpable=0)", value)
	}
	return nil
}

// checkSignals reads /proc/self/status.
func checkSignals(status string) error {
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		if name != "SigIgn" && name != "SigBlk" {
			continue
		}
		mask, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
		if err != nil {
			return fmt.Errorf("cannot learn which signals are ignored: %s is %q", name, value)
		}
		for _, sig := range []syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM} {
			if mask&(1<<(uint(sig)-1)) != 0 {
				return fmt.Errorf("cannot serve while %s is ignored or blocked: every action would inherit that; handle it, or start the broker without nohup and not in the background of a script", unix.SignalName(sig))
			}
		}
	}
	return nil
}
