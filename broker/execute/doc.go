// Package execute runs sealed actions, each exactly once, and keeps what belongs
// to the requests that wait for that.
//
//	err := execute.Harden()                    // once, after the signals are handled
//	tree, err := execute.Probe()               // once, before any client; nil tree: the fallback
//	x, err := execute.New(execute.Options{...})
//	x.Room(uid)                                // may he ask for more?
//	err = x.Look(uid, socket, n)               // before descriptors are received
//	err = x.Keep(id, uid, held)                // before the request is submitted
//	ending := x.Run(ctx, id, sealed, started)  // once
//	x.Drop(id)                                 // after its end, whatever that was
//	x.Clear(ctx, id)                           // of a request whose run an earlier process began
//
// It decides nothing: that the request was approved, and holds still, is asked
// before. What runs is read from the sealed request and nothing else; what was
// kept beside it is compared with it, and a difference ends the request.
//
// # What is kept
//
// The program, opened and hashed when the request was made. The requester's
// descriptors and the files that were opened with his rights: these lie in a
// message (SCM_RIGHTS) in a socket of ours until the run, because the exec of
// every child closes a copy of each descriptor in our table, and a file system
// of the requester's could hold that up (see package spawn). Between a request's
// Keep and its Run nothing of a requester's is in our table, apart from a
// closing under way. One of our descriptors is used for each request.
//
// The kernel counts what is in flight against RLIMIT_NOFILE of the user that
// sent it, which is us, unless that is root with its capabilities. Where it
// refuses (ETOOMANYREFS), or our table is full, the answer is ErrBusy.
//
// A file of a FUSE file system is refused (ErrDescriptors), because the
// requester may be the file system, and neither the start nor the closing would
// end before he likes; a client copies through a pipe then. Pipes and devices
// are not asked anything. Keep waits for an answer two seconds at most.
// Look does the same with what lies unreceived in the client's socket, so that such
// a file is not in our table between its receipt and its parking either; package
// prepare does not open one for an opened slot.
//
// Everything of a requester's is closed by the wire.Closer, which nobody waits
// for.
//
// # What cannot be ended
//
// An action that survives SIGKILL, or whose start hangs in the kernel, is
// counted against the requester's uid until it is gone, and so is a file
// system that does not say what it is; with too many, Room and
// Keep refuse him.
//
// # Where an action is
//
// Its control group is named after the installation and the request's id: Clear
// finds what an earlier process left, two brokers whose groups lie side by side
// leave each other's alone, and InAction sees from a peer's group that he is part of an
// action, of any broker, now or of an earlier process. A process with root's rights can leave
// its group. Without control groups (the fallback) an action is its session and
// what descends from it, which InSession can tell as long as it runs here, from
// the moment after its exec on; after the death of this process nothing can be
// found, and Clear says so.
package execute
