// Package mailbox sends and receives messages between sessions through folders,
// so that everything acknowledged survives a crash and a power cut, and every
// message is in one receiver's hands at a time.
//
// Create makes a box, Open opens one. A box is a folder of these folders, all of
// them ours and closed to others:
//
//	tmp/   messages that are being written
//	new/   NAME              messages that wait
//	cur/   NAME:COUNT:UNTIL  messages that somebody has claimed
//	dead/  NAME:REASON       what cannot be delivered, until somebody looks
//
// Send writes into tmp, syncs, renames into new and syncs that folder; when it
// returns nil the message is durable. Receive claims the oldest message by
// renaming it into cur, Wait does the same and waits for one. The Claim ends by
// Ack (done; the message is removed), Release (somebody else shall have it now),
// Reject (nobody shall have it) or Close.
//
// # Who holds a claim
//
// The claimant holds flock(2) on the message's file from before the rename on,
// and COUNT says for the how manieth time it was delivered. When the claimant
// dies the lock is free, and the next Receive takes the message from cur itself.
// A claim that must outlive its process (a command that prints the message and
// ends) has a lease too: UNTIL is a time in seconds since 1970, before which
// nobody else takes it; 0 is no lease. Box.Ack and Box.Release end it by its
// Receipt. Which of two claimants wins is decided by the rename alone, so a
// program that cannot lock may claim from new by mv, with a lease.
//
// Delivery is at least once: who dies between the work and Ack leaves a message
// that comes again, with the same ID and a greater Deliveries. Receivers that
// must not do a thing twice remember ids. Neither claims nor Ack are synced: a
// power cut can bring back what was acknowledged just before.
//
// # What is not delivered
//
// Anything in new or cur that is no message (a bad name, a FIFO, a link, bytes
// that Parse refuses) and a message that was delivered too often goes to dead
// with a Reason, and never stands in the way of others. Dead lists it. Expired
// messages are removed when a receiver comes across them.
//
// The layout and the file format are a public contract for programs that do not
// use this package: docs/mail.md. Which folder belongs to whom is not known
// here. The box must lie on a local file system.
package mailbox
