// Package prepare makes of a judged request the sealed action that people
// approve and that runs: the program opened and hashed, the whole environment,
// the folder, the identity. Right before it runs it tells whether that still holds.
//
//	m := prepare.New(prepare.Options{Policy: holder.Current, Opener: opener, Install: id})
//	j := m.Judge(ask)                         // by text alone, opens nothing
//	p, err := m.Make(ctx, ask, j, time.Now()) // *Refusal: answered to the requester
//	p.Request, p.Rule                         // for the queue
//	p.Program, p.Opened                       // for the run; p.Close() when they are not needed
//	change, holds := m.StillHolds(ctx, p.Request) // at spend
//	p, err = m.Resume(ctx, sealed)            // after a restart, for what was detached
//
// # What is opened, and for whom
//
// A request is judged by its text first. Only for one that a rule lets through,
// by itself or by asking, is anything opened: the rule's command and its
// interpreters, as root, since nobody but root can have written them; and what
// the requester names, with the requester's rights (his uid, gid and groups as
// the kernel told them at connect), so that he can learn of it and do with it
// only what he could do himself:
//
//   - The word of a path slot with as = "fd". It is looked up beneath the slot's
//     folder without a symlink (on the way to that folder only root's are followed), must be a regular file that he can read, and is
//     opened for reading once. The command gets that descriptor as 3, whatever is
//     put at the path later, and /proc/self/fd/3 stands in its argv. A folder is
//     refused: through its descriptor a command could be led by .. or by a symlink
//     to files that the requester cannot read. A device or a FIFO is never opened.
//   - The folder of a rule with cwd = "requester". What the client says is a
//     claim, and the run enters with the rights of whom it runs as. So the path
//     must be absolute, clean and without symlinks, and the requester must be able
//     to enter it himself, when he asks and again right before it runs. The run
//     compares the folder that it is in with the path (package spawn); what lies
//     in the folder is the requester's to change, as it would be without a broker.
//
// A command that opens /proc/self/fd/3 again opens the file anew, with its own
// rights: one that writes there as root can write to what the requester may only
// read. Do not give as = "fd" to commands that write to their arguments. And one
// that runs as a user who may not read the file cannot open it again either.
//
// On a FUSE file system that is its owner's alone nothing can be opened, for him
// neither: the kernel lets no thread of another user's process in, whatever
// rights it took on (measured). He copies the file, or lets others in.
//
// An open can hang in a file system that the requester serves. It is waited for
// as long as ctx lasts, at most five seconds; a thread that hangs on counts
// against its uid, and from four on the uid hears busy.
//
// # What a requester learns
//
// Refusal.Why is for him: what is wrong with what he sent, and what his own rights
// would have told him. Refusal.Cause is for the log: which folder is writable, by
// which digest a pinned program differs. Whoever no rule names gets the reason
// denied and no word, from Judge already. The rule's command he may know
// (Policy.Visible), so that it is missing is told: command_missing; everything
// else that is wrong with it, a pinned digest too, is cannot_start.
//
// # What holds
//
// StillHolds judges again under the policy in force, by the stored requester and
// command, makes the request afresh and seals it with the old nonce and expiry.
// It holds exactly when that has the same digest: so nothing can be left out of
// the comparison. Where the rule is another one, or reads differently, that is
// stale_rule, and everything else is stale_file. The file of an as = "fd" slot is
// not opened again, as the command gets the descriptor that is held; Resume,
// which has none, opens it and compares device and inode.
//
// # What is not here
//
// Who may ask and what is broker/policy; limits and deadlines are approval/queue;
// the run is broker/execute.
package prepare
