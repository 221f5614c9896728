// Package broker is the server of the request socket: where programs ask for
// privileged actions and hear what became of them.
//
//	s, err := broker.New(broker.Options{...})
//	err = s.Serve(ctx, listener) // until ctx ends, then it waits for its connections
//	s.Close()                    // writes what is still counted; last
//
// It decides nothing by itself. Who connected is told by package peer, what he
// may ask for by policy, how it is made by prepare, what becomes of it by the
// queue, and what runs by execute. This package keeps their order:
//
//  1. A peer in the control group of a running action is refused at accept.
//  2. A peer whom no rule names hears the one answer "denied" to everything.
//     Nothing of what he sent is looked at, nothing is opened for him.
//  3. A run is judged by its text, made, and held against the limits; only then
//     the client is asked for descriptors, always, in a step of their own.
//  4. The descriptors are checked, the records "received" and "decided" are
//     written, the descriptors are kept, and the queue takes the request. What
//     cannot be recorded does not run.
//  5. The client who waits hears the result. When he ends the connection, or his
//     half of it, his request is given up, unless it is detached.
//
// # Methods
//
// Each is a row of the table endpoints, with who may call it: run, check, rules,
// list, result and cancel whoever a rule names, status and reload root (and the
// owner in --user mode). docs/protocol.md describes the connection. Parameters
// are read strictly; the error of one that is wrong names it.
//
// One run at a time goes on per connection, and some that wait for a result;
// other methods are answered meanwhile. A request is seen and cancelled by its
// own uid only.
//
// # Records
//
// A request that goes to the queue has its records "received" and "decided". So
// has one that the policy denies, for as long as its uid is not flooding us.
// Every other refusal is counted, and the counts are written, one record per uid
// and second. How often a uid may have people asked, and what it may add to our
// own log, is bounded too: giving up and asking anew would get round the limits
// on what waits.
//
// # Stopping
//
// When the ctx of Serve ends, nothing more is read, and no run begins. Close the
// queue then, without waiting for Serve: that ends the requests of those who
// still wait, and they are told. Who is not told by then hears "shutdown" after
// Options.Drain.
//
// # Not here
//
// Approvers have a socket and a server of their own (package approval); the
// client's half is broker/client.
package broker
