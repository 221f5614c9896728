// Package queue is the life of a privileged request after the policy judged it:
// who waits, who is asked, what the answers mean, and that what was approved is
// run once. It has no sockets; identities come in as prompt.Peer, and time is
// time.Now.
//
//	q, err := queue.Open(ctx, queue.Options{Store: dir, Audit: queue.Log(w), Policy: p, Runner: r})
//	ticket, err := q.Submit(ctx, queue.Submission{ID: queue.NewID(), ...})
//	state, err := q.Answer(ctx, id, ballot, seen)  // an approver
//	result, err := ticket.Wait(ctx)                // the requester
//	ticket.Leave()                                 // his connection ended
//	q.Close(ctx)
//
// What a peer did wrong, or came too late for, is a *Refusal with a reason code;
// any other error is a fault of ours. To a peer that may not see a request
// there is none: not_found. Who is told that too often hears busy for a while,
// and nothing is looked up for him.
//
// # The way of a request
//
// received, pending, approved, spent, running, and one of the final states; the
// steps are those of action.State.CanBecome. Each is taken in memory first,
// under the queue's lock, so that of an answer, a deadline and a cancellation
// that come together exactly one wins. Then, with the lock given back, it is
// written down: on the disk, in the audit log, to those who watch. The lane of a
// request keeps its own writings in order and holds up no other request.
//
// Between an approval and its run stand, in this order: the policy is asked
// whether everything is still as it was approved; the request is claimed, which
// nobody can do a second time; space for the records of the run is reserved;
// the request's file says spent; the audit log says spent and (when a person's
// approval is used up) is on the disk.
// If any of this fails nothing runs, and the request ends.
//
// # What always ends, and in no
//
// A request waits until it expires and no longer, by whichever of the wall clock
// and the monotonic one is ahead. An answer after that is told gone. A requester
// who leaves takes his request with him unless it is detached.
//
// # After the death of the process
//
// Open reads what the store kept. What was spent is lost and never run again,
// whatever is left of it is ended. Waiting requests end with daemon_restart.
// Detached ones are held against the policy, recorded as pending anew, and asked
// again from the start: answers given before do not count.
//
// # Floods
//
// Limits bound what one uid and what all may have here, in number and in bytes.
// Submit records nothing about what it refuses: the caller counts those refusals
// (audit.Refusals), so that a flood does not fill the log.
package queue
