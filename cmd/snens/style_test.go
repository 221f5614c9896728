package main

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	rows := []row{
		{cells: []string{"a", "first"}},
		{cells: []string{"größer", "zweite Zeile, die zu lang ist"}},
		{cells: []string{"", "x"}},
	}
	var plain strings.Builder
	style{}.table(&plain, rows)
	const want = "a       first\ngrößer  zweite Zeile, die zu lang ist\n        x\n"
	if plain.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", plain.String(), want)
	}
	var narrow strings.Builder
	style{width: 20}.table(&narrow, rows)
	const cutShort = "a       first\ngrößer  zweite Zeil…\n        x\n"
	if narrow.String() != cutShort {
		t.Errorf("got:\n%s\nwant:\n%s", narrow.String(), cutShort)
	}
}

func TestOnlyTheFirstCellIsPainted(t *testing.T) {
	s := style{color: true}
	var out strings.Builder
	s.table(&out, []row{{[]string{"ab", "c"}, s.good}, {[]string{"abcd", "e"}, s.bad}})
	const want = "\x1b[32mab\x1b[0m    c\n\x1b[31mabcd\x1b[0m  e\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestColorsNeedATerminal(t *testing.T) {
	r := newRunner(t)
	a := &app{stdout: r.stdout}
	if s := a.newStyle(); s.color || s.width != 0 {
		t.Errorf("a file got the style %+v", s)
	}
	if got := (style{}).good("x"); got != "x" {
		t.Errorf("plain style painted: %q", got)
	}
}
