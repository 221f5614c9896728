// Package engine runs one program as one supervised process tree and ends with
// exactly one call.Record. It is the only place that starts processes: tools,
// --help probes, self-tests and scripts' exec all come through Start.
//
// What it promises:
//
//   - no shell, a session of its own, no terminal, descriptors 0 to 2 only;
//   - the call ends with the process, not with the end of its output: what the
//     pipes hold is kept, OutputOpen says that something still held them;
//   - stopping means TERM, grace, KILL for the whole tree, by a cgroup of the
//     call's own where one can be made, else by a sweep that signals only
//     through pidfds after a second look;
//   - memory is bounded for any amount of output, the rest goes to a capped file;
//   - a failure to start is a record too, in words a person can act on.
//
// What it does not do: find tools (supervisor/discovery), build arguments
// (supervisor/xsnens) or choose an environment (supervisor/environ).
//
// Each call is one goroutine around one poll(2) loop, so that the order of
// events is the kernel's and nothing in a call needs a lock. The methods of
// Running only post a command and wake that loop.
package engine
