// Package action is the vocabulary of privileged actions: what one request is,
// the one text by which people review it, its digests, and the words for its
// states, reasons and results. It is pure: no files, no clock, no processes.
//
// # One object, one text, one digest
//
// The daemon fills in a Request and seals it. Seal checks every field, renders
// the review text and hashes it; a Sealed request cannot be changed any more:
//
//	s, err := action.Seal(request)
//	s.Text()    // what an approver reads
//	s.Digest()  // SHA-256 of exactly that text: what is approved
//	s.Key()     // the same action asked again has the same key
//
// A client gets the object as JSON, decodes it (DecodeJSON) and so renders and
// hashes it itself; it never shows a text or a digest that it was sent. Parse
// turns a text back into the same object. Equal texts are equal requests:
// whatever Seal, Parse and DecodeJSON accept has exactly one spelling.
//
// # The review text
//
// One "name: value" per line in a fixed order, below the line that names the
// version. Free text stands in double quotes and passes escape.Escape, so no
// value can hold a line end or look like another one, and a blank at its end is
// seen. Lists say how long they are before they begin, and their items carry
// their place, counted from 0. Sealed input is shown whole, one line of it per
// line. A request whose text is longer than MaxText is refused with ErrTooLong:
// nothing is ever cut from what a person approves.
//
// Which characters are spelled out depends on the Unicode version of the Go
// release. Two programs built with different ones can disagree about a newly
// assigned character; they then disagree about the digest, and nothing runs.
//
// # Claims
//
// Claims are what the requester says about himself, Seen is what the daemon
// looked up when he connected. Both are shown after the text, marked as such;
// neither is in a digest or may decide anything.
//
// # What is not here
//
// Who may approve and see what is approval/prompt. How a request is judged is
// broker/policy. Records of what happened are internal/audit.
package action
