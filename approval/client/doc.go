// Package client answers for people what the privilege broker asks: it is the
// user's side of the approval socket (docs/protocol.md has the bytes).
//
//	c, err := client.Dial(ctx, client.Options{Socket: path})
//	if err != nil {
//		return client.ExitStatus(err)
//	}
//	defer c.Close()
//	p, err := c.Show(ctx, id)
//	... a person reads p.Request.Text() and says yes ...
//	state, err := c.Approve(ctx, id, p.Request.Digest(), action.Once)
//
// Dial looks at who listens before it sends a byte. Whatever the server sends of
// a request is the object that would run: prompt.Pending decodes it, seals it
// anew, and so renders and hashes it here. A text or a digest that a server adds
// is an unknown field, and the answer is refused as a whole. What is approved is
// the digest of what was rendered here, so a server that shows one request and
// runs another gets an approval that fits neither.
//
// # Errors
//
// Every error of a method but ErrDropped is a *Refused. Its Reason is the server's
// word, or unreachable and untrusted_broker where it cannot say one. Its Error is
// in our own words wherever the reason is known; else it quotes the server, so
// escape it for a terminal.
//
// A Client does one thing at a time, and Watch takes the connection for good. A
// server may hang up on one who is silent for long: a person who reads takes his
// time, so dial anew for the answer.
package client
