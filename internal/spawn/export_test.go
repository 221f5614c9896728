package spawn

import (
	"context"
	"time"
)

// Hashed is how many files were read to be hashed.
func (o *Opener) Hashed() int {
	o.cache.mu.Lock()
	defer o.cache.mu.Unlock()
	return o.cache.hashed
}

// SetLastWait shortens the wait after KILL.
func (r *Runner) SetLastWait(d time.Duration) { r.lastWait = d }

// ParseShebang is exported for its table and fuzzing.
var ParseShebang = parseShebang

// Verify looks at a running process as Start looks at a stopped one.
func Verify(s Spec, pid int) error {
	return (&launch{spec: &s, files: s.Files}).verify(pid)
}

// heldTree keeps the child standing at its exec.
type heldTree struct {
	tree
	hold func()
}

func (t heldTree) stopped(pid int) error {
	t.hold()
	return t.tree.stopped(pid)
}

// StartHeld is a Start that hangs in hold.
func (r *Runner) StartHeld(ctx context.Context, s Spec, hold func()) (*Process, error) {
	l, err := r.prepare(&s)
	if err != nil {
		return nil, err
	}
	l.tree = heldTree{l.tree, hold}
	return r.launch(ctx, l)
}
