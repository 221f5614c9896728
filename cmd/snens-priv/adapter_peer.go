package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"snens/broker/execute"
	"snens/internal/peer"
)

// inAction says whether a peer is part of an action: by its control group, and
// where there are none by its session.
func inAction(x *execute.Executor, groups bool) func(*peer.Peer) bool {
	return func(p *peer.Peer) bool {
		if execute.InAction(p.Seen.Cgroup) {
			return true
		}
		if groups {
			return false
		}
		// The pid is the peer's before and after, or the peer is nobody to trust.
		return !p.Alive() || x.InSession(p.PID) || !p.Alive()
	}
}

// atTerminal and supervised are looked at in user mode, where one uid asks and
// approves: whoever answers sits at a terminal and is no tool of an agent. A
// program of the same uid can arrange both. What cannot be told counts against
// the peer.
func atTerminal(p *peer.Peer) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID))
	return err == nil && p.Alive() && hasTerminal(string(stat))
}

// hasTerminal reads the seventh field of /proc/PID/stat. The second is the name
// of the program, in parentheses, and may hold anything.
func hasTerminal(stat string) bool {
	rest := stat[strings.LastIndexByte(stat, ')')+1:]
	f := strings.Fields(rest)
	return len(f) > 4 && f[4] != "0"
}

func supervised(p *peer.Peer) bool {
	if strings.Contains(p.Seen.Cgroup+"/", "/snens-") { // the group of a call, by package cgroup
		return true
	}
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.PID))
	if err != nil || !p.Alive() {
		return true
	}
	return bytes.HasPrefix(env, []byte("SNENS_CALL_ID=")) || bytes.Contains(env, []byte("\x00SNENS_CALL_ID="))
}
