package approval

import (
	"context"

	"snens/approval/prompt"
	"snens/internal/wire"
)

// access says who may call a method. The zero value is nobody.
type access uint8

// forApprovers is whom Options.Holds lets in. What he may do to one request is
// the queue's to say.
const forApprovers access = 1

// endpoint is a method: who may call it, and what it does. It answers by itself
// when it succeeds; an error is answered by the connection.
type endpoint struct {
	access access
	call   func(ctx context.Context, c *conn, q wire.Request) error
}

// endpoints are the methods of the approval socket.
var endpoints = map[string]endpoint{
	"list":   {forApprovers, list},
	"show":   {forApprovers, show},
	"answer": {forApprovers, answer},
	"kill":   {forApprovers, kill},
	"watch":  {forApprovers, watch},
}

// may evaluates an access rule.
func (s *Server) may(a access, who prompt.Peer) bool {
	return a == forApprovers && s.o.Holds(who)
}
