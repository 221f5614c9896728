package discovery_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"snens/supervisor/discovery"
	"snens/supervisor/tool"
)

// reading is one text and how it must be read.
type reading struct {
	name, help     string
	essence, usage string
	stdin          bool
}

func (r reading) check(t *testing.T) {
	t.Helper()
	d, ok := discovery.Describe(r.help, tool.Name(r.name))
	if !ok {
		t.Errorf("%q: nothing read", r.help)
		return
	}
	if d.Essence != r.essence || d.Usage != r.usage || d.NeedsStdin != r.stdin || d.Source != "" {
		t.Errorf("%q\n got %q, %q, stdin %v\nwant %q, %q, stdin %v", r.help, d.Essence, d.Usage, d.NeedsStdin, r.essence, r.usage, r.stdin)
	}
}

func TestTheContract(t *testing.T) {
	for _, r := range []reading{
		{"wc-lines", "wc-lines — counts lines.\nwc-lines FILE [--no-empty]\nmore\n", "wc-lines — counts lines.", "wc-lines FILE [--no-empty]", false},
		{"x", "\n\n  first  \n\n\n\tsecond\t \nthird", "first", "second", false},
		{"x", "only one", "only one", "", false},
		{"x", "поиск по файлам: путь, строка\nx <шаблон> [<путь>...]\n", "поиск по файлам: путь, строка", "x <шаблон> [<путь>...]", false},
		{"write", "write — puts stdin into a file\nwrite FILE", "write — puts stdin into a file", "write FILE", true},
		{"hash", "hash — hashes\nhash [--stdin] FILE", "hash — hashes", "hash [--stdin] FILE", false},
		{"hash", "hash — reads STDIN\nhash stdin_file non-stdin", "hash — reads STDIN", "hash stdin_file non-stdin", false},
		{"hash", "hash — hashes\nhash <stdin", "hash — hashes", "hash <stdin", true},
		// A name, a dash, an essence is no synopsis, and capitals alone make none.
		{"jq", "jq - commandline processor\nUsage: jq FILTER", "jq - commandline processor", "Usage: jq FILTER", false},
		{"fmt", "fmt JSON formatter for people\nfmt FILE", "fmt JSON formatter for people", "fmt FILE", false},
		{"fmt", "Find [regex] in files\nfmt FILE", "Find [regex] in files", "fmt FILE", false},
		// The second line is prose, and a line below calls itself usage.
		{"pg", "pg cleans a database.\nMore words.\n\nUsage:\n  pg [DB]\n", "pg cleans a database.", "Usage: pg [DB]", false},
		{"pg", "pg cleans a database.\npg [DB]\n\nUsage: see the manual\n", "pg cleans a database.", "pg [DB]", false},
	} {
		r.check(t)
	}
}

func TestUsageFirst(t *testing.T) {
	for _, r := range []reading{
		{"cat", "Usage: cat [OPTION]... [FILE]...\nConcatenate FILE(s).\n", "Concatenate FILE(s).", "Usage: cat [OPTION]... [FILE]...", false},
		{"cat", "USAGE: cat X\n\nConcatenate.\n", "Concatenate.", "USAGE: cat X", false},
		{"lsblk", "\nUsage:\n lsblk [options] [<device> ...]\n\nList block devices.\n\nOptions:\n -a  all\n", "List block devices.", "Usage: lsblk [options] [<device> ...]", false},
		{"x", "Usage\n\n  x FILE\n\nDoes it.\n", "Does it.", "Usage: x FILE", false},
		{"x", "usage :\n", "x", "usage :", false},
		// Other forms of the synopsis are no essence.
		{"cp", "Usage: cp A B\n  or:  cp A... DIR\n  or:  cp -t DIR A...\nCopy things.\n", "Copy things.", "Usage: cp A B", false},
		{"cp", "Usage: cp A B\nor: cp A... DIR\nor cp -t DIR\nCopy things.\n", "Copy things.", "Usage: cp A B", false},
		{"mount", "\nUsage:\n mount [-lhV]\n mount -a [options]\n mount [options] --source X\n\nMount a filesystem.\n", "Mount a filesystem.", "Usage: mount [-lhV]", false},
		{"git", "usage: git [-v] [-C <path>]\n           [--bare]\n           command [<args>]\n\nThe stupid content tracker.\n", "The stupid content tracker.", "usage: git [-v] [-C <path>]", false},
		{"pyg", "usage: pyg [-l LEXER]\n           -O OPTION\n\nHighlight a file.\n", "Highlight a file.", "usage: pyg [-l LEXER]", false},
		{"apt", "Usage: apt [options] command\napt [options] remove pkg\napt is for packages\n", "apt is for packages", "Usage: apt [options] command", false},
		{"view", "Usage: vim [arguments]\nvim [arguments] -t tag\nEdits text.", "Edits text.", "Usage: vim [arguments]", false},
		// Headings, options, tables, licences and advice are no essence.
		{"x", "usage: x [-h]\n\noptions:\n  -h, --help  show this\n", "x", "usage: x [-h]", false},
		{"x", "usage: x [-h]\n\npositional arguments:\n  file  a file\n\nLater prose.\n", "x", "usage: x [-h]", false},
		{"x", "usage: x\n\nDoes things.\n\npositional arguments:\n", "Does things.", "usage: x", false},
		{"x", "Usage: x\n  -a\tall of it\n      and more\nText on -a.\n", "x", "Usage: x", false},
		{"x", "Usage: x EXPR\n      --help        display this\n      --version     output version\n\nPrint EXPR.\n", "Print EXPR.", "Usage: x EXPR", false},
		{"x", "Usage: x\n\nCopyright (C) 2020 Somebody\nand others\n\nDoes it.\n", "Does it.", "Usage: x", false},
		{"x", "Usage: x\nTry 'x --help a'\nor 'x --help b'\nfor more text.\n\nDoes it.\n", "Does it.", "Usage: x", false},
		{"x", "Usage: x\nUsage is simple.\nDoes it.\n", "Does it.", "Usage: x", false},
		{"x", "Usage: x\nFILE: a file\nfile ...: files\nDoes it.\n", "x", "Usage: x", false},
		{"x", "Usage: x\n\n[a]\n123\n→ arrow\nÄndert es.\n", "Ändert es.", "Usage: x", false},
		// The usage may come without the word, behind the name, or in another language.
		{"systemctl", "systemctl [OPTIONS...] COMMAND ...\n\nControl the manager.\n", "Control the manager.", "systemctl [OPTIONS...] COMMAND ...", false},
		{"npm", "npm <command>\n\nManages packages.\n", "Manages packages.", "npm <command>", false},
		{"umount", "other-name [OPTIONS...] WHERE\n\nUnmounts.\n", "Unmounts.", "other-name [OPTIONS...] WHERE", false},
		{"zic", "zic: usage: zic [FILE]\nCompiles zones.\n", "Compiles zones.", "zic: usage: zic [FILE]", false},
		{"ls", "Использование: ls [ПАРАМЕТР]… [ФАЙЛ]…\nВыводит информацию о ФАЙЛАХ.\n", "Выводит информацию о ФАЙЛАХ.", "Использование: ls [ПАРАМЕТР]… [ФАЙЛ]…", false},
		{"ls", "Utilisation : ls [OPTION]\nAfficher des fichiers.\n", "Afficher des fichiers.", "Utilisation : ls [OPTION]", false},
		// An essence never begins with usage, whatever the tool's name.
		{"usage-stats", "usage-stats — shows usage\nusage-stats DIR\n", "tool usage-stats", "usage-stats — shows usage", false},
		{"x", "Usage: x\n  x -a stdin\n", "x", "Usage: x", false},
		{"x", "Usage: x FILE or stdin\n", "x", "Usage: x FILE or stdin", true},
	} {
		r.check(t)
	}
}

func TestBannersPagesAndComplaints(t *testing.T) {
	for _, r := range []reading{
		{"apt", "apt 2.6.1 (amd64)\nUsage: apt command\n\napt manages packages\n", "apt manages packages", "Usage: apt command", false},
		{"gpg", "gpg (GnuPG) 2.2.40\nlibgcrypt 1.10.1\nCopyright (C) 2022 X\n\nHome: /x\nCipher: A,\n   B, C\n\nSyntax: gpg [options]\nSign or encrypt\n", "Sign or encrypt", "Syntax: gpg [options]", false},
		{"rg", "ripgrep 13.0.0\nA B <a@b.c>\n\nrg searches.\n\nUSAGE:\n    rg PATTERN\n\nARGS:\n  <PATTERN>  it\n", "rg searches.", "USAGE: rg PATTERN", false},
		{"bash", "GNU bash, version 5.2.15(1)-release-(x86_64)\nUsage:\tbash [long] [option]\n\tbash script\nGNU long options:\n\t--debug\n", "GNU bash, version 5.2.15(1)-release-(x86_64)", "Usage: bash [long] [option]", false},
		{"zstd", "*** Zstandard ***\n\nCompress files.\n\nUsage: zstd FILE\n", "Compress files.", "Usage: zstd FILE", false},
		{"x", "x 1.0\nno usage anywhere\n", "x 1.0", "no usage anywhere", false},
		{"wget", "GNU Wget 1.21.3, a network retriever.\nUsage: wget URL\n", "GNU Wget 1.21.3, a network retriever.", "Usage: wget URL", false},
		{"git-x", "GIT-X(1)      Manual       GIT-X(1)\n\nNAME\n       git-x - does x\n\nSYNOPSIS\n       git x <dir>\n\nDESCRIPTION\n", "git-x - does x", "git x <dir>", false},
		{"gc", "NAME\n    gc - manages\n", "gc - manages", "", false},
		{"openssl", "help:\n\nStandard commands\nca      cms     crl\n", "openssl", "", false},
		{"x", "x: unrecognized option '--help'\nUsage: x FILE\nDoes it.\n", "Does it.", "Usage: x FILE", false},
		{"x", "Unable to open directory --help: No such file\n", "x", "", false},
		{"x", "error: unknown option --help\n", "x", "", false},
		{"x", "x helps with --help pages\nx FILE\n", "x helps with --help pages", "x FILE", false},
	} {
		r.check(t)
	}
}

func TestHostileText(t *testing.T) {
	long := strings.Repeat("word ", 1000)
	for _, r := range []reading{
		{"x", "first\r\nsecond\r\n", "first", "second", false},
		{"x", "first\rsecond", "first", "second", false},
		{"x", "\ufefffirst\nsecond", "first", "second", false},
		{"x", "N\bNA\bAM\bME\bE\n\n  _\bx - does\n\nS\bSY\bYN\bNO\bOP\bPS\bSI\bIS\bS\n  x F", "x - does", "x F", false},
		{"x", "\b\bab\b\b\bc\nd", "c", "d", false},
		{"x", "\x1b[1mbold\x1b[0m\n\x1b[38;5;200mx\x1b(B FILE\x1b[K", "bold", "x FILE", false},
		{"x", "\x1b]0;title\aone\n\x1b]8;;http://e\x1b\\two\x1b]8;;\x1b\\", "one", "two", false},
		{"x", "\x1b]0;never ended\ntwo\nthree", "two", "three", false},
		{"x", "\u009b31mred\u009b0m\ntwo", "red", "two", false},
		{"x", "a\x00b\x07c\x7f\nd\ve\ff", "abc", "d", false},
		{"x", "a\u0085b\u2028c", "a", "b", false},
		{"x", "bad \xff\xfe bytes\nx \xc3", "bad \ufffd bytes", "x \ufffd", false},
		{"x", "tabs\tand   blanks\nx\t\tF", "tabs and blanks", "x F", false},
		{"x", long + "\nx", strings.TrimRight(strings.Repeat("word ", 199)+"w", " ") + "…", "", false},
	} {
		if r.help != long+"\nx" {
			r.check(t)
			continue
		}
		d, _ := discovery.Describe(r.help, "x")
		if len(d.Essence) > 1000 || !strings.HasPrefix(d.Essence, "word word") || !strings.HasSuffix(d.Essence, "…") {
			t.Errorf("a line of %d bytes became %d bytes: %q", len(long), len(d.Essence), d.Essence)
		}
	}
	for _, empty := range []string{"", "\n\n", " \t\r\n", "\x1b[0m\n", "\x00", "\ufeff"} {
		if d, ok := discovery.Describe(empty, "x"); ok {
			t.Errorf("%q: read as %+v", empty, d)
		}
	}
}

func TestTheCapFallsBetweenRunes(t *testing.T) {
	for pad := range 4 {
		help := "x\n" + strings.Repeat("a", pad) + strings.Repeat("ж", 3000)
		d, _ := discovery.Describe(help, "x")
		if !utf8.ValidString(d.Usage) || strings.ContainsRune(d.Usage, utf8.RuneError) {
			t.Errorf("pad %d: cut inside a rune: %q", pad, d.Usage[len(d.Usage)-8:])
		}
	}
	beyond := "essence\n" + strings.Repeat("\n", discovery.HelpCap) + "usage beyond the cap"
	if d, _ := discovery.Describe(beyond, "x"); d.Usage != "" {
		t.Errorf("read beyond the cap: %q", d.Usage)
	}
}

func FuzzDescribe(f *testing.F) {
	for _, seed := range []string{
		"x — y\nx FILE", "Usage:\n x\n\nDoes.", "NAME\nx - y\nSYNOPSIS\nx", "x 1.0\nUsage: x", "\x1b[1m\x1b]0;a", "N\bN\b\b",
		"x: unknown option --help", "help:\n\n", "usage\nusage\nusage", "Usage: x\n  or: x\n", "\xff\xfe", "x [",
	} {
		f.Add(seed, "x")
	}
	f.Add("usage", "usage")
	f.Fuzz(func(t *testing.T, help, name string) {
		if _, err := tool.ParseName(name); err != nil {
			return
		}
		d, ok := discovery.Describe(help, tool.Name(name))
		if !ok {
			if d != (tool.Description{}) {
				t.Errorf("nothing read, and yet %+v", d)
			}
			return
		}
		checkLine(t, d.Essence)
		checkLine(t, d.Usage)
		if d.Essence == "" || strings.HasPrefix(strings.ToLower(d.Essence), "usage") {
			t.Errorf("essence %q", d.Essence)
		}
	})
}

// checkLine: what leaves this package is one line of valid UTF-8 without
// control characters, and of bounded length.
func checkLine(t *testing.T, s string) {
	t.Helper()
	bad := func(r rune) bool { return r < ' ' || r >= 0x7f && r <= 0x9f || r == 0x2028 || r == 0x2029 }
	if !utf8.ValidString(s) || strings.ContainsFunc(s, bad) || len(s) > 1000 || s != strings.TrimSpace(s) {
		t.Errorf("not a clean line: %q", s)
	}
}
