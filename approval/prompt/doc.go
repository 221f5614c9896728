// Package prompt is the vocabulary of asking people: what waits for them, who
// may see and answer it, what an answer is and what the answers together mean.
// It is pure: no files, no clock, no sockets.
//
// Rules holds the two questions that the queue asks before it does anything for
// a peer, Owns and Oversees, and the one about an approval, Judge. Tally turns
// the votes that Judge let through into an Outcome. Every zero value here
// means no: a zero Ruling forbids, a zero Outcome allows nothing, a zero
// Presence is never shown.
//
// # Who is who
//
// Peers are uids and groups as the kernel gave them at connect. Human beings are
// persons: Persons says which uids and which keys' principals are one of them.
// A uid in no entry is a person of its own, a principal in no entry is nobody.
// The requester's person may not approve, whichever uid, login or key of his
// he uses.
//
// The identity of a signed vote is the principal of its key. Who carried it to
// the socket then does not matter.
//
// How long something waits, and what happens with the answer, is the queue's.
package prompt
