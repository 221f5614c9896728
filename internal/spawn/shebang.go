package spawn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// lineRoom is how much of a file the kernel reads to find its #! line.
const lineRoom = 256

// interpreter is the path that the file's #! line names, "" when it has none.
func interpreter(fd int) (string, error) {
	head := make([]byte, lineRoom)
	n, err := io.ReadFull(io.NewSectionReader(readerAt(fd), 0, lineRoom), head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return "", fmt.Errorf("cannot read its beginning: %w", err)
	}
	return parseShebang(head[:n])
}

// parseShebang reads the beginning of a file as the kernel does, and refuses
// what the kernel would cut or read in an odd way.
func parseShebang(head []byte) (string, error) {
	rest, ok := bytes.CutPrefix(head, []byte("#!"))
	if !ok {
		return "", nil
	}
	line, _, ended := bytes.Cut(rest, []byte("\n"))
	if !ended && len(head) >= lineRoom {
		return "", fmt.Errorf("its #! line is longer than %d bytes", lineRoom-1)
	}
	if bytes.IndexByte(line, 0) >= 0 {
		return "", errors.New("its #! line contains a NUL byte")
	}
	if bytes.HasSuffix(line, []byte("\r")) {
		return "", errors.New("its #! line ends with a carriage return; give it Unix line ends")
	}
	words := strings.Trim(string(line), " \t")
	path := words
	if i := strings.IndexAny(words, " \t"); i >= 0 {
		path = words[:i]
	}
	switch {
	case path == "":
		return "", errors.New("its #! line names no interpreter")
	case !filepath.IsAbs(path):
		return "", fmt.Errorf("its #! line names %q, which is no absolute path", path)
	}
	return path, nil
}
