package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// style is how the output looks: plain unless stdout is a terminal.
type style struct {
	color bool
	width int // columns of the terminal, 0 = no limit
}

func (a *app) newStyle() style {
	if !isTerminal(a.stdout) {
		return style{}
	}
	s := style{color: !a.noColor && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb"}
	if width, _, err := term.GetSize(int(a.stdout.Fd())); err == nil {
		s.width = width
	}
	return s
}

func isTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

func (s style) paint(code, text string) string {
	if !s.color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) strong(text string) string { return s.paint("1", text) }
func (s style) good(text string) string   { return s.paint("32", text) }
func (s style) bad(text string) string    { return s.paint("31", text) }
func (s style) faint(text string) string  { return s.paint("2", text) }

// row is one line of a table: cells of plain text, the first one painted.
type row struct {
	cells []string
	paint func(string) string
}

// table prints rows in columns. The last column is cut at the edge of a
// terminal. Cells must be safe to show.
func (s style) table(out io.Writer, rows []row) {
	var widths []int
	for _, r := range rows {
		for i, cell := range r.cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, r := range rows {
		var line strings.Builder
		used := 0
		for i, cell := range r.cells {
			last := i == len(r.cells)-1
			if last && s.width > 0 {
				cell = cut(cell, s.width-used)
			}
			pad := ""
			if !last {
				pad = strings.Repeat(" ", widths[i]+2-utf8.RuneCountInString(cell))
			}
			used += widths[i] + 2
			if i == 0 && r.paint != nil {
				cell = r.paint(cell)
			}
			line.WriteString(cell + pad)
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
}

// cut shortens text to width characters, the last one then being an ellipsis.
func cut(text string, width int) string {
	width = max(width, 10)
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	runes := []rune(text)
	return string(runes[:width-1]) + "…"
}
