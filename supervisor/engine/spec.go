package engine

import (
	"os"
	"time"

	"snens/internal/confine"
	"snens/supervisor/call"
)

// Mode says whose descriptors the child's output goes to.
type Mode int

const (
	// Capture: pipes of ours, the complete record.
	Capture Mode = iota
	// Pass: the child holds the caller's descriptors; nothing is seen or redacted.
	Pass
)

// Survivors says what happens to processes that outlive the tool.
type Survivors int

const (
	// KillSurvivors ends them at once and names them in the record.
	KillSurvivors Survivors = iota
	// LeaveSurvivors names them in the record and lets them run.
	LeaveSurvivors
)

// Limits are the hard limits of a call; zero means no limit of ours.
type Limits struct {
	Memory    int64         // bytes, for the whole tree where a cgroup can, else each process
	PIDs      int           // processes and threads
	CPU       time.Duration // processor time of each process
	OpenFiles int           // descriptors of each process
}

// Spec is one supervised process, ready to start.
type Spec struct {
	Tool   string
	CallID call.ID
	Path   string   // absolute path of the program
	Argv   []string // argv[0] included
	Env    []string // complete; CallID is also found in it as SNENS_CALL_ID
	Dir    string   // absolute working directory; checked before the start

	Mode Mode
	// Stdin is what the child reads in either mode: a file of the caller's, or
	// when nil StdinBytes through a pipe, or the null file when both are nil.
	Stdin      *os.File
	StdinBytes []byte
	Stdout     *os.File // Pass only; nil = the null file
	Stderr     *os.File

	Timeout time.Duration // 0 = none
	Grace   time.Duration // between TERM and KILL
	Drain   time.Duration // after the exit; 0 = 50 ms

	// HeadTail is how many bytes of each stream are kept at the beginning and
	// at the end (each). 0 = 64 KiB. TailOff keeps the beginning alone.
	HeadTail int
	TailOff  bool
	// SpillDir is the folder for the streams that do not fit in head and tail
	// (created when needed); "" = no spill. SpillMax caps each file in bytes; 0 = no spill.
	SpillDir string
	SpillMax int64
	// Secrets are byte strings replaced by "[redacted]" in text and spill files,
	// as they are and in the usual spellings of JSON.
	Secrets [][]byte

	Limits    Limits
	Survivors Survivors
	// Thread, when set, is the thread to start the child on, under whose rules
	// it then is: the --help probe's. It serves one call at a time.
	Thread *confine.Thread
	// Leftover, when set, is told the identity of the started process so that
	// another supervisor can end it should this one die.
	Leftover func(Identity) error

	// Classify maps an exit code to a class; nil = 0 is ok, others error.
	Classify func(code int) call.Class
	// JSONOutput asks for Record.Data to be filled from stdout.
	JSONOutput bool
	// Binary says that stdout is not text: it always goes to the spill file.
	Binary bool
}

// Identity is what it takes to find a call's processes again.
type Identity struct {
	PID       int     `json:"pid"`
	StartTime uint64  `json:"start_time"` // clock ticks since boot, from /proc/PID/stat
	BootID    string  `json:"boot_id"`
	Cgroup    string  `json:"cgroup,omitempty"` // absolute path of the call's own cgroup, "" in the fallback
	CallID    call.ID `json:"call_id"`
}
