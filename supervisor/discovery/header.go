package discovery

import (
	"bytes"
	"encoding/binary"
	"io"
	"path"
	"strings"
)

// headSize is how much of a program is read to recognise it.
const headSize = 4096

// shebangSize is the kernel's: it reads that much of a file to find the
// interpreter and ignores what comes after.
const shebangSize = 256

// format is what the first bytes of a program say.
type format struct {
	script bool
	interp string // of a script, or the ELF loader; "" for a static program
	arg    string // the one argument that the kernel passes to a script's interpreter
	env    string // the program that /usr/bin/env is to look up
}

// parseShebang reads the first line as the kernel does. The cause is "" when
// the kernel would accept it.
func parseShebang(head []byte) (format, string) {
	buf := head[2:min(len(head), shebangSize)]
	text, _, ended := bytes.Cut(buf, []byte("\n"))
	if !ended && len(head) >= shebangSize && !bytes.ContainsAny(bytes.TrimLeft(text, " \t"), " \t\x00") {
		return format{}, causeShebangLong
	}
	if ended && bytes.HasSuffix(text, []byte("\r")) {
		return format{}, causeShebangCRLF
	}
	if end := bytes.IndexByte(text, 0); end >= 0 {
		text = text[:end]
	}
	line := strings.Trim(string(text), " \t")
	if line == "" {
		return format{}, causeShebangEmpty
	}
	interp, arg := line, ""
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		interp, arg = line[:i], strings.TrimLeft(line[i:], " \t")
	}
	f := format{script: true, interp: interp, arg: arg}
	if !path.IsAbs(interp) {
		return f, causeShebangRelative(interp)
	}
	if path.Base(interp) != "env" {
		return f, ""
	}
	var cause string
	f.env, cause = envProgram(arg)
	return f, cause
}

// envProgram finds the program in the argument of an env shebang: the word
// itself, or the first word that is no option and no assignment after -S.
func envProgram(arg string) (program, cause string) {
	words, split := strings.CutPrefix(arg, "-S")
	if !split {
		words, split = strings.CutPrefix(arg, "--split-string=")
	}
	if !split {
		if strings.ContainsAny(arg, " \t") && !strings.HasPrefix(arg, "-") {
			return "", causeEnvOneWord(arg)
		}
		words = arg
	}
	for _, w := range strings.Fields(words) {
		switch {
		case strings.HasPrefix(w, "-"), strings.ContainsAny(w, `\"'$`):
			return "", "" // more than we want to understand: the probe will tell
		case strings.Contains(w, "="):
		default:
			return w, ""
		}
	}
	return "", ""
}

// The few ELF numbers that matter here.
const (
	elfExec, elfDyn = 2, 3
	elfInterp       = 3
	maxSegments     = 128
	maxLoaderPath   = 4096
)

var elfMachines = map[uint16]string{
	2: "sparc", 3: "i386", 8: "mips", 20: "powerpc", 21: "powerpc64", 22: "s390x", 40: "arm", 43: "sparc64",
	62: "x86_64", 183: "aarch64", 243: "riscv", 258: "loongarch",
}

// runnable lists the machines a kernel of that architecture can run, its own
// first. An architecture that is missing here is not checked.
var runnable = map[string][]uint16{
	"amd64": {62, 3}, "386": {3}, "arm64": {183, 40}, "arm": {40}, "riscv64": {243}, "s390x": {22}, "ppc64le": {21}, "loong64": {258},
}

// parseELF reads class, byte order, type, machine and loader of an ELF
// program. at gives the bytes beyond the head.
func parseELF(head []byte, at io.ReaderAt, goarch string) (format, string) {
	if len(head) < 52 || head[4] < 1 || head[4] > 2 || head[5] < 1 || head[5] > 2 {
		return format{}, causeDamagedELF
	}
	var order binary.ByteOrder = binary.LittleEndian
	if head[5] == 2 {
		order = binary.BigEndian
	}
	wide := head[4] == 2
	if wide && len(head) < 64 {
		return format{}, causeDamagedELF
	}
	kind, machine := order.Uint16(head[16:]), order.Uint16(head[18:])
	if cause := checkMachine(machine, goarch); cause != "" {
		return format{}, cause
	}
	if kind != elfExec && kind != elfDyn {
		return format{}, causeNotProgram
	}
	loader, ok := elfLoader(head, at, order, wide)
	if !ok {
		return format{}, causeDamagedELF
	}
	return format{interp: loader}, ""
}

func checkMachine(machine uint16, goarch string) string {
	wanted := runnable[goarch]
	if len(wanted) == 0 {
		return ""
	}
	for _, m := range wanted {
		if m == machine {
			return ""
		}
	}
	have, known := elfMachines[machine]
	if !known {
		have = "an unknown machine"
	}
	return causeArchitecture(have, elfMachines[wanted[0]])
}

// elfLoader returns the path in PT_INTERP, "" for a static program.
func elfLoader(head []byte, at io.ReaderAt, order binary.ByteOrder, wide bool) (string, bool) {
	tableAt, entry, count := uint64(order.Uint32(head[28:])), 32, order.Uint16(head[44:])
	if wide {
		tableAt, entry, count = order.Uint64(head[32:]), 56, order.Uint16(head[56:])
	}
	if count == 0 || count > maxSegments || tableAt > 1<<40 {
		return "", false
	}
	table := make([]byte, entry*int(count))
	if _, err := at.ReadAt(table, int64(tableAt)); err != nil {
		return "", false
	}
	for seg := range int(count) {
		p := table[seg*entry:]
		if order.Uint32(p) != elfInterp {
			continue
		}
		offset, size := uint64(order.Uint32(p[4:])), uint64(order.Uint32(p[16:]))
		if wide {
			offset, size = order.Uint64(p[8:]), order.Uint64(p[32:])
		}
		if size < 2 || size > maxLoaderPath || offset > 1<<40 {
			return "", false
		}
		name := make([]byte, size)
		if _, err := at.ReadAt(name, int64(offset)); err != nil {
			return "", false
		}
		loader, _, _ := bytes.Cut(name, []byte{0})
		return string(loader), true
	}
	return "", true
}
