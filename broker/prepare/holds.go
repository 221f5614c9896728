package prepare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"snens/broker/action"
	"snens/broker/policy"
	"snens/internal/escape"
	"snens/internal/spawn"
)

// StillHolds says whether the request would be judged and made today as it was.
// Only true lets it run. Opened files of the requester's are not opened again.
func (m *Maker) StillHolds(ctx context.Context, s *action.Sealed) (Change, bool) {
	b, change, ok := m.again(s)
	if !ok {
		return change, false
	}
	program, err := m.program(b.rule)
	if err != nil {
		return stale(action.ReasonStaleFile, cause(err)), false
	}
	defer program.Close()
	return m.compare(ctx, s, b, program)
}

// Resume opens again what a request needs for its run that was made by an
// earlier process, when all of it is what it was. A *Refusal has the reason
// stale_rule or stale_file. Ask StillHolds too when it is about to run.
func (m *Maker) Resume(ctx context.Context, s *action.Sealed) (*Prepared, error) {
	b, change, ok := m.again(s)
	refuse := func(c Change) error {
		return &Refusal{Reason: c.Reason, Rule: s.Request().Rule, Cause: errors.New(c.Detail)}
	}
	if !ok {
		return nil, refuse(change)
	}
	p := &Prepared{Rule: b.rule, Request: s, discard: func(f *os.File) { m.o.Discard(b.requester.UID, f) }}
	var err error
	if p.Program, err = m.program(b.rule); err != nil {
		return nil, refuse(stale(action.ReasonStaleFile, cause(err)))
	}
	if len(b.opened) > 0 {
		i := slices.Index(b.argv, passedWord)
		if err := m.pass(ctx, p, &b, *b.fd); err != nil {
			p.Close()
			return nil, refuse(stale(action.ReasonStaleFile, fmt.Errorf("cannot open word %d again: %w", i, err)))
		}
	}
	if change, ok := m.compare(ctx, s, b, p.Program); !ok {
		p.Close()
		return nil, refuse(change)
	}
	return p, nil
}

// again judges the stored request by the policy in force and makes of it what is
// the requester's part of a new one.
func (m *Maker) again(s *action.Sealed) (blank, Change, bool) {
	old := s.Request()
	argv := slices.Clone(old.Argv)
	word := -1
	if len(old.Opened) > 0 { // Make saw to it that there is one such word
		if word = slices.Index(argv, passedWord); word >= 0 {
			argv[word] = old.Opened[0].Path
		}
	}
	j := m.o.Policy().Judge(policy.Request{From: policy.Subject(old.Requester), Argv: argv})
	b := blank{
		rule: j.Rule, argv: old.Argv, opened: old.Opened, cwd: old.Cwd, modes: old.Modes,
		requester: old.Requester, expires: old.Expires, nonce: old.Nonce, fd: j.FD,
	}
	no := func(format string, args ...any) (blank, Change, bool) {
		return b, stale(action.ReasonStaleRule, fmt.Errorf(format, args...)), false
	}
	switch {
	case j.Decision != policy.Ask && j.Decision != policy.Allow:
		return no("the policy refuses it now: %s %s", j.Reason, j.Detail)
	case j.Rule == nil || len(j.Argv) == 0 || j.Argv[0] != argv[0]:
		return no("the command is another one now")
	case (j.FD == nil) != (word < 0) || j.FD != nil && j.FD.Word != word:
		return no("rule %s passes another word as a descriptor now", j.Rule.ID)
	}
	var sent []string
	for _, v := range old.Env {
		sent = append(sent, v.Name+"="+v.Value)
	}
	var err error
	if b.env, err = j.Rule.Environment(sent); err != nil {
		return no("rule %s: %w", j.Rule.ID, err)
	}
	b.stdin = action.Stdin{Mode: j.Rule.Stdin}
	if b.stdin.Mode == action.StdinSealed {
		b.stdin.Content = old.Stdin.Content
	}
	if b.rule.Cwd != policy.CwdRequester {
		b.cwd = b.rule.Cwd
	}
	b.modes.Detached = b.modes.Detached && b.rule.Detach
	return b, Change{}, true
}

// compare seals the request anew and compares the digests.
func (m *Maker) compare(ctx context.Context, s *action.Sealed, b blank, program *spawn.Program) (Change, bool) {
	if err := m.cwd(ctx, &b); err != nil {
		return stale(action.ReasonStaleFile, fmt.Errorf("the requester cannot enter the folder any more: %w", err)), false
	}
	b.files = program.Files()
	now, err := m.seal(b)
	if err != nil {
		return stale(action.ReasonStaleRule, fmt.Errorf("it cannot be made again: %w", err)), false
	}
	if now.Digest() == s.Digest() {
		return Change{}, true
	}
	old := s.Request()
	var c Change
	switch {
	case old.Rule != b.rule.ID:
		c = stale(action.ReasonStaleRule, fmt.Errorf("rule %s decides now, not %s", b.rule.ID, old.Rule))
	case old.RuleDigest != b.rule.Digest:
		c = stale(action.ReasonStaleRule, fmt.Errorf("rule %s has the digest %s now, not %s", b.rule.ID, b.rule.Digest.Short(), old.RuleDigest.Short()))
	default:
		c = stale(action.ReasonStaleFile, difference(old, now.Request()))
	}
	c.NewDigest = now.Digest()
	return c, false
}

// difference names what differs under the same rule.
func difference(old, now action.Request) error {
	files := func(r action.Request) []spawn.File {
		var out []spawn.File
		for _, f := range append([]action.File{r.Executable}, r.Interpreters...) {
			out = append(out, spawn.File{Path: f.Path, Dev: f.Device, Inode: f.Inode, SHA256: f.SHA256})
		}
		return out
	}
	was, is := files(old), files(now)
	for i := range max(len(was), len(is)) {
		switch {
		case i >= len(was) || i >= len(is):
			return errors.New("the command has another chain of interpreters")
		case was[i].Path != is[i].Path:
			return fmt.Errorf("%s is %s now", was[i].Path, is[i].Path)
		case was[i].SHA256 != is[i].SHA256:
			return fmt.Errorf("%s has the SHA-256 %x now, not %x", is[i].Path, is[i].SHA256, was[i].SHA256)
		case was[i] != is[i]:
			return fmt.Errorf("another file is at %s, with the same content", is[i].Path)
		}
	}
	if !slices.Equal(old.Opened, now.Opened) {
		return errors.New("another file is at the path that is passed as a descriptor")
	}
	return errors.New("it reads differently")
}

// cause is what a refusal has for the log.
func cause(err error) error {
	var no *Refusal
	if errors.As(err, &no) && no.Cause != nil {
		return no.Cause
	}
	return err
}

func stale(why action.Reason, err error) Change {
	return Change{Reason: why, Detail: escape.Line(err.Error())}
}
