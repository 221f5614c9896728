package prepare

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/broker/policy"
	"snens/internal/escape"
	"snens/internal/spawn"
)

// passedWord stands in argv for the word of an as = "fd" slot.
const passedWord = "/proc/self/fd/3"

// allowTTL bounds a request that a rule lets run without asking anybody: it
// waits for nothing, so this only ends it should it be forgotten.
const allowTTL = 10 * time.Minute

// Make prepares what j judged a to be: opens and hashes the rule's command,
// opens what the requester names with his rights, and seals it. What he did
// wrong or the policy refuses is a *Refusal, all else a fault of ours. Close
// what it returns.
func (m *Maker) Make(ctx context.Context, a Ask, j policy.Judgement, now time.Time) (*Prepared, error) {
	if err := checkAsk(a, j); err != nil {
		return nil, err
	}
	r := j.Rule
	refuse := func(reason action.Reason, why string, cause error) error {
		return &Refusal{Reason: reason, Rule: r.ID, Why: why, Cause: cause}
	}
	b := blank{
		rule: r, argv: slices.Clone(j.Argv), requester: action.Requester(a.From), cwd: a.Cwd,
		stdin: action.Stdin{Mode: r.Stdin}, modes: action.Modes{Detached: a.Detach},
		expires: expiry(now, r, a.TTL),
	}
	b.requester.Groups = action.SortGIDs(a.From.Groups)
	if a.Stdin != nil {
		b.stdin.Content = *a.Stdin
	}
	rand.Read(b.nonce[:])
	var err error
	if b.env, err = r.Environment(a.Env); err != nil {
		return nil, refuse(action.ReasonBadRequest, err.Error(), nil)
	}

	p := &Prepared{Rule: r, discard: func(f *os.File) { m.o.Discard(a.From.UID, f) }}
	if p.Program, err = m.program(r); err != nil {
		return nil, err
	}
	b.files = p.Program.Files()
	if err := m.cwd(ctx, &b); err != nil {
		p.Close()
		return nil, m.refusal(err, r, fmt.Sprintf("the folder %s cannot be entered by you", quote(a.Cwd)))
	}
	if j.FD != nil {
		if err := m.pass(ctx, p, &b, *j.FD); err != nil {
			p.Close()
			return nil, m.refusal(err, r, fmt.Sprintf("word %d of the command, %s, cannot be opened for you", j.FD.Word, quote(j.FD.Path)))
		}
	}
	p.Request, err = m.seal(b)
	if err != nil {
		p.Close()
		if errors.Is(err, action.ErrTooLong) {
			return nil, refuse(action.ReasonTooLong, escape.Line(err.Error()), nil)
		}
		return nil, fmt.Errorf("cannot seal a request by rule %s: %w", r.ID, err)
	}
	return p, nil
}

// checkAsk refuses what needs no file to be refused.
func checkAsk(a Ask, j policy.Judgement) error {
	r := j.Rule
	if j.Decision != policy.Ask && j.Decision != policy.Allow {
		no := &Refusal{Reason: j.Reason, Why: j.Detail}
		if no.Reason == 0 {
			no.Reason = action.ReasonDenied
		}
		if r != nil {
			no.Rule = r.ID
		}
		return no
	}
	if r == nil || len(j.Argv) == 0 {
		return errors.New("cannot prepare a judgement without a rule or a command")
	}
	bad := func(format string, args ...any) error {
		return &Refusal{Reason: action.ReasonBadRequest, Rule: r.ID, Why: fmt.Sprintf(format, args...)}
	}
	if err := a.Claims.Check(); err != nil {
		return bad("%s", escape.Line(err.Error()))
	}
	switch {
	case j.Decision == policy.Ask && r.Approve.ReasonRequired && !a.Claims.HasReason():
		return &Refusal{Reason: action.ReasonReasonRequired, Rule: r.ID}
	case a.Detach && !r.Detach:
		return bad("rule %s does not let a request go on without its requester; wait for it", r.ID)
	case a.TTL < 0:
		return bad("the time to wait is negative")
	case r.Stdin == action.StdinSealed && a.Stdin == nil:
		return bad("rule %s takes input that is part of the request; send its content, which may be empty", r.ID)
	case r.Stdin != action.StdinSealed && a.Stdin != nil:
		return bad("rule %s takes no input that is part of the request; send none", r.ID)
	case r.Cwd == policy.CwdRequester && (!path.IsAbs(a.Cwd) || path.Clean(a.Cwd) != a.Cwd || strings.IndexByte(a.Cwd, 0) >= 0):
		return bad("rule %s runs in your folder; tell it as an absolute path without symlinks, // or dots", r.ID)
	case j.FD != nil && countWord(j.Argv, passedWord) > 0:
		return bad("%s cannot be a word of a command that gets a descriptor", passedWord)
	}
	return nil
}

func countWord(argv []string, word string) (n int) {
	for _, w := range argv {
		if w == word {
			n++
		}
	}
	return n
}

// expiry is when a request asked now ends: after the rule's ttl, or a shorter
// wish, in whole seconds and rounded up. Rounded down, a second could be none.
func expiry(now time.Time, r *policy.Rule, wish time.Duration) time.Time {
	ttl := r.Approve.TTL
	if r.Decision != policy.Ask {
		ttl = allowTTL
	}
	if wish > 0 && wish < ttl {
		ttl = wish
	}
	end := now.Add(ttl + time.Second - 1).Truncate(time.Second)
	return time.Unix(end.Unix(), 0).UTC()
}

// program opens the rule's command and holds it to its pin.
func (m *Maker) program(r *policy.Rule) (*spawn.Program, error) {
	refuse := func(reason action.Reason, why string, cause error) error {
		return &Refusal{Reason: reason, Rule: r.ID, Why: why, Cause: cause}
	}
	p, err := m.o.Opener.Open(r.Command)
	switch {
	case full(err):
		return nil, refuse(action.ReasonBusy, tooFull, err)
	case errors.Is(err, fs.ErrNotExist):
		return nil, refuse(action.ReasonCommandMissing, "the command of the rule, or its interpreter, is not installed", err)
	case err != nil:
		return nil, refuse(action.ReasonCannotStart, "the command of the rule cannot be trusted or run as it is; the broker's log says why", err)
	}
	if got := fmt.Sprintf("%x", p.Files()[0].SHA256); r.SHA256 != "" && got != r.SHA256 {
		p.Close()
		return nil, refuse(action.ReasonCannotStart, "the command of the rule is not the one that the rule names by its digest",
			fmt.Errorf("%s has the SHA-256 %s, not %s", escape.Line(r.Command), got, r.SHA256))
	}
	return p, nil
}

// cwd settles the folder of the action.
func (m *Maker) cwd(ctx context.Context, b *blank) error {
	if b.rule.Cwd != policy.CwdRequester {
		b.cwd = b.rule.Cwd
		return nil
	}
	_, err := m.as(ctx, policy.Subject(b.requester), func() (*os.File, error) { return nil, checkFolder(b.cwd) })
	return err
}

// pass opens the word of an as = "fd" slot and puts the descriptor in its place.
func (m *Maker) pass(ctx context.Context, p *Prepared, b *blank, fd policy.PathFD) error {
	f, err := m.as(ctx, policy.Subject(b.requester), func() (*os.File, error) { return openBeneath(fd, int(m.o.Owner)) })
	if err != nil {
		return err
	}
	p.Opened = append(p.Opened, f)
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return err
	}
	b.argv[fd.Word] = passedWord
	b.opened = []action.OpenedFile{{Descriptor: 3, Path: fd.Path, Device: st.Dev, Inode: st.Ino}}
	return nil
}

// refusal says to the requester why something of his could not be opened:
// what his own rights told.
func (m *Maker) refusal(err error, r *policy.Rule, what string) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, errRights):
		return fmt.Errorf("cannot prepare a request by rule %s: %w", r.ID, err)
	case errors.Is(err, errBusy):
		return &Refusal{Reason: action.ReasonBusy, Rule: r.ID, Why: err.Error()}
	case full(err):
		return &Refusal{Reason: action.ReasonBusy, Rule: r.ID, Why: tooFull, Cause: err}
	}
	return &Refusal{Reason: action.ReasonBadRequest, Rule: r.ID, Why: what + ": " + escape.Line(explain(err))}
}

const tooFull = "the broker has too many files open; try again later"

// full says that we lack what others may give back soon.
func full(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM)
}

// quote shows a text of the requester's.
func quote(s string) string { return `"` + escape.Escape(s) + `"` }

// explain is what an error of an open means here.
func explain(err error) string {
	switch {
	case errors.Is(err, unix.ELOOP):
		return "there is a symlink in the path; name what it leads to"
	case errors.Is(err, unix.EXDEV):
		return "it leads out of the folder"
	case errors.Is(err, unix.EAGAIN):
		return "the file is held by another program; try again"
	}
	return err.Error()
}
