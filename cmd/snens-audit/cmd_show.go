package main

import (
	"errors"

	"snens/internal/audit"
)

// show prints the records that the filter lets through, oldest first.
func (a *app) show() error {
	segments, err := audit.Segments(a.options.dir)
	if err != nil {
		return err
	}
	f := newFilter(a.options)
	if f.learns() {
		for _, s := range segments {
			if err := a.readSegment(s.Name, func(r record) error { f.learn(r); return nil }); err != nil {
				return err
			}
		}
		a.unreadable = 0 // they are named again
	}
	found := false
	for _, s := range segments {
		err := a.readSegment(s.Name, func(r record) error {
			if !f.lets(r) {
				return nil
			}
			found = true
			return a.print(r)
		})
		if err != nil {
			return err
		}
	}
	if !found && !a.options.id.IsZero() {
		return errors.New("cannot show " + a.options.id.String() + ": no record in this log is about it")
	}
	return nil
}
