package discovery

import (
	"errors"

	"golang.org/x/sys/unix"

	"snens/supervisor/tool"
)

// verdict is the reading of one probe.
type verdict struct {
	desc  tool.Description
	cause string // "" when desc counts
	// lasting: a failure that another try would most likely show again, so that
	// it may be remembered for a while.
	lasting bool
}

// judge reads what a probe brought. Help on stderr counts only when stdout is
// empty and the exit status 0.
func judge(r ProbeResult, name tool.Name) verdict {
	switch {
	case r.StartErr != nil && r.Here:
		return verdict{cause: causeHere(r.StartErr)}
	case r.StartErr != nil:
		return startVerdict(r.StartErr)
	case r.TimedOut:
		return verdict{cause: causeTimedOut, lasting: true}
	case r.Signal != "":
		return verdict{cause: causeSignal(r.Signal), lasting: true}
	}
	desc, ok := Describe(string(r.Stdout), name)
	switch {
	case ok:
	case r.ExitCode != 0:
		return verdict{cause: causeExit(r.ExitCode), lasting: true}
	default:
		if desc, ok = Describe(string(r.Stderr), name); !ok {
			return verdict{cause: causeEmptyHelp, lasting: true}
		}
	}
	desc.Source = tool.SourceHelp
	return verdict{desc: desc}
}

// startVerdict words a program that could not be started. None of these is
// remembered: nothing was run, so trying again is cheap.
func startVerdict(err error) verdict {
	for _, known := range []struct {
		errno unix.Errno
		cause string
	}{
		{unix.ETXTBSY, causeBusy},
		{unix.ENOEXEC, causeExecFormat},
		{unix.EACCES, causeNotForUser},
		{unix.ELOOP, causeLoaderLoop},
	} {
		if errors.Is(err, known.errno) {
			return verdict{cause: known.cause}
		}
	}
	return verdict{cause: causeStart(err)}
}
