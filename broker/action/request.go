package action

import (
	"slices"
	"time"
)

// Request is one privileged action, complete: what is run, how, for whom and
// under which rule. It is executed from this object and from nothing else.
type Request struct {
	// Argv is the argument vector; Argv[0] is what the rule says the program
	// sees as its name. At least one, none with a NUL byte.
	Argv []string
	// Executable is the file that runs, Interpreters what runs it when it
	// begins with #!, outermost first.
	Executable   File
	Interpreters []File
	// Opened are files passed to the child beyond 0, 1 and 2, in the order of
	// their descriptors, each opened with the requester's rights.
	Opened []OpenedFile
	// Cwd is an absolute path.
	Cwd string
	// Env is the whole environment, sorted by name, names unique.
	Env []Var
	// RunAs is who the child is.
	RunAs RunAs
	// Umask is at most 0777.
	Umask uint16
	// Timeout is how long the action may take; whole milliseconds, at most MaxDuration.
	Timeout time.Duration
	// Limits bind the child's resources; a zero field is no limit.
	Limits Limits
	// Modes are other ways in which the action differs from a plain run.
	Modes Modes
	// Stdin is what the child reads.
	Stdin Stdin

	// Requester is who asks, by the kernel's word.
	Requester Requester
	// Rule is the deciding rule; RuleDigest covers its text, its resolved ids
	// and its approvers.
	Rule       RuleID
	RuleDigest Digest
	// Expires is when the request stops being worth anything: whole seconds, UTC.
	Expires time.Time
	Nonce   Nonce
	Install InstallID
}

// File is a file as it was when the request was made.
type File struct {
	Path   string // absolute
	Device uint64 // st_dev
	Inode  uint64
	SHA256 Digest // of the content
}

// OpenedFile is a file that the child gets as a descriptor. It has no digest:
// its content is the requester's to change.
type OpenedFile struct {
	Descriptor uint8 // 3 or more
	Path       string
	Device     uint64
	Inode      uint64
}

// Var is a variable of the environment. The name is not empty and has neither
// = nor NUL, the value no NUL.
type Var struct{ Name, Value string }

// RunAs is the identity of the child. Names are what the ids were resolved
// from, empty where there is none; the ids count.
type RunAs struct {
	UID    UID
	User   string
	GID    GID
	Group  string
	Groups []GID // supplementary, ascending, unique
}

// Requester is the peer that asks, as the kernel gave it at connect.
type Requester struct {
	UID    UID
	GID    GID
	Groups []GID // supplementary, ascending, unique
}

// Limits are the resource limits of an action; zero is no limit.
type Limits struct {
	Memory    uint64        // bytes, of the whole tree
	Processes uint64        // of the whole tree
	CPU       time.Duration // whole milliseconds, of each process
	OpenFiles uint64        // of each process
	FileSize  uint64        // bytes, of each file written
}

// Modes are switches of a run. All false is a plain run.
type Modes struct {
	Detached bool // goes on when the requester is gone
	Terminal bool // has a terminal of the broker's
	Recorded bool // the terminal's output is recorded
}

// StdinMode says what the child reads.
type StdinMode uint8

// The modes of input; the zero value is none of them.
const (
	StdinNone   StdinMode = iota + 1 // the null file
	StdinSealed                      // content that is part of the request
	StdinPass                        // the requester's descriptor: nobody reviews it
)

// Stdin is the child's input. Content is set for StdinSealed only.
type Stdin struct {
	Mode    StdinMode
	Content string
}

// Clone is a copy that shares no slice with r.
func (r Request) Clone() Request {
	r.Argv = slices.Clone(r.Argv)
	r.Interpreters = slices.Clone(r.Interpreters)
	r.Opened = slices.Clone(r.Opened)
	r.Env = slices.Clone(r.Env)
	r.RunAs.Groups = slices.Clone(r.RunAs.Groups)
	r.Requester.Groups = slices.Clone(r.Requester.Groups)
	return r
}

// SortGIDs is the form in which groups stand in a request: ascending, unique,
// nil when there are none. gids is not changed.
func SortGIDs(gids []GID) []GID {
	if len(gids) == 0 {
		return nil
	}
	out := slices.Clone(gids)
	slices.Sort(out)
	return slices.Compact(out)
}
