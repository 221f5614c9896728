package prompt_test

import (
	"testing"

	"snens/approval/prompt"
	"snens/broker/action"
)

// Every combination of a small world, against what must hold whatever the code
// thinks: who is listed, who is the same human being.
func TestEveryCombination(t *testing.T) {
	people := persons(t)
	human := map[action.UID]string{deploy: "deploy", ann: "ann", ann2: "ann", bob: "bob", 0: "root"}
	keys := map[string]string{"ann@example": "ann", "bob@example": "bob"}
	uids := []action.UID{deploy, ann, ann2, bob, 0}
	logins := append([]action.Login{{}}, login(ann), login(deploy))
	froms := [][]prompt.Selector{nil, {gid(ops)}, {uid(0)}, {uid(ann), principal("ann@example")}, {principal("bob@example")}}
	counted, refused := 0, 0
	for _, from := range froms {
		for _, requester := range uids {
			for _, requesterLogin := range logins {
				for _, voter := range uids {
					for _, voterLogin := range logins {
						for _, key := range []string{"", "ann@example", "bob@example", "eve@example"} {
							for bits := range 1 << 4 {
								c := asked(from...)
								c.Requester, c.Login = requester, requesterLogin
								b := yes(peer(voter))
								b.Peer.Login, b.Principal = voterLogin, key
								inOps, inAction, wrongText, deny := bits&1 != 0, bits&2 != 0, bits&4 != 0, bits&8 != 0
								if inOps {
									b.Peer.Groups = []action.GID{ops}
								}
								b.Peer.InAction = inAction
								if wrongText {
									b.Digest[0] ^= 1
								}
								if deny {
									b.Decision, b.Lifespan = action.Deny, 0
								}
								vote, ok := prompt.Rules{Persons: people}.Judge(b, c, nil).Vote()
								if !ok {
									refused++
									continue
								}
								counted++
								who := human[voter]
								if key != "" {
									who = keys[key]
								}
								if wrong := whatIsWrong(who, human, b, c, inOps, deny, vote); wrong != "" {
									t.Fatalf("%s: %+v of %+v became %+v", wrong, b, c, vote)
								}
							}
						}
					}
				}
			}
		}
	}
	if counted == 0 || refused == 0 {
		t.Errorf("%d counted, %d refused", counted, refused)
	}
}

// whatIsWrong says why the ballot should never have counted.
func whatIsWrong(who string, human map[action.UID]string, b prompt.Ballot, c prompt.Case, inOps, deny bool, vote prompt.Vote) string {
	listed := false
	for _, s := range c.Terms.From {
		switch s.Kind {
		case prompt.SelectGID:
			listed = listed || inOps && b.Peer.UID != 0 && b.Principal == ""
		case prompt.SelectUID:
			listed = listed || s.UID == b.Peer.UID && b.Principal == ""
		case prompt.SelectPrincipal:
			listed = listed || s.Principal == b.Principal
		}
	}
	switch {
	case b.Peer.InAction:
		return "a running action answers"
	case who == "":
		return "nobody answers"
	case deny && vote.Decision == action.Deny:
		return ""
	case vote.Decision != action.Approve || deny:
		return "the vote is not the ballot"
	case b.Digest != c.Digest:
		return "another text"
	case !listed:
		return "not listed"
	case who == human[c.Requester]:
		return "the requester approves"
	case c.Login.Set && who == human[c.Login.UID]:
		return "the requester's login approves"
	case b.Principal == "" && b.Peer.Login.Set && human[b.Peer.Login.UID] == human[c.Requester]:
		return "the requester approves as another user"
	case b.Principal == "" && b.Peer.Login.Set && c.Login.Set && human[b.Peer.Login.UID] == human[c.Login.UID]:
		return "the same login"
	}
	return ""
}

func TestWhoSeesWhat(t *testing.T) {
	rules := prompt.Rules{Persons: persons(t)}
	c := asked(gid(ops), uid(dave), principal("ann@example"), principal("eve@example"))
	for _, p := range []struct {
		name     string
		peer     prompt.Peer
		owns     bool
		oversees bool
	}{
		{"the requester", peer(deploy), true, false},
		{"the requester in the approvers' group", peer(deploy, ops), true, true},
		{"an approver by group", peer(bob, ops), false, true},
		{"an approver by uid", peer(dave), false, true},
		{"the owner of a listed key", peer(ann), false, true},
		{"another uid of his", peer(ann2), false, true},
		{"root", peer(0), false, true},
		{"a stranger", peer(stranger, wheel), false, false},
		{"no uid", peer(action.NoID, ops), false, false},
		{"a running action of the requester", with(peer(deploy, ops), func(p *prompt.Peer) { p.InAction = true }), false, false},
		{"a running action as root", with(peer(0), func(p *prompt.Peer) { p.InAction = true }), false, false},
	} {
		if got := rules.Owns(p.peer, c); got != p.owns {
			t.Errorf("%s owns: %v", p.name, got)
		}
		if got := rules.Oversees(p.peer, c); got != p.oversees {
			t.Errorf("%s oversees: %v", p.name, got)
		}
	}
	if rules.Owns(peer(action.NoID), prompt.Case{Requester: action.NoID}) {
		t.Error("nobody owns what nobody asked")
	}
}
