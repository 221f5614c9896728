package search

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// glob chooses files by name.
type glob struct {
	re      *regexp.Regexp
	exclude bool // "!": what does not match is chosen
	byPath  bool // matched against the path below the folder searched, not the bare name
	subtree bool // ends in /**: whole folders can be told at their door
}

// parseGlob reads *, ?, [...], {a,b} and, between slashes, **. A glob with a
// slash is for the path below the folder that is searched, one without for
// the file's name. A leading "!" turns it round.
func parseGlob(text string) (*glob, error) {
	if text == "" {
		return nil, nil
	}
	g := &glob{}
	text, g.exclude = strings.CutPrefix(text, "!")
	g.byPath = strings.Contains(text, "/")
	text = strings.TrimPrefix(text, "/")
	g.subtree = strings.HasSuffix(text, "/**")
	expression, err := globExpression(text)
	if err != nil {
		return nil, err
	}
	if g.re, err = regexp.Compile(`^(?s:` + expression + `)$`); err != nil {
		return nil, fmt.Errorf("%q is no usable pattern for names", text)
	}
	return g, nil
}

func globExpression(text string) (string, error) {
	if text == "" {
		return "", errors.New("it is empty")
	}
	var b strings.Builder
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case strings.HasPrefix(text[i:], "**/") && (i == 0 || text[i-1] == '/'):
			b.WriteString(`(?:.*/)?`)
			i += 2
		case text[i:] == "**" && i > 0 && text[i-1] == '/':
			b.WriteString(`.*`)
			i++
		case c == '*':
			b.WriteString(`[^/]*`)
		case c == '?':
			b.WriteString(`[^/]`)
		case c == '[':
			class, n, err := globClass(text[i:])
			if err != nil {
				return "", err
			}
			b.WriteString(class)
			i += n - 1
		case c == '{':
			depth++
			b.WriteString(`(?:`)
		case c == ',' && depth > 0:
			b.WriteString(`|`)
		case c == '}' && depth > 0:
			depth--
			b.WriteString(`)`)
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteString(regexp.QuoteMeta(text[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(text[i : i+1]))
		}
	}
	if depth > 0 {
		return "", errors.New("a { is not closed")
	}
	return b.String(), nil
}

// globClass translates [...] at the beginning of text and returns its length.
func globClass(text string) (string, int, error) {
	start, negate := 1, ""
	if len(text) > 1 && (text[1] == '!' || text[1] == '^') {
		start, negate = 2, "^/"
	}
	// "]" is an ordinary member when it stands first.
	from := min(start+1, len(text))
	n := strings.IndexByte(text[from:], ']')
	if n < 0 {
		return "", 0, errors.New("a [ is not closed")
	}
	end := from + n
	body := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `^`, `\^`).Replace(text[start:end])
	return "[" + negate + body + "]", end + 1, nil
}

// chooses says whether the file at rel, its path below the folder searched, is wanted.
func (g *glob) chooses(rel string) bool {
	if g == nil {
		return true
	}
	return g.matches(rel) != g.exclude
}

func (g *glob) matches(rel string) bool {
	if !g.byPath {
		rel = rel[strings.LastIndexByte(rel, '/')+1:]
	}
	return g.re.MatchString(rel)
}

// skips says that nothing below the folder at rel is wanted.
func (g *glob) skips(rel string) bool {
	return g != nil && g.exclude && g.subtree && g.matches(rel+"/\x00")
}
