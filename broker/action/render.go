package action

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"snens/internal/escape"
)

// The first lines. A change of the format needs a new number; limits and modes
// can be added without one, because a list names only what is set.
const (
	textVersion = "snens-request 1"
	keyVersion  = "snens-request-key 1"
)

const timeForm = "2006-01-02T15:04:05Z"

// passWords is what an approver reads where the input is not part of the request.
const passWords = "pass, input not reviewed"

// lines writes "name: value" lines.
type lines struct{ strings.Builder }

func (l *lines) line(name, value string) {
	l.WriteString(name)
	l.WriteString(": ")
	l.WriteString(value)
	l.WriteByte('\n')
}

func (l *lines) number(name string, n uint64) { l.line(name, strconv.FormatUint(n, 10)) }

// list writes how many there are, then each with its place.
func list[T any](l *lines, name string, all []T, show func(name string, item T)) {
	l.number(name, uint64(len(all)))
	for i, item := range all {
		show(fmt.Sprintf("%s[%d]", name, i), item)
	}
}

// quoted is a free text as it stands in a line. The quotes make a blank at
// either end visible; nothing but the end of the line ends the value.
func quoted(s string) string { return `"` + escape.Escape(s) + `"` }

// render is the review text of a request that check accepts.
func (r *Request) render() string {
	var l lines
	l.WriteString(textVersion + "\n")
	r.renderWhat(&l)
	r.renderStdin(&l, true)
	l.number("requester user", uint64(r.Requester.UID))
	l.number("requester group", uint64(r.Requester.GID))
	list(&l, "requester groups", r.Requester.Groups, func(name string, g GID) { l.number(name, uint64(g)) })
	l.line("rule", string(r.Rule))
	l.line("rule digest", r.RuleDigest.String())
	l.line("expires", r.Expires.Format(timeForm))
	l.line("nonce", r.Nonce.String())
	l.line("install", r.Install.String())
	return l.String()
}

// renderKey is the text behind the request key: what the review text says of
// the effect, and the rule. Who asks, when, and the nonce are not in it.
func (r *Request) renderKey() string {
	var l lines
	l.WriteString(keyVersion + "\n")
	r.renderWhat(&l)
	r.renderStdin(&l, false)
	l.line("rule digest", r.RuleDigest.String())
	return l.String()
}

func (r *Request) renderWhat(l *lines) {
	list(l, "argv", r.Argv, func(name, arg string) { l.line(name, quoted(arg)) })
	renderFile(l, "executable", r.Executable)
	list(l, "interpreters", r.Interpreters, func(name string, f File) { renderFile(l, name, f) })
	list(l, "opened", r.Opened, func(name string, f OpenedFile) {
		l.line(name, quoted(f.Path))
		l.number(name+" descriptor", uint64(f.Descriptor))
		l.number(name+" device", f.Device)
		l.number(name+" inode", f.Inode)
	})
	l.line("cwd", quoted(r.Cwd))
	list(l, "environment", r.Env, func(name string, v Var) { l.line(name, quoted(v.Name+"="+v.Value)) })
	l.line("run as user", r.RunAs.UID.String()+" "+quoted(r.RunAs.User))
	l.line("run as group", r.RunAs.GID.String()+" "+quoted(r.RunAs.Group))
	list(l, "run as groups", r.RunAs.Groups, func(name string, g GID) { l.number(name, uint64(g)) })
	l.line("umask", umaskText(r.Umask))
	l.line("timeout", FormatDuration(r.Timeout))
	list(l, "limits", r.Limits.set(), func(name string, v limitValue) { l.line(name, v.name+" "+v.text) })
	list(l, "modes", r.Modes.set(), func(name, mode string) { l.line(name, mode) })
}

func renderFile(l *lines, name string, f File) {
	l.line(name, quoted(f.Path))
	l.number(name+" device", f.Device)
	l.number(name+" inode", f.Inode)
	l.line(name+" sha256", f.SHA256.String())
}

// renderStdin shows sealed input line by line, so that a configuration file
// reads like one. Whether the last line has an end is said, not shown.
func (r *Request) renderStdin(l *lines, content bool) {
	switch r.Stdin.Mode {
	case StdinPass:
		l.line("stdin", passWords)
		return
	case StdinNone:
		l.line("stdin", "none")
		return
	}
	l.line("stdin", "sealed")
	l.number("stdin bytes", uint64(len(r.Stdin.Content)))
	l.line("stdin sha256", DigestOf(r.Stdin.Content).String())
	if !content {
		return
	}
	whole, end := strings.CutSuffix(r.Stdin.Content, "\n")
	var all []string
	if r.Stdin.Content != "" {
		all = strings.Split(whole, "\n")
	}
	list(l, "stdin lines", all, func(name, s string) { l.line(name, quoted(s)) })
	l.line("stdin end", map[bool]string{true: "newline", false: "none"}[end])
}

func umaskText(umask uint16) string { return fmt.Sprintf("%04o", umask) }

// limitValue is one limit that is set, in the fixed order of the table.
type limitValue struct{ name, text string }

var limitNames = []string{"memory", "processes", "cpu", "open_files", "file_size"}

// at is the field of the limit with that name: a *uint64 or a *time.Duration.
func (l *Limits) at(name string) any {
	return map[string]any{
		"memory": &l.Memory, "processes": &l.Processes, "cpu": &l.CPU, "open_files": &l.OpenFiles, "file_size": &l.FileSize,
	}[name]
}

func (l Limits) set() []limitValue {
	var out []limitValue
	for _, name := range limitNames {
		switch p := l.at(name).(type) {
		case *uint64:
			if *p != 0 {
				out = append(out, limitValue{name, strconv.FormatUint(*p, 10)})
			}
		case *time.Duration:
			if *p != 0 {
				out = append(out, limitValue{name, FormatDuration(*p)})
			}
		}
	}
	return out
}

var modeNames = []string{"detached", "terminal", "recorded"}

func (m *Modes) at(name string) *bool {
	return map[string]*bool{"detached": &m.Detached, "terminal": &m.Terminal, "recorded": &m.Recorded}[name]
}

func (m Modes) set() []string {
	var out []string
	for _, name := range modeNames {
		if *m.at(name) {
			out = append(out, name)
		}
	}
	return out
}
