package nspawn

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// A page is run as its readers would do what it shows. Its fenced blocks:
//
//	```toml /etc/snens/priv.d/x.toml     a file that root writes
//	```sh /usr/local/bin/x               a program that root writes
//	```console                           commands and what they print
//	```console waits                     the last command goes on: it waits for somebody
//	```console types WORD                at a terminal; WORD is typed where the block shows it
//
// In a console block a command stands behind its user's prompt: "# " is root's,
// "agent$ " is agent's. What follows, to the next prompt, is what it prints: all of
// it, or with a line "..." for any lines, and " ..." for the rest of a line. A command fails only where the next
// one is "echo $?". Lines before the first prompt are what the command of this
// user that waits prints in the end. Ids, digests, times and durations are
// other ones each time; a word of that kind stands for one and the same from
// where it is printed first, in commands too. Blocks of other kinds are not run.
type block struct {
	line  int // of the page
	kind  string
	info  []string // the words after the kind
	lines []string
}

// step is one command of a console block.
type step struct {
	line    int
	user    string // "" for output without a command
	command string
	prints  []string
}

func readBlocks(t *testing.T, page string) []block {
	t.Helper()
	text, err := os.ReadFile(page)
	must(t, err)
	var blocks []block
	var open *block
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case open != nil && line == "```":
			blocks, open = append(blocks, *open), nil
		case open != nil:
			open.lines = append(open.lines, line)
		case strings.HasPrefix(line, "```"):
			words := strings.Fields(line[3:])
			if len(words) == 0 {
				words = []string{""}
			}
			open = &block{line: i + 1, kind: words[0], info: words[1:]}
		}
	}
	if open != nil {
		t.Fatalf("%s:%d: the block has no end", page, open.line)
	}
	return blocks
}

var promptForm = regexp.MustCompile(`^(?:(#)|([a-z]+)\$) (.*)$`)

// steps reads a console block; output that comes first has no command.
func (b *block) steps() []step {
	var steps []step
	more := false
	for i, line := range b.lines {
		m := promptForm.FindStringSubmatch(line)
		switch {
		case more:
			last := &steps[len(steps)-1]
			last.command += "\n" + line
			more = strings.HasSuffix(line, `\`)
		case m != nil:
			user := m[2]
			if m[1] == "#" {
				user = "root"
			}
			steps = append(steps, step{line: b.line + 1 + i, user: user, command: m[3]})
			more = strings.HasSuffix(line, `\`)
		default:
			if len(steps) == 0 {
				steps = append(steps, step{line: b.line + 1 + i})
			}
			last := &steps[len(steps)-1]
			last.prints = append(last.prints, line)
		}
	}
	return steps
}

// free are the words that differ from run to run. What comes first wins.
var free = regexp.MustCompile(strings.Join([]string{
	`\b[a-z2-7]{26}\b`, // id of a request
	`\b[0-9a-f]{64}\b`, // digest
	`\b[0-9a-f]{12}\b`, // its beginning
	`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z| UTC)?\b`, // instant
	`\b\d\d:\d\d:\d\d(?:\.\d+)?\b`,                                    // time of day
	`\b(?:\d+(?:\.\d+)?(?:ms|s|m|h))+\b`,                              // duration
}, "|"))

// kinds of the words of free that stand for one thing from where they are first.
var lasting = regexp.MustCompile(`^(?:[a-z2-7]{26}|[0-9a-f]{64}|[0-9a-f]{12})$`)

// bindings are what the page's words stand for in this run.
type bindings map[string]string

// in writes this run's words into a command.
func (b bindings) in(text string) string {
	return free.ReplaceAllStringFunc(text, func(word string) string {
		if real, ok := b[word]; ok {
			return real
		}
		return word
	})
}

// pattern makes a regular expression of lines that a command is to print, and
// lists the page's words that it finds.
func (b bindings) pattern(lines []string) (expr string, words []string) {
	var p strings.Builder
	for _, line := range lines {
		if strings.TrimSpace(line) == "..." {
			p.WriteString(`(?:[^\n]*\n)*?`)
			continue
		}
		at := 0
		for _, span := range free.FindAllStringIndex(line, -1) {
			word := line[span[0]:span[1]]
			p.WriteString(regexp.QuoteMeta(line[at:span[0]]))
			real, bound := b[word]
			switch {
			case bound:
				p.WriteString(regexp.QuoteMeta(real))
			case lasting.MatchString(word):
				p.WriteString("(" + kindOf(word) + ")")
				words = append(words, word)
			default:
				p.WriteString("(?:" + free.String() + ")")
			}
			at = span[1]
		}
		rest := regexp.QuoteMeta(line[at:])
		if cut, ok := strings.CutSuffix(line[at:], " ..."); ok {
			rest = regexp.QuoteMeta(cut) + ` [^\n]*`
		}
		p.WriteString(rest + `[ \t]*\n`)
	}
	return p.String(), words
}

func kindOf(word string) string {
	switch len(word) {
	case 26:
		return `[a-z2-7]{26}`
	case 64:
		return `[0-9a-f]{64}`
	}
	return `[0-9a-f]{12}`
}

// match compares what was printed with what the page shows, to its end when
// whole, and learns what the page's words stand for.
func (b bindings) match(printed string, lines []string, whole bool) bool {
	expr, words := b.pattern(lines)
	if whole {
		expr += `\z`
	}
	found := regexp.MustCompile(`\A` + expr).FindStringSubmatch(printed)
	if found == nil {
		return false
	}
	for i, word := range words {
		if real, ok := b[word]; ok && real != found[i+1] {
			return false
		}
		b[word] = found[i+1]
	}
	return true
}

func TestPagesAreReadRight(t *testing.T) {
	b := block{line: 10, kind: "console", lines: []string{
		"the end", "# id -u", "0", `agent$ one \`, "  two", "...", "id abcdefghijklmnopqrstuvwxyz took 5s",
	}}
	steps := b.steps()
	if len(steps) != 3 || steps[0].user != "" || steps[1].user != "root" || steps[2].command != "one \\\n  two" || steps[2].line != 14 {
		t.Fatalf("got %+v", steps)
	}
	words := bindings{}
	const real = "zyxwvutsrqponmlkjihgfedcba"
	if !words.match("a\nb\nid "+real+" took 12.5ms\n", steps[2].prints, true) {
		t.Error("the output does not match")
	}
	if got := words.in("show abcdefghijklmnopqrstuvwxyz"); got != "show "+real {
		t.Errorf("got %q", got)
	}
	for _, other := range []string{"id bbxwvutsrqponmlkjihgfedcba took 1s\n", "id " + real + " took 1s\nmore\n", "id " + real + " took long\n"} {
		if words.match(other, steps[2].prints, true) {
			t.Errorf("%q matches", other)
		}
	}
}
