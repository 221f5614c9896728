package main

import (
	"net"
	"os"
	"os/signal"
	"runtime/debug"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sys/unix"

	"snens/internal/sockets"
)

// memoryLimit is what the garbage collector aims at; 10,000 waiting requests
// need less.
const memoryLimit = 48 << 20

// gcPercent trades a little work for a small process, which does nothing most of
// the time.
const gcPercent = 50

func (a *app) serve(args []string) error {
	s, err := a.readSetup(args)
	if err != nil {
		return err
	}
	log, err := newLogger(a.stderr, s.logLevel, os.Getenv("JOURNAL_STREAM") != "")
	if err != nil {
		return err
	}
	unix.Umask(0o077)
	debug.SetMemoryLimit(memoryLimit)
	debug.SetGCPercent(gcPercent)
	signals := catchSignals()
	defer signals.stop()

	// The variables of the service manager are taken first: passed sockets before
	// anything else opens files.
	passed, err := sockets.Passed(requestName, approvalName)
	if err != nil {
		return failf(exitFailed, "%w", err)
	}
	notify, err := sockets.FromEnv()
	if err != nil {
		closeAll(passed)
		return failf(exitFailed, "%w", err)
	}
	d, err := a.open(&s, log, passed)
	if err != nil {
		closeAll(passed)
		return err
	}
	d.notify = notify
	return d.run(signals)
}

func closeAll(passed map[string]*net.UnixListener) {
	for _, l := range passed {
		_ = l.Close()
	}
}

// signals are what people and the service manager send. All are caught, because
// what a process ignores its children ignore too.
type signals struct {
	reload chan os.Signal
	end    chan os.Signal
	none   chan os.Signal // nothing to do
}

func catchSignals() *signals {
	s := &signals{reload: make(chan os.Signal, 1), end: make(chan os.Signal, 2), none: make(chan os.Signal, 1)}
	signal.Notify(s.reload, unix.SIGHUP)
	signal.Notify(s.end, unix.SIGTERM, unix.SIGINT)
	signal.Notify(s.none, unix.SIGPIPE)
	return s
}

func (s *signals) stop() {
	signal.Stop(s.reload)
	signal.Stop(s.end)
	signal.Stop(s.none)
}

// tell logs what systemd could not be told: it does not matter more than that.
func tell(log hclog.Logger, err error) {
	if err != nil {
		log.Warn("cannot notify the service manager", "error", err)
	}
}
