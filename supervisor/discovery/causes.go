package discovery

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// The causes of a quarantine, each in one place. A cause is one line without
// the tool's name and path and without a full stop; other paths may occur.
const (
	causeInvalidName  = "invalid name: only A-Z a-z 0-9 _ - are allowed, 64 at most"
	causeReservedName = "reserved name"

	causeNotFolder     = "not a folder: the program belongs in a folder of its own name"
	causeNoProgram     = "no executable of that name in its folder"
	causeNotExecutable = "not executable: chmod +x is missing"
	causeNotForUser    = "not executable for this user"
	causeNoAccess      = "cannot be reached: permission denied"
	causeLinkLoop      = "link loop"
	causeLoaderLoop    = "the interpreters form a loop"
	causeDirectory     = "a directory, not a program"
	causeEmptyFile     = "empty file"
	causeNoexec        = "lies on a file system mounted noexec"

	causeNoFormat     = "neither a #! line nor an ELF program, so the kernel cannot run it"
	causeExecFormat   = "the kernel cannot run its format (exec format error)"
	causeDamagedELF   = "damaged ELF header"
	causeNotProgram   = "an ELF file, but not a program"
	causeShebangEmpty = "bad shebang: no interpreter after #!"
	causeShebangLong  = "bad shebang: the first line is longer than 255 bytes"
	causeShebangCRLF  = "CRLF shebang: the first line ends in a carriage return"

	causeBusy      = "text file busy: something has it open for writing"
	causeTimedOut  = "--help timed out after 5 s"
	causeEmptyHelp = "--help printed nothing"

	causeHelpFileEmpty  = "help.txt is empty"
	causeHelpFileBig    = "help.txt is larger than 64 KiB"
	causeHelpFileOther  = "help.txt is not a regular file"
	reasonSchemaAbsent  = "there is no schema.json"
	reasonSchemaBig     = "schema.json is larger than 256 KiB"
	reasonSchemaOther   = "schema.json is not a regular file"
	causeSchemaRequired = "require_schema is set, but "
)

func causeDangling(target string) string { return oneLine("dangling link to " + target) }

func causeNotRegular(kind string) string { return "a " + kind + ", not a program" }

func causeArchitecture(have, want string) string {
	return "wrong architecture: built for " + have + ", this machine is " + want
}

func causeShebangRelative(interp string) string {
	return oneLine("bad shebang: interpreter " + interp + " is not an absolute path")
}

func causeEnvOneWord(arg string) string {
	return oneLine(fmt.Sprintf("bad shebang: env gets %q as one name, env -S would split it", arg))
}

func causeInterpreter(path string) string { return oneLine("missing interpreter " + path) }

func causeEnvInterpreter(name string) string {
	return oneLine("missing interpreter " + name + ": env does not find it on PATH")
}

func causeLoader(path string) string {
	return oneLine("missing interpreter " + path + ", the loader of this ELF program")
}

func causeInterpreterUnfit(path string) string {
	return oneLine("interpreter " + path + " is not executable")
}

func causeUntrusted(part, rule string) string {
	return oneLine("root does not use what others can change: " + part + " " + rule)
}

func causeSignal(signal string) string { return oneLine("--help died by " + signal) }

func causeExit(code int) string {
	return fmt.Sprintf("--help ended with exit %d and nothing on stdout", code)
}

// causeUnreadable completes a probe's cause for a program we may run but not read.
func causeUnreadable(cause string) string {
	return cause + "; the file is not readable, which a script must be"
}

func causeStart(err error) string {
	if ofHere(err) {
		return causeHere(err)
	}
	return oneLine(fmt.Sprintf("cannot be started: %v", err))
}

func causeRead(file string, err error) string {
	text := fmt.Errorf("%s cannot be read: %w", file, err)
	if ofHere(err) {
		return causeHere(text)
	}
	return oneLine(text.Error())
}

// wordsHere begin the causes that are no fault of the tool. No other cause
// begins so: tools have no say in how a cause begins.
const wordsHere = "cannot be started here now: "

func causeHere(err error) string { return oneLine(wordsHere + err.Error()) }

// isHere tells such a cause.
func isHere(cause string) bool { return strings.HasPrefix(cause, wordsHere) }

// ofHere: the error tells of the machine's state: no descriptors, processes,
// memory or room left. Another moment, or the same tool elsewhere, differs.
func ofHere(err error) bool {
	for _, errno := range []unix.Errno{
		unix.EMFILE, unix.ENFILE, unix.ENOMEM, unix.EAGAIN, unix.ENOSPC, unix.EDQUOT, unix.EROFS,
	} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

func reasonSchemaBroken(err error) string {
	text := oneLine(err.Error())
	if strings.Contains(text, "schema.json") {
		return text
	}
	return "schema.json is not usable: " + text
}
