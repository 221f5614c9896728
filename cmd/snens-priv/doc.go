// Command snens-priv is the privilege broker: a daemon of root, and the commands
// of its administrator. Nothing in it is set-uid.
//
//	snens-priv serve                     listens, judges, asks, runs, records
//	snens-priv check                     is the policy as it should be?
//	snens-priv explain --as USER -- CMD  how does it judge this?
//	snens-priv reload | status           ask the daemon, as root
//	snens-priv audit verify              is the log as it was written?
//
// One command per file: cmd_NAME.go. The options of the command line are those of
// package flag: no library that people's programs use is linked into this one
// (docs/linked/snens-priv.txt, and a test that holds the list closed).
//
// # What serve wires
//
// The packages do not know each other; the adapters here (adapter_NAME.go) are
// all that stands between them, and they decide nothing.
//
//	request socket -> broker -> broker/prepare, broker/policy   judged, made
//	                         -> approval/queue                  waits, is answered
//	approval socket -> approval -> approval/queue
//	approval/queue -> broker/prepare   does it still hold?
//	               -> broker/execute   runs it, by internal/spawn
//	               -> internal/audit   written before it is done
//
// # The order of the start
//
// Passed sockets are taken over first, before anything else opens files. Then
// the circumstances are judged (package execute's Harden, whose folders the state
// and the log are), the policy is loaded, the log opened and the start recorded,
// the place for control groups tried, what an earlier process left taken up and
// ended, and only then somebody can connect. READY=1 comes last. What fails on the
// way ends the program with status 1 and one line that says what to do.
//
// # While it serves
//
// SIGHUP and the method reload load the policy again; a policy with a fault
// changes nothing but the status, which names the fault. SIGTERM and SIGINT stop:
// who waits is told so, what runs is ended within the time of stopBound, the stop
// is recorded. A second one hurries. The watchdog is fed as long as the queue
// answers.
//
// # The method status
//
// On the request socket, for uid 0 and the owner in --user mode, without
// parameters. The result, of which all is always there but what has a "?":
//
//	version   text          started  instant     uptime  duration
//	pid       number        boundary "root" | "none"
//	memory    bytes resident
//	policy    {generation, digest, rules, files: [text], error?: text}
//	          error is why the last load failed; the policy before it is in force
//	sockets   [{name: "request" | "approval", path, passed: bool}]
//	requests  {pending, running, live, unkillable}
//	audit     {count, hash, synced, error?: text}
//	          the head of the log; error is why a run could not be recorded now
//	groups    {available: bool, text}   control groups, or why the fallback is used
//
// # --user
//
// The whole broker without root, for the one user who starts it: actions run as
// that user, both sockets are 0600, and a terminal takes the place of another
// person. It guards against mistakes and is no boundary: a program of the same
// user can get round it. serve, status and every record of the log say so.
package main
