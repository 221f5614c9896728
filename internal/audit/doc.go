// Package audit writes and verifies the log of what the broker did: JSON lines,
// each chained to the one before, in a folder that only root writes.
//
// # Writing
//
//	w, err := audit.Open(audit.Options{Dir: logs, StateDir: state}, now)
//	err = w.Append(now, audit.Entry{Kind: audit.Pending, ID: id, Digest: d})
//	err = w.AppendSync(now, spent)      // on disk when it returns
//	final, err := w.Reserve()           // before something is started
//	err = final.Append(now, exited)     // cannot fail for want of space
//
// No record, no run: whoever gets an error from Append or Reserve does not do
// what the record would have said. The log goes on after an error; a full disk
// is noticed before a byte is written, and the next Append tries again.
//
// # The files
//
// audit-N.jsonl, N (20 digits) being the number of the first record. A file is
// never renamed; at MaxSegment a new one begins with a "rotated" record. A line
// is one object: seq, time, kind, the fields of the kind, prev and hash. hash is
// the SHA-256 of the line up to the comma before "hash", prev is the hash of the
// record before (zeros for the first). So `sha256sum` is enough to check one.
//
// The state folder holds the head: how many records there are, the hash of the
// last, and how many of them are known to be on the disk. It is what a cut at
// the end is measured against. Who can write both folders can rewrite history;
// only copies elsewhere bound that.
//
// # After a crash
//
// Open puts right what a crash can leave. An unfinished last line is cut off and
// described by a "torn" record. Records that were written but not yet on the
// disk when the power went are named by a "gap" record, which Verify accepts
// with a note. Anything else that does not fit is left as it is, named by a
// "damaged" record, and remains a fault for Verify; the log goes on in a new
// file, because a broker without a log could not deny anything either.
package audit
