package main

import (
	"os"
	"runtime"
)

// version is what the build says it is.
var version = "0.1.0-dev"

// The main thread never dies, so it must never be handed to code that changes
// its thread's identity and lets it end (package prepare opens files so).
func init() { runtime.LockOSThread() }

func main() {
	// On the pinned thread every exchange with another goroutine would be a
	// switch of threads, so the work is done beside it.
	done := make(chan int)
	go func() { done <- run(os.Args, os.Stdin, os.Stdout, os.Stderr) }()
	os.Exit(<-done)
}
