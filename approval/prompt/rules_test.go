package prompt_test

import (
	"testing"
	"time"

	"snens/approval/prompt"
	"snens/broker/action"
)

// The people of the tests: ann has two uids and a key, bob one uid and a key,
// key-only a key alone; dave is in no entry.
const (
	deploy, ann, ann2, bob, dave, stranger = 1000, 1001, 1002, 1003, 1004, 1005
	ops, wheel                             = 50, 51
)

var (
	quarter = action.Lifespan(15 * time.Minute)
	hour    = action.Lifespan(time.Hour)
	right   = action.DigestOf("the text")
)

func persons(t testing.TB) prompt.Persons {
	t.Helper()
	p, err := prompt.NewPersons([]prompt.Person{
		{Name: "ann", UIDs: []action.UID{ann, ann2}, Principals: []string{"ann@example"}},
		{Name: "bob", UIDs: []action.UID{bob}, Principals: []string{"bob@example"}},
		{Name: "keyonly", Principals: []string{"key@example"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func uid(u action.UID) prompt.Selector { return prompt.Selector{Kind: prompt.SelectUID, UID: u} }
func gid(g action.GID) prompt.Selector { return prompt.Selector{Kind: prompt.SelectGID, GID: g} }
func principal(p string) prompt.Selector {
	return prompt.Selector{Kind: prompt.SelectPrincipal, Principal: p}
}

func login(u action.UID) action.Login { return action.Login{UID: u, Set: true} }

func peer(u action.UID, groups ...action.GID) prompt.Peer {
	return prompt.Peer{UID: u, GID: action.GID(u), Groups: groups}
}

// asked is a request of deploy that these may approve.
func asked(from ...prompt.Selector) prompt.Case {
	return prompt.Case{Requester: deploy, Digest: right, Terms: prompt.Terms{
		From: from, Need: 1, Presence: prompt.PresencePeer, Lifespans: []action.Lifespan{quarter},
	}}
}

func yes(p prompt.Peer) prompt.Ballot {
	return prompt.Ballot{Peer: p, Decision: action.Approve, Lifespan: action.Once, Digest: right}
}

func signed(p prompt.Peer, by string) prompt.Ballot {
	b := yes(p)
	b.Principal = by
	return b
}

func with[T any](v T, do func(*T)) T {
	do(&v)
	return v
}

func TestWhoMayApprove(t *testing.T) {
	byOps := asked(gid(ops))
	for _, c := range []struct {
		name   string
		ballot prompt.Ballot
		asked  prompt.Case
		reason action.Reason // 0: the ballot counts
	}{
		{"listed by uid", yes(peer(bob)), asked(uid(bob)), 0},
		{"listed by group", yes(peer(bob, ops)), byOps, 0},
		{"listed by first group", yes(with(peer(bob), func(p *prompt.Peer) { p.GID = ops })), byOps, 0},
		{"in no person's entry", yes(peer(dave, ops)), byOps, 0},
		{"second in the list", yes(peer(bob)), asked(uid(ann), gid(wheel), uid(bob)), 0},
		{"stranger", yes(peer(stranger, wheel)), byOps, action.ReasonNotFound},
		{"nobody listed", yes(peer(bob, ops)), asked(), action.ReasonNotFound},
		{"no uid", yes(peer(action.NoID, ops)), byOps, action.ReasonNotFound},
		{"no uid is listed", yes(peer(action.NoID)), asked(uid(action.NoID)), action.ReasonNotFound},
		{"no gid is listed", yes(peer(bob, action.NoID)), asked(gid(action.NoID)), action.ReasonNotFound},
		{"a selector of no kind", yes(peer(0)), asked(prompt.Selector{}), action.ReasonNotApprover},
		{"a zero selector does not name uid 0", yes(peer(bob)), asked(prompt.Selector{}), action.ReasonNotFound},

		{"the requester", yes(peer(deploy, ops)), byOps, action.ReasonSelfApproval},
		{"the requester, listed by uid", yes(peer(deploy)), asked(uid(deploy)), action.ReasonSelfApproval},
		{"the requester, not listed", yes(peer(deploy)), byOps, action.ReasonNotFound},
		{"another uid of the person", yes(peer(ann2, ops)), with(byOps, func(c *prompt.Case) { c.Requester = ann }), action.ReasonSelfApproval},
		{"another person", yes(peer(bob, ops)), with(byOps, func(c *prompt.Case) { c.Requester = ann }), 0},
		{"the same login", yes(with(peer(bob, ops), func(p *prompt.Peer) { p.Login = login(dave) })), with(byOps, func(c *prompt.Case) { c.Login = login(dave) }), action.ReasonSelfApproval},
		{"login 0 both", yes(with(peer(bob, ops), func(p *prompt.Peer) { p.Login = login(0) })), with(byOps, func(c *prompt.Case) { c.Login = login(0) }), action.ReasonSelfApproval},
		{"logins of one person", yes(with(peer(bob, ops), func(p *prompt.Peer) { p.Login = login(ann) })), with(byOps, func(c *prompt.Case) { c.Login = login(ann2) }), action.ReasonSelfApproval},
		{"other logins", yes(with(peer(bob, ops), func(p *prompt.Peer) { p.Login = login(bob) })), with(byOps, func(c *prompt.Case) { c.Login = login(ann) }), 0},
		{"no login on either side", yes(peer(bob, ops)), byOps, 0},
		{"an unset login equals none", yes(with(peer(bob, ops), func(p *prompt.Peer) { p.Login = action.Login{UID: dave} })), with(byOps, func(c *prompt.Case) { c.Login = action.Login{UID: dave} }), 0},
		{"who logged in as the requester's login", yes(peer(ann, ops)), with(byOps, func(c *prompt.Case) { c.Login = login(ann2) }), action.ReasonSelfApproval},
		{"the requester's login became another user", yes(with(peer(bob, ops), func(p *prompt.Peer) { p.Login = login(deploy) })), byOps, action.ReasonSelfApproval},
		{"inside a running action", yes(with(peer(bob, ops), func(p *prompt.Peer) { p.InAction = true })), byOps, action.ReasonNotFound},

		{"root, not listed", yes(peer(0)), byOps, action.ReasonNotApprover},
		{"root, in a listed group", yes(peer(0, ops)), byOps, action.ReasonNotApprover},
		{"root, listed", yes(peer(0)), asked(uid(0)), 0},
		{"root's own request", yes(peer(0)), with(asked(uid(0)), func(c *prompt.Case) { c.Requester = 0 }), action.ReasonSelfApproval},
		{"root inside a running action", yes(with(peer(0), func(p *prompt.Peer) { p.InAction = true })), asked(uid(0)), action.ReasonNotFound},

		{"another text", with(yes(peer(bob)), func(b *prompt.Ballot) { b.Digest = action.DigestOf("x") }), asked(uid(bob)), action.ReasonDigestMismatch},
		{"no text", with(yes(peer(bob)), func(b *prompt.Ballot) { b.Digest = action.Digest{} }), with(asked(uid(bob)), func(c *prompt.Case) { c.Digest = action.Digest{} }), action.ReasonDigestMismatch},
		{"an offered lifespan", with(yes(peer(bob)), func(b *prompt.Ballot) { b.Lifespan = quarter }), asked(uid(bob)), 0},
		{"a longer lifespan", with(yes(peer(bob)), func(b *prompt.Ballot) { b.Lifespan = hour }), asked(uid(bob)), action.ReasonLifespanRefused},
		{"no lifespan", with(yes(peer(bob)), func(b *prompt.Ballot) { b.Lifespan = 0 }), asked(uid(bob)), action.ReasonLifespanRefused},
		{"no lifespan, offered by mistake", with(yes(peer(bob)), func(b *prompt.Ballot) { b.Lifespan = 0 }), with(asked(uid(bob)), func(c *prompt.Case) { c.Terms.Lifespans = []action.Lifespan{0} }), action.ReasonLifespanRefused},
		{"no decision", with(yes(peer(bob)), func(b *prompt.Ballot) { b.Decision = 0 }), asked(uid(bob)), action.ReasonBadRequest},
		{"an unknown decision", with(yes(peer(bob)), func(b *prompt.Ballot) { b.Decision = 7 }), asked(uid(bob)), action.ReasonBadRequest},

		{"unsigned where a signature is wanted", yes(peer(bob)), with(asked(uid(bob)), func(c *prompt.Case) { c.Terms.Presence = prompt.PresenceSigned }), action.ReasonPresenceMissing},
		{"a terminal outside user mode", yes(with(peer(bob), func(p *prompt.Peer) { p.Terminal = true })), with(asked(uid(bob)), func(c *prompt.Case) { c.Terms.Presence = prompt.PresenceTTY }), action.ReasonPresenceMissing},
		{"no presence set", yes(peer(bob)), with(asked(uid(bob)), func(c *prompt.Case) { c.Terms.Presence = 0 }), action.ReasonPresenceMissing},
	} {
		ruling := prompt.Rules{Persons: persons(t)}.Judge(c.ballot, c.asked, nil)
		vote, ok := ruling.Vote()
		if ok != (c.reason == 0) || ruling.Reason() != c.reason {
			t.Errorf("%s: counted %v, %v; want %v", c.name, ok, ruling.Reason(), c.reason)
		}
		if ok && (vote.Decision != action.Approve || vote.Lifespan != c.ballot.Lifespan || vote.Person == "") {
			t.Errorf("%s: became %+v", c.name, vote)
		}
	}
}

func TestSignedBallots(t *testing.T) {
	byKey := asked(principal("bob@example"))
	byKey.Terms.Presence = prompt.PresenceSigned
	for _, c := range []struct {
		name   string
		ballot prompt.Ballot
		asked  prompt.Case
		person prompt.PersonID
		reason action.Reason
	}{
		{"by himself", signed(peer(bob), "bob@example"), byKey, "bob", 0},
		{"carried by a stranger", signed(peer(stranger), "bob@example"), byKey, "bob", 0},
		{"carried by the requester", signed(peer(deploy), "bob@example"), byKey, "bob", 0},
		{"carried from the requester's login", signed(with(peer(dave), func(p *prompt.Peer) { p.Login = login(deploy) }), "bob@example"), byKey, "bob", 0},
		{"carried out of a running action", signed(with(peer(bob), func(p *prompt.Peer) { p.InAction = true }), "bob@example"), byKey, "", action.ReasonNotFound},
		{"a key without a uid", signed(peer(stranger), "key@example"), asked(principal("key@example")), "keyonly", 0},
		{"not listed", signed(peer(stranger), "ann@example"), byKey, "", action.ReasonNotFound},
		{"not listed, carried by one who is", signed(peer(bob), "ann@example"), asked(uid(bob)), "", action.ReasonNotApprover},
		{"not listed, carried by root", signed(peer(0), "ann@example"), asked(uid(0)), "", action.ReasonNotApprover},
		{"in no person's entry", signed(peer(bob), "eve@example"), asked(principal("eve@example")), "", action.ReasonUnknownPrincipal},
		{"in no person's entry, carried by root", signed(peer(0), "eve@example"), byKey, "", action.ReasonUnknownPrincipal},
		{"the requester's own key", signed(peer(dave), "bob@example"), with(byKey, func(c *prompt.Case) { c.Requester = bob }), "", action.ReasonSelfApproval},
		{"the key of the requester's login", signed(peer(dave), "bob@example"), with(byKey, func(c *prompt.Case) { c.Login = login(bob) }), "", action.ReasonSelfApproval},
		{"unsigned by the owner of a listed key", yes(peer(bob)), asked(principal("bob@example")), "", action.ReasonNotApprover},
		{"another text", with(signed(peer(bob), "bob@example"), func(b *prompt.Ballot) { b.Digest[0] ^= 1 }), byKey, "", action.ReasonDigestMismatch},
	} {
		ruling := prompt.Rules{Persons: persons(t)}.Judge(c.ballot, c.asked, nil)
		vote, ok := ruling.Vote()
		if ok != (c.reason == 0) || ruling.Reason() != c.reason || vote.Person != c.person {
			t.Errorf("%s: %+v, %v; want %q, %v", c.name, vote, ruling.Reason(), c.person, c.reason)
		}
	}
}

func TestWhoMayDeny(t *testing.T) {
	no := func(p prompt.Peer) prompt.Ballot { return prompt.Ballot{Peer: p, Decision: action.Deny} }
	for _, c := range []struct {
		name   string
		ballot prompt.Ballot
		ok     bool
	}{
		{"an approver", no(peer(bob, ops)), true},
		{"root, always", no(peer(0)), true},
		{"the owner of a listed key", no(peer(ann2)), true},
		{"by signature", with(no(peer(stranger)), func(b *prompt.Ballot) { b.Principal = "ann@example" }), true},
		{"the requester as an approver", no(peer(deploy, ops)), true},
		{"the requester", no(peer(deploy)), false},
		{"a stranger", no(peer(stranger)), false},
		{"inside a running action", no(with(peer(0), func(p *prompt.Peer) { p.InAction = true })), false},
		{"no uid", no(peer(action.NoID)), false},
	} {
		vote, ok := prompt.Rules{Persons: persons(t)}.Judge(c.ballot, asked(gid(ops), principal("ann@example")), nil).Vote()
		if ok != c.ok || ok && vote.Decision != action.Deny {
			t.Errorf("%s: %+v, %v", c.name, vote, ok)
		}
	}
}

func TestAPersonApprovesOnce(t *testing.T) {
	rules := prompt.Rules{Persons: persons(t)}
	before := []prompt.Vote{{Person: "ann", Decision: action.Approve, Lifespan: action.Once}}
	if r := rules.Judge(yes(peer(ann2, ops)), asked(gid(ops)), before); r.Reason() != action.ReasonAlreadyVoted {
		t.Errorf("the person's other uid: %v", r.Reason())
	}
	if r := rules.Judge(signed(peer(dave), "ann@example"), asked(principal("ann@example")), before); r.Reason() != action.ReasonAlreadyVoted {
		t.Errorf("the person's key: %v", r.Reason())
	}
	if _, ok := rules.Judge(yes(peer(bob, ops)), asked(gid(ops)), before).Vote(); !ok {
		t.Error("another person cannot approve")
	}
	no := prompt.Ballot{Peer: peer(ann, ops), Decision: action.Deny}
	if _, ok := rules.Judge(no, asked(gid(ops)), before).Vote(); !ok {
		t.Error("who approved cannot think better of it")
	}
}

func TestUserMode(t *testing.T) {
	own := asked(uid(deploy))
	for _, c := range []struct {
		name                 string
		terminal, supervised bool
		inAction             bool
		want                 prompt.Presence
		reason               action.Reason
	}{
		{"with a terminal", true, false, false, prompt.PresenceTTY, 0},
		{"the rule asks for less", true, false, false, prompt.PresencePeer, 0},
		{"the rule asks for more", true, false, false, prompt.PresenceSigned, action.ReasonPresenceMissing},
		{"without a terminal", false, false, false, prompt.PresencePeer, action.ReasonPresenceMissing},
		{"a tool with a terminal", true, true, false, prompt.PresenceTTY, action.ReasonPresenceMissing},
		{"a running action", true, false, true, prompt.PresenceTTY, action.ReasonNotFound},
		{"no presence set", true, false, false, 0, action.ReasonPresenceMissing},
	} {
		own.Terms.Presence = c.want
		p := prompt.Peer{UID: deploy, Terminal: c.terminal, Supervised: c.supervised, InAction: c.inAction}
		ruling := prompt.Rules{UserMode: true}.Judge(yes(p), own, nil)
		if _, ok := ruling.Vote(); ok != (c.reason == 0) || ruling.Reason() != c.reason {
			t.Errorf("%s: %v, want %v", c.name, ruling.Reason(), c.reason)
		}
		if _, ok := (prompt.Rules{}).Judge(yes(p), own, nil).Vote(); ok {
			t.Errorf("%s: counts outside user mode", c.name)
		}
	}
}

func TestTheZeroRulingForbids(t *testing.T) {
	var r prompt.Ruling
	if _, ok := r.Vote(); ok || r.Reason() == 0 {
		t.Error("it allows")
	}
}
