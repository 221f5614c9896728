package main

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A stderr that nobody reads is given up, once.
func TestNotesDoNotWaitForAReaderForEver(t *testing.T) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	to := os.NewFile(uintptr(p[1]), "pipe")
	defer to.Close()
	defer unix.Close(p[0])
	n := &notes{to: to}
	if m, err := n.Write([]byte(strings.Repeat("x", 1<<20))); m != 1<<20 || err != nil {
		t.Errorf("%d, %v", m, err)
	}
	if !n.dead {
		t.Error("a megabyte went into a pipe that nobody reads")
	}
	got := make([]byte, 8)
	if _, err := unix.Read(p[0], got); err != nil || string(got) != "xxxxxxxx" {
		t.Errorf("%q %v", got, err)
	}
}
