package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

func TestTurnsAlternate(t *testing.T) {
	var order []string
	note := func(name string) func() error {
		return func() error {
			order = append(order, name)
			return nil
		}
	}
	p, err := turns(4, note("a"), note("b"))
	if err != nil || len(p.a) != 4 || len(p.b) != 4 {
		t.Fatalf("%d and %d turns, %v", len(p.a), len(p.b), err)
	}
	want := []string{"a", "b", "b", "a", "a", "b", "b", "a", "a", "b"}
	if !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
}

func TestTurnsEndWithTheFirstError(t *testing.T) {
	broken := errors.New("broken")
	runs := 0
	_, err := turns(9, func() error { runs++; return nil }, func() error { return broken })
	if !errors.Is(err, broken) || runs != 1 {
		t.Errorf("%d runs, %v", runs, err)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		times []time.Duration
		want  time.Duration
	}{
		{nil, 0},
		{[]time.Duration{5}, 5},
		{[]time.Duration{9, 1, 2}, 2},
		{[]time.Duration{100, 1, 2, 4}, 3},
	} {
		if got := median(c.times); got != c.want {
			t.Errorf("of %v: %v, want %v", c.times, got, c.want)
		}
	}
}

func TestVerdict(t *testing.T) {
	took := func(a, b time.Duration) pair { return pair{a: []time.Duration{a}, b: []time.Duration{b}} }
	for _, c := range []struct {
		row            row
		got, aim, want string
	}{
		{row{times: took(13*ms, 10*ms), aim: 1.3}, "1.30", "1.3", "kept"},
		{row{times: took(14*ms, 10*ms), aim: 1.3}, "1.40", "1.3", "missed"},
		{row{times: took(14*ms, 10*ms)}, "1.40", "-", "-"},
		{row{times: took(30*ms, 10*ms), aimMore: 20 * ms}, "+20.0 ms", "+20.0 ms", "kept"},
		{row{times: took(31*ms, 10*ms), aimMore: 20 * ms}, "+21.0 ms", "+20.0 ms", "missed"},
		{row{times: took(9*ms, 10*ms), aimMore: 20 * ms}, "-1.00 ms", "+20.0 ms", "kept"},
		{row{times: took(ms, ms), aim: 2, notes: []note{{"small", true}, {"too big", false}}}, "1.00", "2.0", "missed"},
		{row{notes: []note{{"small", true}}}, "-", "-", "kept"},
		{row{notes: []note{{"too big", false}}}, "-", "-", "missed"},
	} {
		got, aim, how := c.row.verdict()
		if got != c.got || aim != c.aim || how != c.want {
			t.Errorf("%v against %v: %q, %q, %q; want %q, %q, %q", c.row.times.a, c.row.times.b, got, aim, how, c.got, c.aim, c.want)
		}
	}
}

func TestRowIsALineOfTheTable(t *testing.T) {
	var head, line strings.Builder
	printHead(&head)
	r := row{name: "n", a: "A", b: "B", times: pair{a: []time.Duration{3 * ms, 2 * ms}, b: []time.Duration{ms, 4 * ms}}, aim: 2, notes: []note{{"resident 12 MiB", true}}}
	r.print(&line)
	want := "| n | A | B | 2.50 ms | 2.50 ms | 1.00 | 2.00 | 2.0 | kept; resident 12 MiB |\n"
	if line.String() != want {
		t.Errorf("got %q\nwant %q", line.String(), want)
	}
	title := strings.Split(head.String(), "\n")[1]
	if strings.Count(title, "|") != strings.Count(want, "|") {
		t.Errorf("the title %q has other columns than the line %q", title, want)
	}
}
