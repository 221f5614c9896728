package xsnens

// Invocation is a call ready to be started: everything but the program, the
// working directory and the rest of the environment.
type Invocation struct {
	// Args are the arguments after argv[0].
	Args []Arg
	// Stdin is what the tool reads, when HasStdin; otherwise it gets the null file.
	Stdin    []byte
	HasStdin bool
	Env      []EnvVar
	// Secrets are the byte strings to be redacted wherever the tool prints them:
	// every string and number in a secret field, each once and as it is. How JSON
	// writes them is the engine's concern.
	Secrets [][]byte
}

// Arg is one argument.
type Arg struct {
	Text string
	// File, when set, is content the supervisor puts into a file only its
	// owner can read; the argument is Text followed by the path of that file,
	// and the file is removed after the call.
	File *FileArg
	// Field is the field the argument comes from, "" for the author's own text.
	Field string
}

// FileArg is the content of a file argument, byte for byte.
type FileArg struct {
	Field   string
	Content []byte
}

// EnvVar is one variable of the environment, with the field it comes from.
type EnvVar struct{ Name, Value, Field string }

// Limits of the kernel and of ours.
const (
	// MaxArg is the longest argument (and NAME=value) in bytes, without the
	// NUL that ends it.
	MaxArg = 131071
	// FilePathReserve is what the path of a file argument is counted as.
	FilePathReserve = 256
	// MaxFileArgs is how many files one call can have.
	MaxFileArgs = 64
	// DefaultRoom is the room for arguments and variables of a call when the
	// caller names none: a stack of 8 MiB gives 2 MiB, less a share for the
	// rest of the environment.
	DefaultRoom = 2<<20 - 256<<10
)

// pointerSize is what the kernel counts for each argument and variable beside
// its bytes and its NUL.
const pointerSize = 8

// Room is how many bytes arguments and variables of a call may take where the
// soft limit of the stack is stack bytes (RLIMIT_STACK; ^0 for unlimited), the
// program is started by path with argv0, and env is the rest of its environment.
// It is never negative. The kernel gives a quarter of the stack, at least 128
// KiB and at most 6 MiB; 4 KiB are left for what it adds itself and for the
// words of a #! line.
func Room(stack uint64, path, argv0 string, env []string) int {
	const reserve = 4 << 10
	room := int(min(max(stack/4, 128<<10), 6<<20))
	room -= reserve + 2*pointerSize // the NULL at the end of both lists
	room -= len(path) + 1 + cost(argv0)
	for _, e := range env {
		room -= cost(e)
	}
	return max(room, 0)
}

func cost(s string) int { return len(s) + 1 + pointerSize }
