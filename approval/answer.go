package approval

import (
	"context"

	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/wire"
)

// answer is the method answer: a yes or a no. Who it is from is the connection's
// to say, and no parameter's.
func answer(_ context.Context, c *conn, q wire.Request) error {
	id, ballot, err := readAnswer(q.Fields())
	if err != nil {
		return err
	}
	ballot.Peer = c.who
	state, err := c.s.o.Queue.Answer(id, ballot, c.seen)
	if err != nil {
		return err
	}
	return c.reply(q.ID, said(state.String()))
}

// readAnswer reads the parameters.
func readAnswer(o *fields.Reader) (id action.RequestID, b prompt.Ballot, err error) {
	id = readID(o)
	b.Decision = fields.Word(o.Field("decision"), action.ParseDecision)
	b.Digest = fields.Word(o.Field("digest"), action.ParseDigest)
	switch lifespan, given := o.Optional("lifespan"); {
	case b.Decision == action.Approve && !given:
		o.Failf("there is no lifespan; an approval says for how long it is: once")
	case b.Decision == action.Deny && given:
		o.Failf("there is a lifespan; a denial has none")
	case given:
		b.Lifespan = fields.Word(lifespan, action.ParseLifespan)
	}
	return id, b, read(o)
}
