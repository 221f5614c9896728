package discovery

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// saysUsage: the line calls itself usage, in any letter case, also behind the
// program's name ("zdump: usage: zdump ..."), as syntax, or in the user's
// language: one word, a colon, the tool's name.
func saysUsage(text, name string) bool {
	text = cutName(text, name)
	if hasFold(text, "usage") || hasFold(text, "syntax:") {
		return true
	}
	word, rest, found := strings.Cut(text, ":")
	word = strings.TrimRightFunc(word, unicode.IsSpace)
	return found && word != name && name != "" && isWord(word) && firstWordIs(strings.TrimSpace(rest), name)
}

// cutName drops a leading "NAME: ".
func cutName(text, name string) string {
	if rest, ok := strings.CutPrefix(text, name+": "); ok {
		return rest
	}
	return text
}

func isLoneUsage(text string) bool {
	word := strings.TrimRight(text, ": ")
	return strings.EqualFold(word, "usage") || strings.EqualFold(word, "syntax")
}

// synopsisName is the program's own name in a usage line, which may differ
// from the tool's name.
func synopsisName(usage string) string {
	_, rest, found := strings.Cut(usage, ":")
	if !found {
		rest = usage
	}
	word, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	return word
}

// isSynopsis: the program's name, then what only a synopsis has after a name:
// an option, a bracket, a placeholder in capitals.
func isSynopsis(text, name string) bool {
	if name == "" || !firstWordIs(text, name) {
		return false
	}
	rest := strings.TrimSpace(text[len(name):])
	word, _, _ := strings.Cut(rest, " ")
	switch {
	case word == "":
		return false
	case strings.ContainsRune("[<{", rune(word[0])):
		return true
	case word[0] == '-':
		return len(word) > 1 && word != "--" // a dash alone introduces an essence
	}
	return strings.HasSuffix(word, "...") || isPlaceholder(word) && !slices.ContainsFunc(strings.Fields(rest), isPlainWord)
}

func isPlaceholder(word string) bool {
	return len(word) > 1 && strings.ToUpper(word) == word && strings.ContainsFunc(word, unicode.IsLetter)
}

// isPlainWord: a word of prose ("JSON formatter" is no synopsis).
func isPlainWord(word string) bool {
	return len(word) > 1 && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLower(r) })
}

// lazily compiles an expression when it is first needed: most runs of snens
// describe no tool, and compiling all of these takes a third of a millisecond.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// optionsSynopsis is a synopsis under another name than the tool's.
var optionsSynopsis = lazily(`^[A-Za-z0-9_.-]+ \[(?i:options?)\b`)

var alternative = lazily(`^(?i:or)\b[ :]`)

// isAlternative: "or: cp [OPTION]... DIRECTORY".
func isAlternative(text string) bool { return alternative().MatchString(text) }

// isProse: a line that can be an essence. It begins with a letter and is none
// of the things that surround descriptions: headings, names of authors.
func isProse(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(first) && !isHeading(text) && !author().MatchString(text)
}

var author = lazily(`<[^<> ]+@[^<> ]+>`)

// isOption: a line of the table of options, commands or arguments.
func isOption(l line) bool { return l.row || hasDash(l.text) }

func hasDash(text string) bool { return strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") }

var stockOption = lazily(`^(-[hV?],? )?--(help|version)\b`)

// isStockOption: --help and --version, which coreutils lists above the text.
func isStockOption(text string) bool { return stockOption().MatchString(text) }

var headingWords = []string{
	"options", "option", "commands", "command", "arguments", "argument", "flags", "parameters",
	"where", "positional", "optional", "examples", "example", "subcommands", "available", "valid",
}

// isHeading: a short line that ends in a colon, or one of the usual headings.
func isHeading(text string) bool {
	words := strings.Fields(text)
	first := strings.ToLower(strings.TrimRight(words[0], ":"))
	if strings.HasSuffix(text, ":") {
		return len(words) <= 4 || slices.Contains(headingWords, first)
	}
	last := strings.ToLower(words[len(words)-1])
	return len(words) == 1 && !strings.HasSuffix(text, ".") ||
		len(words) <= 3 && (slices.Contains(headingWords, first) || slices.Contains(headingWords, last)) ||
		first == "where" || strings.ToUpper(text) == text
}

var legalMarks = []string{
	"copyright", "(c) ", "license", "licence", "warranty", "free software", "all rights reserved", "©",
}

func isLegal(text string) bool {
	low := strings.ToLower(text)
	return slices.ContainsFunc(legalMarks, func(m string) bool { return strings.Contains(low, m) })
}

// advice: beginnings of lines that speak of help, bugs and options in general.
var advice = []string{
	"try ", "try: ", "report ", "for more ", "for complete ", "for detailed ", "for further ", "see ",
	"type ", "run '", "run `", "run \"", "use '", "use `", "use \"", "use the ", "mandatory arguments", "mandatory or optional",
	"this is not the full help", "this program built", "the following ", "for bug ", "if no ", "full documentation", "more information", "please report", "please see", "home page", "homepage",
	"email bug", "mail bug", "send bug", "by default,", "options are", "options may", "options include", "the options are",
	"available options", "valid options",
}

func isAdvice(text string) bool {
	low := strings.ToLower(text)
	return slices.ContainsFunc(advice, func(a string) bool { return strings.HasPrefix(low, a) })
}

// isLabelled: "PYTHONPATH: a list of folders", "arg ...: arguments".
func isLabelled(text string) bool {
	words := strings.Fields(text)
	for _, w := range words[:min(2, len(words))] {
		if len(w) >= 1 && strings.HasSuffix(w, ":") {
			return true
		}
	}
	return false
}

var (
	versionToken = lazily(`^[vV]?[0-9]+(\.[0-9]+)+\S*$`)
	parentheses  = lazily(`\([^()]*\)`)
)

// isBanner: nothing but a name and a version number, or a line with ornaments.
func isBanner(text string) bool {
	if strings.HasPrefix(text, "***") || strings.HasPrefix(text, "===") {
		return true
	}
	words, versions := 0, 0
	for w := range strings.FieldsSeq(parentheses().ReplaceAllString(text, " ")) {
		w = strings.Trim(w, ",;")
		switch {
		case versionToken().MatchString(w):
			versions++
		case w == "", strings.EqualFold(w, "version"), strings.EqualFold(w, "release"), w == "GNU":
		default:
			words++
		}
	}
	return versions == 1 && words <= 2
}

var complaint = lazily(`(?i)\b(un(known|recogni[sz]ed|supported|expected)|invalid|illegal|bad|no such|unable|can ?not|can't|could not|couldn't|not (a|an|found)|error|fail)`)

// isComplaint: an error message about the option that the program was given.
func isComplaint(text string) bool {
	return strings.Contains(text, "-help") && complaint().MatchString(text)
}

var pageTitle = lazily(`^([A-Za-z0-9_.:+-]+\([0-9][a-z]*\)) .*`)

func isPageTitle(text string) bool { return pageTitle().MatchString(text) }

// wantsStdin: the word stdin in either line. A hyphen belongs to a word, so
// the option --stdin does not count; nor does STDIN, which is prose.
func wantsStdin(lines ...string) bool {
	return slices.ContainsFunc(lines, func(s string) bool {
		return slices.ContainsFunc(strings.FieldsFunc(s, func(r rune) bool {
			return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}), func(w string) bool { return w == "stdin" })
	})
}

func isWord(s string) bool {
	return s != "" && utf8.RuneCountInString(s) <= 20 && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && r != ' ' && r != '\''
	})
}

func firstWordIs(text, name string) bool {
	rest, ok := strings.CutPrefix(text, name)
	return ok && name != "" && (rest == "" || rest[0] == ' ')
}

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
