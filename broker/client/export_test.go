package client

// SetOfProgram replaces how a file of a FUSE file system is known, until the
// returned function is called.
func SetOfProgram(f func(fd int) bool) (back func()) {
	old := ofProgram
	ofProgram = f
	return func() { ofProgram = old }
}

// OfProgram says whether a file's file system is a program.
func OfProgram(fd int) bool { return ofProgram(fd) }
