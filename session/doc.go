// Package session keeps what outlives a process: sessions, and the folders of
// calls that are running.
//
// StateBase chooses where state lies. A Session (Create, Open) is a folder
// with a session.json, written durably. Calls (OpenCalls) is the folder of
// running calls outside a session, laid out as
//
//	STATE/calls/ID/lock    held by flock while the call runs; its lines say what
//	                       runs and how to find the call's processes again
//	STATE/calls/ID/files/  values that a tool gets as files
//	STATE/spill/ID/        output in full and attachments: outlives the call
//
// A call's folder is made under another name, locked, and only then renamed
// into place, so that a folder whose lock is free belongs to a call whose
// supervisor died. Calls.Leftovers finds those and hands each to exactly one
// caller. Removal goes the same way back: renamed away first, then emptied. A
// few emptied folders stay as .spare-N and serve later calls.
//
// What an identity means is the business of whoever records it; here it is
// JSON handed back unread. Processes are neither started nor ended here: that
// is supervisor/engine.
package session
