package main

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A number that only the runtime's own descriptors have is not open to a caller.
func TestStatusGoesToNoDescriptorOfOurs(t *testing.T) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for _, n := range []int{fd, -1, 1 << 20} {
		if _, err := statusFile(n); err == nil || !strings.HasSuffix(err.Error(), "it is not open") {
			t.Errorf("descriptor %d: %v", n, err)
		}
	}
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(p[0])
	defer unix.Close(p[1])
	if f, err := statusFile(p[1]); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
	if _, err := statusFile(p[0]); err == nil || !strings.HasSuffix(err.Error(), "reading only") {
		t.Errorf("the reading end of a pipe: %v", err)
	}
}
