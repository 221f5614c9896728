package broker

import (
	"context"

	"snens/approval/prompt"
	"snens/internal/wire"
)

// access says who may call a method. The zero value is nobody.
type access uint8

const (
	forNamed         access = iota + 1 // whom a rule with allow or ask names
	forAdministrator                   // root, and the owner in --user mode
)

// endpoint is a method: who may call it, and what it does. It answers by itself
// when it succeeds; an error is answered by the connection.
type endpoint struct {
	access access
	call   func(ctx context.Context, c *conn, q wire.Request) error
}

// endpoints are the methods of the request socket.
var endpoints = map[string]endpoint{
	"run":    {forNamed, run},
	"check":  {forNamed, check},
	"rules":  {forNamed, rules},
	"list":   {forNamed, list},
	"result": {forNamed, result},
	"cancel": {forNamed, cancel},
	"status": {forAdministrator, status},
	"reload": {forAdministrator, reload},
}

// may evaluates an access rule; named says that a rule names the peer.
func (s *Server) may(a access, who prompt.Peer, named bool) bool {
	switch a {
	case forNamed:
		return named
	case forAdministrator:
		return who.UID == 0 || s.o.UserMode && who.UID == s.o.Owner
	}
	return false
}
