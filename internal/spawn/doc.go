// Package spawn runs one privileged action: exactly the program that was
// opened, with exactly the identity, environment and descriptors given, in a
// tree of processes that has an end.
//
//	o := spawn.NewOpener(0)                  // once: only root may have written a program
//	p, err := o.Open("/usr/bin/systemctl")   // at the request: opened and hashed
//	p.Files()                                // what goes into the request and its digest
//	err = p.Same(approved)                   // before the start: *ChangedError = stale
//	r, err := spawn.NewRunner(tree)          // once; without a cgroup.Tree the fallback
//	proc, err := r.Start(ctx, spec)          // nil error: the exec has happened
//	<-proc.Done(); proc.Result()             // or proc.Cancel() when the requester is gone
//	<-proc.Gone()                            // only after Unkillable it comes later
//
// It decides nothing: who may run what is settled before, and whether a
// descriptor of a peer is fit for the child is asked elsewhere (wire.CheckStdio).
//
// # What runs
//
// A binary is run from the descriptor that was hashed, as /proc/self/fd/N, so a
// path that changes meanwhile changes nothing. A script must be run by its path,
// since its interpreter opens it again (and $0 would be the descriptor): it and
// its chain of interpreters are opened afresh, checked as root's alone and
// compared by device, inode and digest right before. The child then stands still
// at its exec, before the first instruction, and is looked at from outside:
// executable, ids, groups, umask, session, terminal, descriptors and folder must
// be what was asked for, or it is killed. Only then is it let go.
//
// A script's arguments are made by the kernel: it sees its interpreter's path as
// argv[0] and its own path as $0, and the Argv[0] given is lost. Of
// "#!/usr/bin/env x" only env is in the identity; x comes from the PATH given.
// The loader and the libraries of a binary are not hashed.
//
// Measured on Linux 6.18: argv[0] and cmdline are those given, /proc/PID/exe is
// the real path, and comm (what ps and pgrep by name see) is the number N of the
// descriptor. execveat would keep the name there from 6.14 on, and not before; Go
// cannot execveat in a fork.
//
// # What the caller sees to
//
//   - No thread of its own may wait for any child (wait4 of -1).
//   - Signals that this process ignores or blocks from its own start are ignored
//     or blocked in the child; handled ones are not. So handle SIGHUP and SIGINT.
//   - Options of its service (nice, OOM score, no_new_privs, seccomp, mounts) are
//     inherited.
//   - Spec.Dir is clean and without symlinks, or trusted: what is entered is
//     compared with it.
//   - The exec of every child closes its copies of all descriptors of this
//     process, and each closing asks the file system. Measured: one descriptor on
//     a FUSE file system that does not answer holds up every start while it is in
//     our table, whosever it is (StartError.Released); one that lies in a message
//     of a socket pair of ours (SCM_RIGHTS) until it is needed holds up none. So
//     what peers send is kept there while they wait.
//   - A start as another user makes this process undumpable, or whatever
//     fs.suid_dumpable says.
//   - With the fallback, no children with sessions of their own from elsewhere.
package spawn
