// Package sockets has what a daemon does with its listening Unix sockets: get
// them, serve them within limits, and tell systemd how it is.
//
// Passed adopts the sockets of systemd socket units. Without one, Listen makes a
// socket that is at no moment more open than configured: bound with the mode of
// its owner alone, given its group and mode, and only then made to listen. A
// socket that was left behind is removed when nobody listens on it, under a lock
// and in a folder that only we can write.
//
// Server.Serve accepts. Before anything is read from a connection it has a place
// in the Gate (so many for each uid, so many in all, some for root) and an
// identity (package peer). What happens on it is Handle's; that it is closed, and
// by whom, is Serve's.
//
// No descriptor can be sent to these sockets before wire asks for it, where the
// kernel can refuse it (Linux 6.16); elsewhere package wire does not take it.
//
// FromEnv gives the Notifier for READY=1 and the rest of sd_notify.
package sockets
