package main

import (
	"bufio"
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// output is stdout as the commands write to it: gathered into few writes, with
// the first failure kept, so that a full disk is not taken for success.
type output struct {
	buf *bufio.Writer
	err error
}

func newOutput(to io.Writer) *output { return &output{buf: bufio.NewWriterSize(to, 32<<10)} }

// Write never fails; flush tells.
func (o *output) Write(p []byte) (int, error) {
	if o.err == nil {
		_, o.err = o.buf.Write(p)
	}
	return len(p), nil
}

// flush writes what was gathered and returns the first failure. That nobody
// reads any more is none: the kernel's signal for it ends the program anyway,
// and where that is ignored, silence is what was asked for.
func (o *output) flush() error {
	if o.err == nil {
		o.err = o.buf.Flush()
	}
	if errors.Is(o.err, unix.EPIPE) {
		return nil
	}
	return o.err
}
