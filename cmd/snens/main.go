// Command snens finds tools, describes them to people and to models, and runs
// each call of one as a supervised process tree.
//
// One command per file: cmd_NAME.go. A command reads its options, asks package
// supervisor, and prints; it decides nothing itself. What a command prints of
// a tool's own text goes through package escape. docs/cli.md and the manual
// pages in docs/man are generated from the commands here (make gen).
package main

import (
	"fmt"
	"os"
	"runtime"
)

// version is what the build says it is.
var version = "0.1.0-dev"

// The main thread never dies, so it must never be handed to code that
// restricts its thread and lets it end (the probe's confinement does).
func init() { runtime.LockOSThread() }

func main() {
	if len(os.Args) == 0 || os.Args[0] == "" { // the kernel makes the second of the first
		fmt.Fprintln(os.Stderr, "snens: cannot tell what to do: called without a name (empty argv)")
		os.Exit(2)
	}
	args := os.Args[1:]
	// On the pinned thread every exchange with another goroutine would be a
	// switch of threads, so the work is done beside it (0.6 ms less at start).
	done := make(chan int)
	go func() { done <- run(args, os.Stdin, os.Stdout, os.Stderr, os.Environ()) }()
	os.Exit(<-done)
}
