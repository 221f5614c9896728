package discovery_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"snens/supervisor/discovery"
)

// debian are programs of Debian 12 whose answers to --help were recorded (the
// first 4000 bytes, with LANG=C.UTF-8) under testdata/help, .out from stdout
// and .err from stderr. The right values were worked out by reading them.
var debian = []struct {
	name, essence, usage string
	exit                 int
	cause                string // set when the tool must be set aside
}{
	{name: "apt-get", essence: "apt-get is a command line interface for retrieval of packages", usage: "Usage: apt-get [options] command"},
	{name: "bash", essence: "GNU bash, version 5.2.15(1)-release-(x86_64-pc-linux-gnu)", usage: "Usage: bash [GNU long option] [option] ..."},
	{name: "cat", essence: "Concatenate FILE(s) to standard output.", usage: "Usage: cat [OPTION]... [FILE]..."},
	{name: "cp", essence: "Copy SOURCE to DEST, or multiple SOURCE(s) to DIRECTORY.", usage: "Usage: cp [OPTION]... [-T] SOURCE DEST"},
	{name: "curl", essence: "curl", usage: "Usage: curl [options...] <url>"},
	{name: "dpkg", essence: "dpkg", usage: "Usage: dpkg [<option>...] <command>"},
	{name: "find", essence: "Default path is the current directory; default expression is -print.", usage: "Usage: find [-H] [-L] [-P] [-Olevel] [-D debugopts] [path...] [expression]"},
	{name: "git", essence: "These are common Git commands used in various situations:", usage: "usage: git [-v | --version] [-h | --help] [-C <path>] [-c <name>=<value>]"},
	{name: "gpg", essence: "Sign, check, encrypt or decrypt", usage: "Syntax: gpg [options] [files]"},
	{name: "grep", essence: "Search for PATTERNS in each FILE.", usage: "Usage: grep [OPTION]... PATTERNS [FILE]..."},
	{name: "ip", exit: 255, cause: "--help ended with exit 255 and nothing on stdout"},
	{name: "journalctl", essence: "Query the journal.", usage: "journalctl [OPTIONS...] [MATCHES...]"},
	{name: "jq", essence: "jq - commandline JSON processor [version 1.6]", usage: "Usage: jq [options] <jq filter> [file...]"},
	{name: "less", essence: "SUMMARY OF LESS COMMANDS", usage: "Commands marked with * may be preceded by a number, N."},
	{name: "ls", essence: "List information about the FILEs (the current directory by default).", usage: "Usage: ls [OPTION]... [FILE]..."},
	{name: "lsblk", essence: "List information about block devices.", usage: "Usage: lsblk [options] [<device> ...]"},
	{name: "make", essence: "make", usage: "Usage: make [options] [target] ..."},
	{name: "man", essence: "man", usage: "Usage: man [OPTION...] [SECTION] PAGE..."},
	{name: "mawk", exit: 2, cause: "--help ended with exit 2 and nothing on stdout"},
	{name: "mount", essence: "Mount a filesystem.", usage: "Usage: mount [-lhV]"},
	{name: "openssl", essence: "openssl", usage: ""},
	{name: "perl", essence: "perl", usage: "Usage: perl [switches] [--] [programfile] [arguments]"},
	{name: "ps", essence: "ps", usage: "Usage: ps [options]"},
	{name: "python3", essence: "python3", usage: "usage: python3 [option] ... [-c cmd | -m mod | file | -] [arg] ..."},
	{name: "rg", essence: "ripgrep (rg) recursively searches the current directory for a regex pattern.", usage: "USAGE: rg [OPTIONS] PATTERN [PATH ...]"},
	{name: "sed", essence: "sed", usage: "Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]..."},
	{name: "sort", essence: "Write sorted concatenation of all FILE(s) to standard output.", usage: "Usage: sort [OPTION]... [FILE]..."},
	{name: "ss", essence: "ss", usage: "Usage: ss [ OPTIONS ]"},
	{name: "ssh", exit: 255, cause: "--help ended with exit 255 and nothing on stdout"},
	{name: "strace", essence: "strace", usage: "Usage: strace [-ACdffhikqqrtttTvVwxxyyzZ] [-I N] [-b execve] [-e EXPR]..."},
	{name: "systemctl", essence: "Query or send control commands to the system manager.", usage: "systemctl [OPTIONS...] COMMAND ..."},
	{name: "tar", essence: "GNU 'tar' saves many files together into a single tape or disk archive, and can", usage: "Usage: tar [OPTION...] [FILE]..."},
	{name: "top", essence: "top", usage: "Usage: top [options]"},
	{name: "vim", essence: "VIM - Vi IMproved 9.0 (2022 Jun 28, compiled Feb 16 2025 05:23:41)", usage: "Usage: vim [arguments] [file ..] edit specified file(s)"},
	{name: "wget", essence: "GNU Wget 1.21.3, a non-interactive network retriever.", usage: "Usage: wget [OPTION]... [URL]..."},
	{name: "xargs", essence: "Run COMMAND with arguments INITIAL-ARGS and more arguments read from input.", usage: "Usage: xargs [OPTION]... COMMAND [INITIAL-ARGS]..."},
	{name: "zstd", essence: "Compress or decompress the INPUT file(s); reads from STDIN if INPUT is `-` or not provided.", usage: "Usage: zstd [OPTIONS...] [INPUT... | -] [-o OUTPUT]"},
}

// recorded is a prober that answers as the real programs did.
func recorded(t *testing.T) func(string) discovery.ProbeResult {
	exits := map[string]int{}
	for _, p := range debian {
		exits[p.name] = p.exit
	}
	read := func(path string) []byte {
		data, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		return data
	}
	return func(name string) discovery.ProbeResult {
		return discovery.ProbeResult{
			Stdout: read("testdata/help/" + name + ".out"), Stderr: read("testdata/help/" + name + ".err"),
			ExitCode: exits[name],
		}
	}
}

func TestRealProgramsOfDebian(t *testing.T) {
	tr := newTree(t)
	for _, p := range debian {
		tr.add(p.name, script)
	}
	got := list(t, discovery.New(discovery.Options{Dirs: []string{tr.dir}, Prober: newCounter(recorded(t))}), discovery.Cached)
	read := map[string][2]string{}
	for _, found := range got.Tools {
		read[string(found.Name)] = [2]string{found.Essence, found.Usage}
		if found.NeedsStdin {
			t.Errorf("%s: stdin is not required", found.Name)
		}
	}
	causes := map[string]string{}
	for _, q := range got.Quarantined {
		causes[q.Name] = q.Cause
	}
	for _, p := range debian {
		if p.cause != causes[p.name] {
			t.Errorf("%s: cause %q, want %q", p.name, causes[p.name], p.cause)
		}
		if want := [2]string{p.essence, p.usage}; read[p.name] != want {
			t.Errorf("%s:\n got %q\nwant %q", p.name, read[p.name], want)
		}
	}
}
