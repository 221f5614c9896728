package main

import (
	"errors"
	"slices"

	"snens/internal/audit"
)

// tail prints the newest records that the filter lets through and, when asked
// to, goes on with those that come.
func (a *app) tail() error {
	var watch *watcher
	var err error
	if a.options.follow { // before the first look, so that nothing falls in between
		if watch, err = watchDir(a.ctx, a.options.dir); err != nil {
			return err
		}
		defer watch.close()
	}
	segments, err := audit.Segments(a.options.dir)
	if err != nil {
		return err
	}
	f := newFilter(a.options)
	last, err := a.newest(segments, f)
	if err != nil {
		return err
	}
	if !a.options.follow {
		return nil
	}
	return a.follow(watch, last, f)
}

// newest prints the last records and returns the last file, opened and read to
// its end; nil when there is none.
func (a *app) newest(segments []audit.Segment, f *filter) (last *segment, err error) {
	var kept []record // in order
	for i := len(segments) - 1; i >= 0; i-- {
		s, err := openSegment(a.options.dir, segments[i].Name)
		if err != nil {
			return nil, errors.Join(err, last.close())
		}
		var here []record
		err = s.read(a, func(r record) error {
			f.learn(r)
			if f.lets(r) {
				here = append(here, r)
				if len(here) > 2*a.options.count+1 {
					here = slices.Clone(here[len(here)-a.options.count:])
				}
			}
			return nil
		})
		if last == nil {
			last = s
		} else {
			err = errors.Join(err, s.close())
		}
		if err != nil {
			return nil, errors.Join(err, last.close())
		}
		kept = append(here, kept...)
		if len(kept) >= a.options.count {
			break
		}
	}
	for _, r := range kept[max(0, len(kept)-a.options.count):] {
		if err := a.print(r); err != nil {
			return nil, errors.Join(err, last.close())
		}
	}
	return last, nil
}

// follow prints what comes until the context ends.
func (a *app) follow(watch *watcher, last *segment, f *filter) error {
	defer func() { _ = last.close() }()
	for {
		err := a.catchUp(&last, f)
		if err == nil {
			err = a.out.Flush()
		}
		if err != nil || !watch.wait() {
			return err
		}
	}
}

// catchUp reads to the end of the newest file.
func (a *app) catchUp(last **segment, f *filter) error {
	for {
		segments, err := audit.Segments(a.options.dir)
		if err != nil {
			return err
		}
		// Listed before reading: a file that is followed by another is complete.
		next := ""
		for _, s := range segments {
			if *last == nil || s.Name > (*last).name {
				next = s.Name
				break
			}
		}
		if *last != nil {
			err := (*last).read(a, func(r record) error {
				f.learn(r)
				if !f.lets(r) {
					return nil
				}
				return a.print(r)
			})
			if err != nil {
				return err
			}
		}
		if next == "" || a.ctx.Err() != nil {
			return nil
		}
		s, err := openSegment(a.options.dir, next)
		if err != nil {
			return err
		}
		_ = (*last).close()
		*last = s
	}
}

// close closes the file; of none it does nothing.
func (s *segment) close() error {
	if s == nil {
		return nil
	}
	return s.f.Close()
}
