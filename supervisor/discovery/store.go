package discovery

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"snens/internal/safefile"
)

// What the cache file may hold. When there is more, the oldest go.
const (
	maxCacheBytes   = 64 << 20
	maxCacheEntries = 20_000
	foreignLife     = 30 * 24 * time.Hour // of entries of another scope
	lockPatience    = 200 * time.Millisecond
)

// store is the cache: a map in memory and, where there is a folder, one file.
// The file is replaced as a whole; who writes merges what is there under a
// lock, and a writer that does not get the lock lets it be.
type store struct {
	dir   string // "" for memory only
	scope string

	mu      sync.Mutex
	known   map[string]*entry // own scope, by path; guarded by mu
	dirty   map[string]entry  // not in the file; guarded by mu
	loaded  os.FileInfo       // the file that known was filled from; guarded by mu
	problem error             // why the folder must not be used; guarded by mu
}

func newStore(dir, scope string) *store {
	return &store{dir: dir, scope: scope, known: map[string]*entry{}, dirty: map[string]entry{}}
}

func (s *store) file() string { return filepath.Join(s.dir, "tools.cache") }

// refresh reads the file when it is not the one that was read before.
func (s *store) refresh() {
	if s.dir == "" {
		return
	}
	info, err := os.Lstat(s.file())
	s.mu.Lock()
	same := err == nil && s.loaded != nil && sameFile(info, s.loaded)
	s.mu.Unlock()
	if err != nil || same {
		return
	}
	entries := s.load()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded = info
	if len(s.known) == 0 {
		s.known = make(map[string]*entry, len(entries))
	}
	for i := range entries {
		if e := &entries[i]; e.scope == s.scope {
			s.known[e.path] = e
		}
	}
}

func sameFile(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// load reads the file; whatever is wrong with it, it then counts as empty.
func (s *store) load() []entry {
	dir, err := safefile.OpenPrivateDir(s.dir)
	if err != nil {
		s.complain(err)
		return nil
	}
	dir.Close()
	data, err := safefile.ReadPrivate(s.file(), maxCacheBytes)
	if err != nil {
		return nil
	}
	entries, err := decodeCache(data)
	if err != nil {
		return nil
	}
	return entries
}

// complain remembers why the folder cannot be used, for a note. That it is
// missing or cannot be made is nobody's fault.
func (s *store) complain(err error) {
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problem = err
}

func (s *store) note() Note {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.problem == nil {
		return Note{}
	}
	return Note{Kind: NoteCache, Path: s.dir, Text: oneLine("cannot use the cache: " + s.problem.Error())}
}

func (s *store) get(path string) (entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.known[path]; ok {
		return *e, true
	}
	return entry{}, false
}

func (s *store) put(e entry) {
	e.scope = s.scope
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[e.path] = &e
	s.dirty[e.path] = e
}

// save writes what is new. keep, when not nil, says which paths of the own
// scope are still worth keeping. Failing is silent: it costs the next start a
// few probes.
func (s *store) save(keep func(path string) bool) {
	s.mu.Lock()
	fresh := make([]entry, 0, len(s.dirty))
	for _, e := range s.dirty {
		fresh = append(fresh, e)
	}
	clear(s.dirty)
	s.mu.Unlock()
	if s.dir == "" || len(fresh) == 0 {
		return
	}
	if err := s.makeDir(); err != nil {
		if _, lerr := os.Lstat(s.dir); lerr == nil {
			s.complain(err)
		}
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockPatience)
	defer cancel()
	lock, err := safefile.WaitLock(ctx, filepath.Join(s.dir, "tools.lock"))
	if err != nil {
		return
	}
	defer lock.Unlock()
	merged := merge(s.load(), fresh, func(e entry) bool {
		if e.scope == s.scope {
			return keep == nil || keep(e.path)
		}
		age := time.Since(time.Unix(0, e.written))
		return age >= 0 && age < foreignLife
	})
	data := encodeCache(merged)
	if len(data) > maxCacheBytes { // many huge schemas: better a small cache than none
		data = encodeCache(fresh)
	}
	_ = safefile.ReplaceFile(s.file(), data, 0o600) // see above: silent
}

// makeDir makes the folder when it is missing, and the one it lies in, but no
// more: a home that is not there is not ours to make. Nor does it begin one in a
// folder of another user: root with a home that was kept across su would shut
// its owner out.
func (s *store) makeDir() error {
	if _, err := os.Lstat(s.dir); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Dir(filepath.Dir(s.dir))); err != nil {
			return err
		}
		if err := safefile.CheckNearest(s.dir, os.Geteuid()); err != nil {
			return err
		}
	}
	return safefile.EnsurePrivateDir(s.dir)
}

// merge puts the fresh entries in place of older ones, sorted by path.
func merge(old, fresh []entry, keep func(entry) bool) []entry {
	type key struct{ path, scope string }
	all := make(map[key]entry, len(old)+len(fresh))
	for _, e := range old {
		if keep(e) {
			all[key{e.path, e.scope}] = e
		}
	}
	for _, e := range fresh {
		all[key{e.path, e.scope}] = e
	}
	out := make([]entry, 0, len(all))
	for _, e := range all {
		out = append(out, e)
	}
	if len(out) > maxCacheEntries {
		slices.SortFunc(out, func(a, b entry) int { return cmp.Compare(b.written, a.written) })
		out = out[:maxCacheEntries]
	}
	slices.SortFunc(out, func(a, b entry) int {
		if c := strings.Compare(a.path, b.path); c != 0 {
			return c
		}
		return strings.Compare(a.scope, b.scope)
	})
	return out
}
