package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"snens/broker/action"
	"snens/internal/tomlread"
)

// Bounds that catch a slip of the pen.
const (
	maxAbout    = 200
	maxExamples = 64
	minMemory   = 1 << 20 // nothing starts with less
	maxMemory   = 1 << 50
	maxPIDs     = 1 << 22
	minFiles    = 16
	maxFiles    = 1 << 20
)

const (
	defaultTimeout = time.Minute
	defaultTTL     = 10 * time.Minute
	defaultUmask   = 0o022
)

var ruleKeys = []key[Rule]{
	{"id", "name", "", takeID},
	{"about", "text", "", func(d *decoder, path []string, v any, r *Rule) { d.text(path, v, maxAbout, &r.About) }},
	{"decision", "word", "", func(d *decoder, path []string, v any, r *Rule) {
		var word string
		if d.Word(path, v, []string{"allow", "ask", "deny"}, &word) {
			r.Decision = Decision(slices.Index(decisionWords, word))
		}
	}},
	{"command", "path", "", func(d *decoder, at []string, v any, r *Rule) {
		if d.String(at, v, &r.Command) && (!path.IsAbs(r.Command) || path.Clean(r.Command) != r.Command || r.Command == "/" || !d.literal(at, r.Command)) {
			d.Fail(at, "%s must be the absolute path of a program, without //, . and ..", quote(r.Command))
		}
	}},
	{"args", "list of texts and slots", "[]", takeArgs},
	{"from", "list of principals", "", func(d *decoder, path []string, v any, r *Rule) { d.principals(path, v, &r.From) }},
	{"run_as", "table", "", func(d *decoder, path []string, v any, r *Rule) {
		table(d, "run_as", path, v, runAsKeys, &r.RunAs)
	}},
	{"env", "table of texts", "", takeEnv},
	{"env_pass", "list of names", "[]", takeEnvPass},
	{"timeout", "time", `"60s"`, func(d *decoder, path []string, v any, r *Rule) { d.Duration(path, v, time.Second, &r.Timeout) }},
	{"approve", "table", "", func(d *decoder, path []string, v any, r *Rule) {
		table(d, "approve", path, v, approveKeys, &r.Approve)
	}},
	{"match", "list of lists", "[]", func(d *decoder, path []string, v any, r *Rule) { d.examples(path, v, &r.Match) }},
	{"no_match", "list of lists", "[]", func(d *decoder, path []string, v any, r *Rule) { d.examples(path, v, &r.NoMatch) }},
	{"cwd", "path", `"/"`, func(d *decoder, at []string, v any, r *Rule) {
		if d.String(at, v, &r.Cwd) && r.Cwd != CwdRequester && (!path.IsAbs(r.Cwd) || path.Clean(r.Cwd) != r.Cwd || strings.IndexByte(r.Cwd, 0) >= 0) {
			d.Fail(at, `%s must be "requester", or an absolute path without //, . and ..`, quote(r.Cwd))
		}
	}},
	{"umask", "octal text", `"0022"`, takeUmask},
	{"stdin", "word", `"none"`, func(d *decoder, path []string, v any, r *Rule) {
		var word string
		var words []string
		for _, w := range stdinWords {
			words = append(words, w.word)
		}
		if d.Word(path, v, words, &word) {
			r.Stdin = stdinWords[slices.Index(words, word)].mode
		}
	}},
	{"detach", "boolean", "false", func(d *decoder, path []string, v any, r *Rule) { d.Bool(path, v, &r.Detach) }},
	{"limits", "table", "", func(d *decoder, path []string, v any, r *Rule) {
		table(d, "limits", path, v, limitKeys, &r.Limits)
	}},
	{"sha256", "64 hexadecimal digits", "", func(d *decoder, path []string, v any, r *Rule) {
		if d.String(path, v, &r.SHA256) && !sumForm.MatchString(r.SHA256) {
			d.Fail(path, "must be 64 hexadecimal digits in lower case, as sha256sum prints them")
		}
	}},
	{"i_know", "boolean", "false", func(d *decoder, path []string, v any, r *Rule) { d.Bool(path, v, &r.IKnow) }},
}

var sumForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

var runAsKeys = []key[RunAs]{
	{"user", "name", `"root"`, func(d *decoder, path []string, v any, as *RunAs) {
		if d.String(path, v, &as.User) {
			if err := accountName(as.User); err != nil {
				d.Fail(path, "%s", err)
			}
		}
	}},
	{"group", "name", "", func(d *decoder, path []string, v any, as *RunAs) {
		if d.String(path, v, &as.Group) {
			if err := accountName(as.Group); err != nil {
				d.Fail(path, "%s", err)
			}
		}
	}},
}

var approveKeys = []key[Approve]{
	{"from", "list of principals", "", func(d *decoder, path []string, v any, a *Approve) { d.principals(path, v, &a.From) }},
	{"need", "integer", "1", func(d *decoder, path []string, v any, a *Approve) {
		if d.Integer(path, v, 1, 64, &a.Need) && a.Need > 1 {
			d.Fail(path, "%s", errMissing("more than one approver for a request"))
		}
	}},
	{"presence", "word", `"peer"`, takePresence},
	{"ttl", "time", `"10m"`, func(d *decoder, path []string, v any, a *Approve) { d.Duration(path, v, time.Second, &a.TTL) }},
	{"remember", "list of times", "[]", func(d *decoder, path []string, v any, _ *Approve) {
		if list, ok := v.([]any); !ok {
			d.WrongType(path, "a list of times", v)
		} else if len(list) > 0 {
			d.Fail(path, "%s", errMissing("an approval that is remembered"))
		}
	}},
	{"reason", "word", `"optional"`, func(d *decoder, path []string, v any, a *Approve) {
		var word string
		if d.Word(path, v, []string{"optional", "required"}, &word) {
			a.ReasonRequired = word == "required"
		}
	}},
}

var limitKeys = []key[action.Limits]{
	{"memory", "size", "", func(d *decoder, path []string, v any, l *action.Limits) {
		d.size(path, v, minMemory, maxMemory, &l.Memory)
	}},
	{"pids", "integer", "", func(d *decoder, path []string, v any, l *action.Limits) { d.count(path, v, 1, maxPIDs, &l.Processes) }},
	{"cpu", "time", "", func(d *decoder, path []string, v any, l *action.Limits) {
		d.Duration(path, v, time.Second, &l.CPU)
		if l.CPU%time.Second != 0 {
			d.Fail(path, "must be whole seconds, which is what the kernel counts")
		}
	}},
	{"open_files", "integer", "", func(d *decoder, path []string, v any, l *action.Limits) {
		d.count(path, v, minFiles, maxFiles, &l.OpenFiles)
	}},
	{"file_size", "size", "", func(d *decoder, path []string, v any, l *action.Limits) { d.size(path, v, 1, maxMemory, &l.FileSize) }},
}

// size and count take what is not negative in the vocabulary of a request.
func (d *decoder) size(path []string, v any, least, most int64, into *uint64) {
	var n int64
	d.Size(path, v, least, most, &n)
	*into = uint64(n)
}

func (d *decoder) count(path []string, v any, least, most int, into *uint64) {
	var n int
	d.Integer(path, v, least, most, &n)
	*into = uint64(n)
}

func takeID(d *decoder, path []string, v any, r *Rule) {
	var s string
	if !d.String(path, v, &s) {
		return
	}
	id, err := action.ParseRuleID(s)
	if err != nil {
		d.Fail(path, "%s", err)
		return
	}
	r.ID = id
}

// principals takes from and approve.from.
func (d *decoder) principals(path []string, v any, into *[]Principal) {
	d.Strings(path, v, new([]string), func(at []string, s string) (string, bool) {
		p, err := parsePrincipal(s, d.host.Accounts)
		if err != nil {
			d.Fail(at, "%s", err)
			return "", false
		}
		if slices.ContainsFunc(*into, func(q Principal) bool { return q.canonical() == p.canonical() }) {
			d.Fail(at, "%s stands here twice", quote(s))
			return "", false
		}
		*into = append(*into, p)
		return s, true
	})
	if list, ok := v.([]any); ok && len(list) == 0 {
		d.Fail(path, "must name somebody")
	}
}

func takePresence(d *decoder, path []string, v any, a *Approve) {
	if v == "sshsig" {
		d.Fail(path, "%s", errMissing(`presence = "sshsig", an approval by signature,`))
		return
	}
	words := []string{string(PresencePeer)}
	if d.opt.UserMode {
		words = []string{string(PresenceTTY)} // the identity of one's own uid proves nothing
	} else if v == "tty" {
		d.Fail(path, `"tty" is for --user mode; write "peer"`)
		return
	}
	d.Word(path, v, words, (*string)(&a.Presence))
}

func takeUmask(d *decoder, path []string, v any, r *Rule) {
	s, ok := v.(string)
	if !ok {
		d.WrongType(path, `an octal number as a text, "0027"`, v)
		return
	}
	if !umaskForm.MatchString(s) {
		d.Fail(path, `%s is no umask; write three octal digits after a 0, "0027"`, quote(s))
		return
	}
	r.Umask = 0
	for _, c := range s {
		r.Umask = r.Umask<<3 | uint16(c-'0')
	}
}

var umaskForm = regexp.MustCompile(`^0[0-7]{3}$`)

// examples takes match and no_match: arguments without the command.
func (d *decoder) examples(path []string, v any, into *[][]string) {
	list, ok := v.([]any)
	if !ok {
		d.WrongType(path, `a list of lists such as [["restart", "nginx.service"]]`, v)
		return
	}
	if len(list) > maxExamples {
		d.Fail(path, "must have at most %d entries", maxExamples)
		return
	}
	for i, v := range list {
		at := tomlread.Item(path, i)
		var words []string
		d.Strings(at, v, &words, func(at []string, s string) (string, bool) { return s, d.literal(at, s) })
		*into = append(*into, words)
	}
}
