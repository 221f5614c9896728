package main

import (
	"fmt"
	"io"
	"os"
)

// maxInput is the longest file or stream that becomes a field or the
// arguments of a call, in bytes.
const maxInput = 64 << 20

// input reads what the words of a call name: files, and stdin once.
type input struct {
	stdin io.Reader
	limit int64 // bytes of each
	taken bool  // stdin was read
}

// read is the content of a file, or of stdin when the name is "-".
func (in *input) read(name string) ([]byte, error) {
	from := in.stdin
	if name == "-" {
		if in.taken {
			return nil, fmt.Errorf("stdin was read already")
		}
		in.taken = true
	} else {
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
