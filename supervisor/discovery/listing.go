package discovery

import (
	"context"
	"sync"

	"snens/supervisor/tool"
)

// Listing is what is in the tools folders. Everything is sorted by name, and
// by the order of the folders within a name.
type Listing struct {
	Tools       []tool.Tool
	Quarantined []tool.Quarantined
	Shadowed    []tool.Shadowed
	Notes       []Note
}

// All looks at every tool. Those that have to be read anew are read side by
// side. The error is that of ctx; no tool can cause one.
func (f *Finder) All(ctx context.Context, mode Mode) (Listing, error) {
	p := f.newPass()
	scan := p.scan()
	answers := make([]resolved, len(scan.groups))
	open := p.recallAll(scan.groups, answers, mode)
	err := p.readAll(ctx, scan.groups, open, answers, mode)
	f.cache.save(keepOnly(scan))
	if err != nil {
		return Listing{}, err
	}
	list := Listing{Notes: scan.notes}
	for _, a := range answers {
		if a.tool != nil {
			list.Tools = append(list.Tools, *a.tool)
		}
		list.Quarantined = append(list.Quarantined, a.broken...)
		list.Shadowed = append(list.Shadowed, a.shadowed...)
	}
	if n := f.cache.note(); n.Kind != "" {
		list.Notes = append(list.Notes, n)
	}
	return list, nil
}

// lookers is how many goroutines look at remembered tools: that is a handful
// of system calls per tool, so a few cores help and many do not.
const lookers = 4

// recallAll answers what memory can answer and returns the groups that are left.
func (p *pass) recallAll(groups [][]spot, answers []resolved, mode Mode) []int {
	known := make([]bool, len(groups))
	if mode == Cached {
		size := (len(groups) + lookers - 1) / lookers
		var work sync.WaitGroup
		for from := 0; from < len(groups); from += size {
			work.Go(func() {
				for i := from; i < min(from+size, len(groups)); i++ {
					answers[i], known[i] = p.recall(groups[i])
				}
			})
		}
		work.Wait()
	}
	var open []int
	for i, ok := range known {
		if !ok {
			open = append(open, i)
		}
	}
	return open
}

// readAll resolves the open groups with a few workers and reports progress
// from the calling goroutine.
func (p *pass) readAll(ctx context.Context, groups [][]spot, open []int, answers []resolved, mode Mode) error {
	if len(open) == 0 {
		return ctx.Err()
	}
	jobs := make(chan int)
	type finished struct {
		at  int
		got resolved
		err error
	}
	results := make(chan finished)
	var workers sync.WaitGroup
	for range min(maxProbes, len(open)) {
		workers.Go(func() {
			for i := range jobs {
				got, err := p.resolve(ctx, groups[i], mode)
				results <- finished{i, got, err}
			}
		})
	}
	workers.Go(func() {
		defer close(jobs)
		for _, i := range open {
			jobs <- i
		}
	})
	var failed error
	p.progress(0, len(open))
	for done := range len(open) {
		r := <-results
		answers[r.at] = r.got
		if r.err != nil {
			failed = r.err
		}
		p.progress(done+1, len(open))
	}
	workers.Wait()
	return failed
}

func (p *pass) progress(done, total int) {
	if report := p.finder.opts.Progress; report != nil {
		report(done, total)
	}
}

// keepOnly returns which remembered paths are still worth keeping: those that
// were seen, and those outside the folders that were listed.
func keepOnly(scan scanned) func(path string) bool {
	seen := map[string]bool{}
	for _, group := range scan.groups {
		for _, s := range group {
			seen[s.path()] = true
		}
	}
	return func(path string) bool {
		if seen[path] {
			return true
		}
		for _, dir := range scan.listed {
			if len(path) > len(dir) && path[:len(dir)] == dir && path[len(dir)] == '/' {
				return false
			}
		}
		return true
	}
}
