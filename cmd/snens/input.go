package main

import (
	"context"
	"fmt"
	"io"
	"os"
)

// maxInput is the longest file or stream that becomes a field or the
// arguments of a call, in bytes.
const maxInput = 64 << 20

// input reads what the words of a call name: files, and stdin once. Nothing is
// waited for longer than ctx lasts.
type input struct {
	ctx   context.Context
	stdin io.Reader
	limit int64 // bytes of each
	taken bool  // stdin was read
	used  bool  // something was read
}

// read is the content of a file, or of stdin when the name is "-".
func (in *input) read(name string) ([]byte, error) {
	in.used = true
	if name == "-" {
		if in.taken {
			return nil, fmt.Errorf("stdin was read already")
		}
		in.taken = true
	}
	type content struct {
		data []byte
		err  error
	}
	// A terminal, or a named pipe without a writer, may keep the reader for
	// ever: it is left alone when ctx is done, since the program ends then.
	done := make(chan content, 1)
	go func() {
		data, err := in.whole(name)
		done <- content{data, err}
	}()
	select {
	case <-in.ctx.Done():
		return nil, in.ctx.Err()
	case c := <-done:
		return c.data, c.err
	}
}

// whole is the content of a file or of stdin, however long that takes.
func (in *input) whole(name string) ([]byte, error) {
	from := in.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		from = f
	}
	data, err := io.ReadAll(io.LimitReader(from, in.limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > in.limit {
		return nil, fmt.Errorf("%s is longer than %d bytes", name, in.limit)
	}
	return data, nil
}
