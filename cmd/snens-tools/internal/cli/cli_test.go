package cli_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"snens/cmd/snens-tools/internal/cli"
)

const help = "tool — does things.\ntool <path> [--limit N] [--word] [--name S]\n\nmore\n"

type values struct {
	limit int
	word  bool
	name  string
}

func parse(args ...string) (values, []string, error) {
	var v values
	set := cli.NewSet(help)
	set.Int("limit", &v.limit, 1, 10)
	set.Bool("word", &v.word)
	set.String("name", &v.name)
	positionals, err := set.Parse(args)
	return v, positionals, err
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		args        []string
		want        values
		positionals []string
	}{
		{nil, values{}, nil},
		{[]string{"a", "b"}, values{}, []string{"a", "b"}},
		{[]string{"--limit", "3", "a"}, values{limit: 3}, []string{"a"}},
		{[]string{"a", "--limit=10", "--word"}, values{limit: 10, word: true}, []string{"a"}},
		{[]string{"--name=a=b"}, values{name: "a=b"}, nil},
		{[]string{"--name", "--word"}, values{name: "--word"}, nil},
		{[]string{"--word", "--", "--word", "--", "-x"}, values{word: true}, []string{"--word", "--", "-x"}},
		{[]string{"-"}, values{}, []string{"-"}},
		{[]string{""}, values{}, []string{""}},
	} {
		v, positionals, err := parse(c.args...)
		if err != nil || v != c.want || !slices.Equal(positionals, c.positionals) {
			t.Errorf("%q: %+v %q %v; want %+v %q", c.args, v, positionals, err, c.want, c.positionals)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	usage := "usage: tool <path> [--limit N] [--word] [--name S]"
	for _, c := range []struct {
		args          []string
		message, hint string
	}{
		{[]string{"--other"}, "unknown option --other", usage},
		{[]string{"--limti", "3"}, "unknown option --limti", "did you mean --limit? " + usage},
		{[]string{"-x"}, "unknown option -x", "a word that begins with '-' goes after --; " + usage},
		{[]string{"-word"}, "unknown option -word", "did you mean --word? " + usage},
		{[]string{"--limit"}, "--limit needs a value", usage},
		{[]string{"--limit", "0"}, `--limit must be a whole number from 1 to 10, not "0"`, usage},
		{[]string{"--limit=11"}, `--limit must be a whole number from 1 to 10, not "11"`, usage},
		{[]string{"--limit=1e1"}, `--limit must be a whole number from 1 to 10, not "1e1"`, usage},
		{[]string{"--word=yes"}, "--word takes no value", usage},
		{[]string{"--word", "--word"}, "--word is given twice", usage},
		{[]string{"--name="}, "--name must not be empty", usage},
	} {
		_, _, err := parse(c.args...)
		var e *cli.Error
		if !errors.As(err, &e) || e.Code != cli.ExitUsage || e.Message != c.message || e.Hint != c.hint {
			t.Errorf("%q: %#v; want %q, hint %q", c.args, err, c.message, c.hint)
		}
	}
}

func TestHelpBeforeTheEndOfOptionsOnly(t *testing.T) {
	if _, _, err := parse("a", "--help"); !errors.Is(err, cli.ErrHelp) {
		t.Errorf("a --help: %v; want ErrHelp", err)
	}
	if _, positionals, err := parse("--", "--help"); err != nil || !slices.Equal(positionals, []string{"--help"}) {
		t.Errorf("-- --help: %q %v", positionals, err)
	}
}

func TestOne(t *testing.T) {
	set := cli.NewSet(help)
	if path, err := set.One([]string{"a"}, "a path"); path != "a" || err != nil {
		t.Errorf("one word: %q %v", path, err)
	}
	for want, words := range map[string][]string{
		"needs a path":                               nil,
		"needs a path, not an empty word":            {""},
		`takes one argument, not 2: "b" is too many`: {"a", "b"},
	} {
		if _, err := set.One(words, "a path"); err == nil || err.Error() != want {
			t.Errorf("%q: %v; want %s", words, err, want)
		}
	}
}

func TestReport(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		text string
	}{
		{nil, 0, ""},
		{cli.Usage("do that", "no %s", "path"), 2, "x: no path\nhint: do that\n"},
		{cli.Fail("", "broken"), 1, "x: broken\n"},
		{fmt.Errorf("outer: %w", cli.Fail("h", "inner")), 1, "x: inner\nhint: h\n"},
		{errors.New("plain"), 1, "x: plain\n"},
		{&cli.Error{Code: 3}, 3, ""},
		{cli.Fail("", "a\nb\x1b[31m"), 1, "x: a\\u{a}b\\u{1b}[31m\n"},
	} {
		var out strings.Builder
		if code := cli.Report(&out, "x", c.err); code != c.code || out.String() != c.text {
			t.Errorf("%v: %d %q; want %d %q", c.err, code, out.String(), c.code, c.text)
		}
	}
}

func TestHelpLines(t *testing.T) {
	if got := cli.Essence(help); got != "tool — does things." {
		t.Errorf("essence %q", got)
	}
	if got := cli.UsageLine("only one"); got != "" {
		t.Errorf("usage of one line: %q", got)
	}
}
