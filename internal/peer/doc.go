// Package peer says who is at the other end of a Unix socket.
//
// A server calls Identify right after accept, before it reads, and keeps the
// Peer. What it holds was fixed by the kernel when the other side connected
// (user, group, groups, process) or was seen in /proc at that moment while the
// process was proven to be the one that connected (Seen). Nothing in it comes
// from the peer's messages, its socket's name or a pid read twice. Every look-up
// that fails is a refusal: there is no half identity and no default one. A peer
// whose process has ended before Identify is refused too, because what it ran in
// cannot be known any more.
//
// A client calls Listener before it says anything: whoever knows the path of a
// socket can put another in its place.
//
// Do not decide by Seen.Exe, nor by the pid. UID, groups, Seen.LoginUID and
// Seen.Cgroup are the kernel's word, the last two with the limits written beside
// them.
package peer
