package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// pair is what the turns of A and B took.
type pair struct{ a, b []time.Duration }

// turns runs a and b n times each, in turns, and takes the time of each.
func turns(n int, a, b func() error) (pair, error) {
	whole := func(f func() error) func() (time.Duration, error) {
		return func() (time.Duration, error) {
			began := time.Now()
			err := f()
			return time.Since(began), err
		}
	}
	return timedTurns(n, whole(a), whole(b))
}

// timedTurns is turns of what takes its own time. It begins with one of each
// that does not count. Which of the two goes first changes, because each finds
// the caches as the other left them.
func timedTurns(n int, a, b func() (time.Duration, error)) (pair, error) {
	var p pair
	timed := func(f func() (time.Duration, error), to *[]time.Duration, keep bool) error {
		took, err := f()
		if err == nil && keep {
			*to = append(*to, took)
		}
		return err
	}
	for i := range n + 1 {
		one := func() error { return timed(a, &p.a, i > 0) }
		two := func() error { return timed(b, &p.b, i > 0) }
		if i%2 == 1 {
			one, two = two, one
		}
		if err := one(); err != nil {
			return p, err
		}
		if err := two(); err != nil {
			return p, err
		}
	}
	return p, nil
}

func median(t []time.Duration) time.Duration {
	s := slices.Sorted(slices.Values(t))
	if len(s) == 0 {
		return 0
	}
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// ratio is the median of A by the median of B.
func (p pair) ratio() float64 { return float64(median(p.a)) / float64(median(p.b)) }

// low is the same of the fastest turns: what is left when nothing disturbs.
func (p pair) low() float64 {
	return float64(slices.Min(p.a)) / float64(slices.Min(p.b))
}

// more is how much longer A took than B.
func (p pair) more() time.Duration { return median(p.a) - median(p.b) }

// row is one line of the table. One without times has notes alone.
type row struct {
	name    string
	a, b    string // what was measured, in words
	times   pair
	aim     float64       // at most so many times B; 0 = no aim of this kind
	aimMore time.Duration // at most so much more than B; 0 = no aim of this kind
	notes   []note
}

// note is a further number with its own aim.
type note struct {
	text string
	ok   bool
}

// verdict compares with the aim: the number, the aim and how it went.
func (r row) verdict() (got, aim, how string) {
	kept := true
	switch {
	case len(r.times.a) == 0:
		got, aim = "-", "-"
	case r.aimMore > 0:
		got, aim = signed(r.times.more()), signed(r.aimMore)
		kept = r.times.more() <= r.aimMore
	case r.aim > 0:
		got, aim = fmt.Sprintf("%.2f", r.times.ratio()), fmt.Sprintf("%.1f", r.aim)
		kept = r.times.ratio() <= r.aim
	default:
		got, aim = fmt.Sprintf("%.2f", r.times.ratio()), "-"
	}
	for _, n := range r.notes {
		kept = kept && n.ok
	}
	switch {
	case !kept:
		return got, aim, "missed"
	case aim == "-" && len(r.notes) == 0:
		return got, aim, "-"
	}
	return got, aim, "kept"
}

func printHead(w io.Writer) {
	fmt.Fprintln(w, "\n| what | A | B | A took | B took | A : B | of the fastest | aim | |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|")
}

func (r row) print(w io.Writer) {
	got, aim, how := r.verdict()
	took, low := [2]string{"-", "-"}, "-"
	if len(r.times.a) > 0 {
		took, low = [2]string{short(median(r.times.a)), short(median(r.times.b))}, fmt.Sprintf("%.2f", r.times.low())
	}
	var notes []string
	for _, n := range r.notes {
		notes = append(notes, n.text)
	}
	if len(notes) > 0 {
		how += "; " + strings.Join(notes, ", ")
	}
	fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.name, r.a, r.b,
		took[0], took[1], got, low, aim, how)
}

// short is a duration with three digits that count.
func short(d time.Duration) string {
	switch {
	case d.Abs() < 10*time.Millisecond:
		return fmt.Sprintf("%.2f ms", float64(d)/1e6)
	case d.Abs() < time.Second:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}

// signed is short with the sign, whatever it is.
func signed(d time.Duration) string {
	if d < 0 {
		return short(d)
	}
	return "+" + short(d)
}
