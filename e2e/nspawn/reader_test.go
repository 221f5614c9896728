package nspawn

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// reader does on a machine what a page shows.
type reader struct {
	m       *machine
	page    string
	words   bindings
	status  map[string]int      // of each user's last command
	waiting map[string]*waiting // commands that go on
}

// waiting is a command that goes on, and what it had printed by then.
type waiting struct {
	*running
	seen []string // lines of the page
}

// follow does what the page shows, from its beginning to its end. What waits then
// is ended with the test.
func follow(t *testing.T, m *machine, page string) {
	t.Helper()
	followTo(t, m, page, func(*block) bool { return false })
}

// followTo does so up to the first block for which end is true.
func followTo(t *testing.T, m *machine, page string, end func(*block) bool) {
	t.Helper()
	r := &reader{m: m, page: page, words: bindings{}, status: map[string]int{}, waiting: map[string]*waiting{}}
	ran := 0
	for _, b := range readBlocks(t, page) {
		switch {
		case end(&b):
			return
		case len(b.info) == 1 && strings.HasPrefix(b.info[0], "/"):
			mode := map[string]os.FileMode{"sh": 0o755, "toml": 0o644}[b.kind]
			if mode == 0 {
				t.Fatalf("%s:%d: no file is made of a block of the kind %q", page, b.line, b.kind)
			}
			m.write(b.info[0], strings.Join(b.lines, "\n")+"\n", mode)
		case b.kind == "console":
			ran++
			r.console(&b)
		}
	}
	if ran == 0 {
		t.Fatalf("%s shows nothing that can be run", page)
	}
}

func (r *reader) failf(line int, format string, args ...any) {
	r.m.t.Helper()
	r.m.t.Fatalf("%s:%d: %s", r.page, line, fmt.Sprintf(format, args...))
}

func (r *reader) console(b *block) {
	r.m.t.Helper()
	steps := b.steps()
	for i, s := range steps {
		last := i == len(steps)-1
		mayFail := !last && steps[i+1].command == "echo $?"
		switch {
		case s.user == "":
			if last {
				r.failf(b.line, "whose output this is cannot be told: a prompt must follow")
			}
			r.end(steps[i+1].user, s.line, s.prints)
		case s.command == "echo $?":
			if r.waiting[s.user] != nil { // its command goes on, and prints nothing more
				r.end(s.user, s.line, nil)
			}
			if got := fmt.Sprintf("%d\n", r.status[s.user]); got != strings.Join(s.prints, "\n")+"\n" {
				r.failf(s.line, "the exit status of %s's last command is %s", s.user, got)
			}
		case last && slices.Contains(b.info, "waits"):
			r.begin(&s)
		case last && len(b.info) == 2 && b.info[0] == "types":
			r.answer(&s, b.info[1])
		default:
			r.run(&s, mayFail)
		}
	}
}

// script is the command of a step, as the user's shell would run it.
func (r *reader) script(s *step) string {
	return fmt.Sprintf("exec 2>&1; (exit %d)\n%s", r.status[s.user], r.words.in(s.command))
}

func (r *reader) run(s *step, mayFail bool) {
	r.m.t.Helper()
	o := r.m.shell(s.user, r.script(s))
	r.status[s.user] = o.status
	r.compare(s, o.all, o.status, mayFail)
}

func (r *reader) compare(s *step, printed string, status int, mayFail bool) {
	r.m.t.Helper()
	if status != 0 && !mayFail {
		r.failf(s.line, "%s: %s: exit status %d, and the page does not say so\n%s", s.user, s.command, status, printed)
	}
	if !r.words.match(printed, s.prints, true) {
		r.failf(s.line, "%s: %s: the page shows\n%s\nit printed\n%s", s.user, s.command, strings.Join(s.prints, "\n"), printed)
	}
}

// begin starts a command and waits until it has printed what the page shows.
func (r *reader) begin(s *step) {
	r.m.t.Helper()
	w := &waiting{running: r.m.begin(s.user, r.script(s)), seen: s.prints}
	expr, _ := r.words.pattern(s.prints)
	w.until(`\A` + expr)
	r.words.match(w.text(), s.prints, false)
	r.waiting[s.user] = w
}

// end waits for a user's command that went on; what it has printed since begin is
// what the page shows now.
func (r *reader) end(user string, line int, prints []string) {
	r.m.t.Helper()
	w := r.waiting[user]
	if w == nil {
		r.failf(line, "no command of %s's waits", user)
	}
	delete(r.waiting, user)
	printed, status := w.wait()
	r.status[user] = status
	if !r.words.match(printed, append(slices.Clone(w.seen), prints...), true) {
		r.failf(line, "%s: %s: the page shows\n%s\nit printed\n%s", user, w.script, strings.Join(prints, "\n"), printed)
	}
}

// answer runs a command at a terminal and types the word where the page shows it,
// at the end of a line.
func (r *reader) answer(s *step, word string) {
	r.m.t.Helper()
	at := slices.IndexFunc(s.prints, func(l string) bool { return strings.HasSuffix(l, " "+word) })
	if at < 0 {
		r.failf(s.line, "no line ends with %q", word)
	}
	asks := strings.TrimSuffix(s.prints[at], word)
	before, _ := r.words.pattern(s.prints[:at])
	prompt, _ := r.words.pattern([]string{asks})
	ctx, cancel := context.WithTimeout(context.Background(), stepLimit)
	// A tall terminal: what is longer than the screen would be shown by pages.
	cmd := r.m.inside(ctx, s.user, "stty rows 120 cols 160\n"+r.script(s), "--pty")
	run := r.m.launch(cmd, cancel, s.command)
	run.until(`\A` + before + strings.TrimSuffix(prompt, `[ \t]*\n`))
	r.words.match(run.text()+"\n", append(slices.Clone(s.prints[:at]), asks), false)
	_, err := fmt.Fprintf(run.stdin, "%s\n", r.words.in(word))
	must(r.m.t, err)
	_, status := run.wait()
	r.status[s.user] = status
	r.compare(s, run.text(), status, false)
}
