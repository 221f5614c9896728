package discovery

import (
	"cmp"
	"strings"

	"snens/supervisor/tool"
)

// Describe reads essence and usage from what `NAME --help` printed or from
// help.txt. It is pure; false means that the text holds nothing at all. The
// caller sets Source.
//
// The contract is: the first non-empty line is the essence, the second the
// usage. Text that visibly begins otherwise is read for what it is:
//
//   - a usage line first ("Usage: ls [OPTION]...", "ls [OPTION]...", or a lone
//     "Usage:" joined with the line below): the essence is the first later
//     line of prose, else the name;
//   - a bare version line, when a usage line follows further down: the same,
//     but the version line is the essence where there is no prose;
//   - a manual page: the lines below NAME and SYNOPSIS;
//   - a complaint about the option --help: it is passed over.
//
// An essence never begins with the word usage.
func Describe(text string, name tool.Name) (tool.Description, bool) {
	lines := cleanLines(text)
	if len(lines) == 0 {
		return tool.Description{}, false
	}
	r := reader{lines: lines, name: string(name)}
	essence, usage := r.read()
	if essence == "" || hasFold(essence, "usage") {
		essence = fallbackEssence(name)
	}
	return tool.Description{Essence: essence, Usage: usage, NeedsStdin: wantsStdin(essence, usage)}, true
}

// fallbackEssence is what stands for a tool that says nothing about itself.
func fallbackEssence(name tool.Name) string {
	if hasFold(string(name), "usage") {
		return "tool " + string(name)
	}
	return string(name)
}

type reader struct {
	lines   []line
	name    string
	program string // the name that the usage gives, "" when not read yet
}

// read returns essence ("" when nothing serves) and usage.
func (r reader) read() (essence, usage string) {
	if essence, usage, ok := r.manual(); ok {
		return essence, usage
	}
	first := 0
	for first < len(r.lines) && isComplaint(r.lines[first].text) {
		first++
	}
	if first == len(r.lines) {
		return "", ""
	}
	if r.isUsage(first) || optionsSynopsis().MatchString(r.lines[first].text) {
		return r.usageFirst(first)
	}
	later := r.nextUsage(first + 1)
	switch l := r.lines[first].text; {
	case later >= 0 && isBanner(l):
		essence, usage := r.usageFirst(later)
		return cmp.Or(r.prose(first+1, later), essence, l), usage
	case strings.HasSuffix(l, ":") && isHeading(l):
		return r.prose(first+1, len(r.lines)), ""
	}
	return r.lines[first].text, r.contractUsage(first+1, later)
}

// contractUsage is the second line, except where that is prose and a line
// that calls itself usage stands below it.
func (r reader) contractUsage(second, later int) string {
	switch {
	case second >= len(r.lines):
		return ""
	case later >= 0 && !firstWordIs(r.lines[second].text, r.name):
		usage, _ := r.joined(later)
		return usage
	}
	return r.lines[second].text
}

// usageFirst reads text whose usage is line u: the essence comes after it.
func (r reader) usageFirst(u int) (essence, usage string) {
	usage, next := r.joined(u)
	for next < len(r.lines) && r.continues(next, u) {
		next++
	}
	r.program = synopsisName(usage)
	return r.prose(next, len(r.lines)), usage
}

// continues: line i wraps the synopsis of line u, or is another form of it. An
// option there belongs to the synopsis when it stands below its arguments.
func (r reader) continues(i, u int) bool {
	l := r.lines[i]
	deeper := l.indent - r.lines[u].indent
	return l.para == r.lines[i-1].para && deeper > 0 && (!hasDash(l.text) || deeper >= len("usage: "))
}

// prose returns the first line in [from, to) that can be an essence. The
// search ends at the first option or table row: prose below those explains
// single options, as the help of curl, dpkg or sed shows.
func (r reader) prose(from, to int) string {
	skip := -1 // paragraph that continues a line which is no prose
	for i := from; i < to; i++ {
		l := r.lines[i]
		switch {
		case isStockOption(l.text), isAlternative(l.text):
		case isOption(l):
			return ""
		case l.para == skip:
		case isAdvice(l.text), isLegal(l.text), isLabelled(l.text):
			skip = l.para
		case !isProse(l.text), isBanner(l.text), r.isUsage(i), isSynopsis(l.text, r.program):
		default:
			return l.text
		}
	}
	return ""
}

// joined returns the usage that begins at line u, a lone "Usage:" with the
// line below it, and the index of the line after.
func (r reader) joined(u int) (usage string, next int) {
	l := r.lines[u].text
	if !isLoneUsage(l) || u+1 >= len(r.lines) {
		return l, u + 1
	}
	if !strings.HasSuffix(l, ":") {
		l += ":"
	}
	return cutLine(l + " " + r.lines[u+1].text), u + 2
}

func (r reader) nextUsage(from int) int {
	for i := from; i < len(r.lines); i++ {
		if saysUsage(r.lines[i].text, r.name) {
			return i
		}
	}
	return -1
}

// isUsage: line i gives the usage, with or without the word.
func (r reader) isUsage(i int) bool {
	return saysUsage(r.lines[i].text, r.name) || isSynopsis(r.lines[i].text, r.name)
}

// manual reads a formatted manual page: a heading NAME, later SYNOPSIS.
func (r reader) manual() (essence, usage string, ok bool) {
	at := 0
	if len(r.lines) > 1 && isPageTitle(r.lines[0].text) {
		at = 1
	}
	if at+1 >= len(r.lines) || r.lines[at].text != "NAME" {
		return "", "", false
	}
	essence = r.lines[at+1].text
	for i := at + 2; i+1 < len(r.lines); i++ {
		if t := r.lines[i].text; t == "SYNOPSIS" || t == "USAGE" {
			return essence, r.lines[i+1].text, true
		}
	}
	return essence, "", true
}
