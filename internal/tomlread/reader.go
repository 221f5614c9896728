package tomlread

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"snens/internal/escape"
)

// Fault is one thing that is wrong in a file.
type Fault struct {
	File         string
	Line, Column int // from 1; columns count characters; 0 = the file as a whole
	Text         string
}

func (f *Fault) Error() string {
	if f.Line == 0 {
		return f.File + ": " + f.Text
	}
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Text)
}

// Reader knows where everything in one text is, and collects faults.
type Reader struct {
	file   string
	text   string
	places places
	faults []*Fault
}

// Open parses text, which came from file. The error is a *Fault where the
// library says what is wrong with the text; it repeats no value.
func Open(file, text string) (*Reader, map[string]any, error) {
	text = strings.TrimPrefix(text, "\ufeff") // as the library does
	values, err := parse(text)
	if err != nil {
		var p toml.ParseError
		if !errors.As(err, &p) {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		line, column := lineColumn(text, place(p.Position.Start))
		return nil, nil, &Fault{file, line, column, withoutText(p.Message)}
	}
	return &Reader{file: file, text: text, places: scan(text)}, values, nil
}

// parse turns the library's panics, if an input should find one, into errors.
func parse(text string) (values map[string]any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("cannot be parsed: %v", r)
		}
	}()
	err = toml.Unmarshal([]byte(text), &values)
	return values, err
}

// Fail notes a fault of the value at path.
func (r *Reader) Fail(path []string, format string, args ...any) {
	r.failAt(r.find(path).value, "%s: %s", KeyText(path), fmt.Sprintf(format, args...))
}

// FailKey notes a fault of the key at path.
func (r *Reader) FailKey(path []string, format string, args ...any) {
	r.failAt(r.find(path).key, "%s: %s", KeyText(path), fmt.Sprintf(format, args...))
}

// Unknown notes that the last key of path is none of names.
func (r *Reader) Unknown(path, names []string) {
	hint := ""
	if near := nearest(path[len(path)-1], names); near != "" {
		hint = fmt.Sprintf(" (did you mean %s?)", near)
	}
	r.failAt(r.find(path).key, "unknown key %s%s; known here: %s", KeyText(path), hint, strings.Join(names, ", "))
}

// WrongType notes that the value v at path is not what is wanted, "a string".
func (r *Reader) WrongType(path []string, want string, v any) {
	r.Fail(path, "must be %s, not %s", want, typeName(v))
}

func (r *Reader) failAt(at place, format string, args ...any) {
	line, column := lineColumn(r.text, at)
	r.faults = append(r.faults, &Fault{r.file, line, column, fmt.Sprintf(format, args...)})
}

// Where is the line and the column of the key at path.
func (r *Reader) Where(path []string) (line, column int) {
	return lineColumn(r.text, r.find(path).key)
}

// Origin is Where as FILE:LINE:COLUMN.
func (r *Reader) Origin(path []string) string {
	line, column := r.Where(path)
	return fmt.Sprintf("%s:%d:%d", r.file, line, column)
}

// Count is how many faults were noted so far.
func (r *Reader) Count() int { return len(r.faults) }

// Faults returns what was noted, in the order of the file.
func (r *Reader) Faults() []*Fault {
	slices.SortStableFunc(r.faults, compareFaults)
	return r.faults
}

func compareFaults(a, b *Fault) int {
	if a.Line != b.Line {
		return a.Line - b.Line
	}
	return a.Column - b.Column
}

// Join makes one error of several lines of the faults, nil when there are none.
// Those beyond most are only counted.
func Join(faults []*Fault, most int) error {
	var errs []error
	for i, f := range faults {
		if i == most {
			errs = append(errs, fmt.Errorf("and %d more", len(faults)-most))
			break
		}
		errs = append(errs, f)
	}
	return errors.Join(errs...)
}

// find returns the place of the nearest part of path that has one.
func (r *Reader) find(path []string) (p struct{ key, value place }) {
	for n := len(path); n > 0; n-- {
		if p, ok := r.places[pathKey(path[:n])]; ok {
			return p
		}
	}
	return p
}

func typeName(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case int64:
		return "an integer"
	case float64:
		return "a float"
	case bool:
		return "a boolean"
	case time.Time:
		return "a date or time"
	case map[string]any:
		return "a table"
	}
	return "a list"
}

// KeyText prints a path of keys: tool.grep.limits, tools_dir[0].
func KeyText(path []string) string {
	return escape.Line(strings.ReplaceAll(strings.Join(path, "."), ".[", "["))
}

// Child is path with name behind it, in memory of its own.
func Child(path []string, name string) []string {
	return append(append([]string(nil), path...), name)
}

// Item is the path of an item of the list at path.
func Item(path []string, i int) []string {
	return Child(path, "["+strconv.Itoa(i)+"]")
}
