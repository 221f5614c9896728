package policy

// Account is a user of this machine.
type Account struct {
	Name   string
	UID    UID
	GID    GID
	Groups []GID // all of them, the primary one included, sorted
	Home   string
}

// Accounts answers who exists. An error means: does not exist, or cannot be told.
type Accounts interface {
	User(name string) (Account, error)
	UserID(uid UID) (Account, error)
	Group(name string) (GID, error)
	Members(gid GID) []UID // sorted
}

// FileID tells one file from every other.
type FileID struct{ Device, Inode uint64 }

// FileInfo is what a policy has to know about a command.
type FileInfo struct {
	ID         FileID
	Real       string // the path without symlinks
	Executable bool   // a regular file that somebody may execute
}

// Files answers questions about paths, all absolute. Nothing is opened for
// reading.
type Files interface {
	// Trusted returns nil when only root, and in --user mode the user, can
	// change what is at path or put something else there. fs.ErrNotExist means
	// that all of the path that exists is trusted.
	Trusted(path string) error
	// File looks at a file, symlinks followed.
	File(path string) (FileInfo, error)
	// Beneath returns nil when path can be reached from folder without a
	// symlink and without leaving folder. Its last component need not exist.
	Beneath(folder, path string) error
}

// Host is the machine as a policy sees it. System is the real one.
type Host struct {
	Accounts Accounts
	Files    Files
}
