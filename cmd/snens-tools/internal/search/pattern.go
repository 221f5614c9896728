package search

import (
	"bytes"
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// pattern decides whether a line matches, and where.
type pattern struct {
	re    *regexp.Regexp
	group int // which group of re is the match itself
	// literals: every matching line holds one of them. Empty: nothing is known.
	literals []string
	fold     bool     // the literals are meant in upper and lower case alike
	quick    [][]byte // the literals when they can be looked for as they are
	ascii    [][]byte // likewise, in lower case where fold is set; empty when that takes more than ASCII
	longest  int      // of ascii
}

// Bounds of a pattern.
const (
	maxPattern  = 10_000
	maxLiterals = 16
)

// compile reads a regular expression in Go's syntax (RE2).
func compile(text string, word bool) (*pattern, error) {
	if len(text) > maxPattern {
		return nil, errors.New("the pattern is too long")
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		var detail *syntax.Error
		if errors.As(err, &detail) {
			return nil, errors.New(detail.Code.String() + ": " + detail.Expr)
		}
		return nil, err
	}
	p := &pattern{}
	p.literals, p.fold = required(tree)
	p.prepare()
	if word {
		const edge = `[^\pL\pN\pM_]`
		text = `(?:^|` + edge + `)(` + text + `)(?:$|` + edge + `)`
		p.group = 1
	}
	if p.re, err = regexp.Compile(text); err != nil {
		return nil, err
	}
	return p, nil
}

// prepare derives from the literals what can be compared byte by byte.
func (p *pattern) prepare() {
	foreign := false
	for _, l := range p.literals {
		b := []byte(l)
		if p.fold {
			foreign = foreign || bytes.ContainsFunc(b, func(r rune) bool { return r >= utf8.RuneSelf })
			b = lower(b)
		} else {
			p.quick = append(p.quick, b)
		}
		p.ascii = append(p.ascii, b)
		p.longest = max(p.longest, len(b))
	}
	if foreign {
		p.ascii = nil
	}
}

// find returns the range of the first match in line, or nil.
func (p *pattern) find(line []byte) []int {
	if !p.possible(line) {
		return nil
	}
	if p.group == 0 {
		return p.re.FindIndex(line)
	}
	at := p.re.FindSubmatchIndex(line)
	if at == nil {
		return nil
	}
	return at[2*p.group : 2*p.group+2]
}

// possible is a quick look before the regular expression.
func (p *pattern) possible(line []byte) bool {
	for _, l := range p.quick {
		if bytes.Contains(line, l) {
			return true
		}
	}
	return len(p.quick) == 0
}

// required finds literal texts of which each match of the tree holds at least
// one, none when it cannot tell. They are what another program can look for
// without knowing our syntax. fold says that at least one is to be found
// whatever its case.
func required(tree *syntax.Regexp) (literals []string, fold bool) {
	switch tree.Op {
	case syntax.OpLiteral:
		text := string(tree.Rune)
		// A byte that is not UTF-8 reads as U+FFFD here, and nowhere else.
		if strings.ContainsRune(text, utf8.RuneError) || strings.ContainsRune(text, '\n') {
			return nil, false
		}
		return []string{text}, tree.Flags&syntax.FoldCase != 0
	case syntax.OpCapture, syntax.OpPlus:
		return required(tree.Sub[0])
	case syntax.OpRepeat:
		if tree.Min > 0 {
			return required(tree.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range tree.Sub {
			if l, f := required(sub); shortest(l) > shortest(literals) {
				literals, fold = l, f
			}
		}
		return literals, fold
	case syntax.OpAlternate:
		for _, sub := range tree.Sub {
			l, f := required(sub)
			if len(l) == 0 || len(literals)+len(l) > maxLiterals {
				return nil, false
			}
			literals, fold = append(literals, l...), fold || f
		}
		return literals, fold
	}
	return nil, false
}

// shortest is the length of the shortest literal, -1 when there is none: the
// longer it is, the fewer files hold it by chance.
func shortest(literals []string) int {
	least := -1
	for _, l := range literals {
		if least < 0 || len(l) < least {
			least = len(l)
		}
	}
	return least
}
