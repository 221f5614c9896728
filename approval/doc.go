// Package approval is the server of the approval socket: where people see what
// is asked for, and say yes or no.
//
//	s, err := approval.New(approval.Options{...})
//	err = s.Serve(ctx, listener) // until ctx ends, then it waits for its connections
//	s.Close()                    // writes what is still counted; last
//
// It decides nothing by itself. Who connected is told by package peer, who may
// be here at all by the policy (Options.Holds), who may see and answer which
// request by the queue. This package keeps their order:
//
//  1. A peer in the control group of a running action is refused at accept.
//  2. A peer who approves nothing hears the one answer "denied" to everything.
//     Nothing of what he sent is looked at. It is asked anew for each request,
//     so that a reload of the policy counts at once, for a watch too.
//  3. To everybody else a request that he does not oversee is not there.
//
// Nothing that a message says makes anybody an approver. The methods have no
// parameter for who it is, and one that is not known is refused.
//
// # Methods
//
// Each is a row of the table endpoints, in a file of its own: list, show, answer,
// kill and watch. docs/protocol.md describes the connection.
//
// A request is shown as the object that would run, never as a text or a digest of
// ours: the approver's client renders it and answers with the digest of what it
// rendered.
//
// One watch at a time goes on per connection. Other methods are answered
// meanwhile, so that "watch first, then list" takes one connection. What is told
// while a list goes on comes between its answers; the ids keep them apart. The
// end of the connection, or of the client's half of it, ends the watch. Who reads
// too slowly is left off by the queue: he hears what was still kept for him, and
// "dropped" as the last answer.
//
// # Records
//
// The queue records answers, those too that it refuses. All other refusals are
// counted, and the counts are written, one record per uid and second.
//
// # Stopping
//
// When the ctx of Serve ends, nothing more is read, watches end with "shutdown",
// and who does not take that in time sees the connection end.
//
// # Not here
//
// The queue is approval/queue, its vocabulary approval/prompt; requesters have a
// socket and a server of their own (package broker). The client's half is
// approval/client.
package approval
