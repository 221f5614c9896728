// Package safefile opens, checks, writes and locks files that somebody else
// might have tampered with. Every check is made on what was opened, never on
// a path that is opened afterwards, and no open can hang on a FIFO.
//
// Reading:
//
//   - ReadFile: any regular file, symlinks followed, size bounded.
//   - ReadPrivate: our own file that nobody else may read or write.
//   - ReadTrusted: a file that nobody but root and one uid can have written,
//     its folders included; CheckTrusted is the same question without reading,
//     and also takes folders. CheckEntry asks it about a single component.
//
// Writing and keeping:
//
//   - WriteFile replaces a file atomically and durably; ReplaceFile atomically
//     only, for what need not survive a power cut.
//   - EnsurePrivateDir makes or checks a folder that is ours alone.
//   - Lock and TryLock hold a lock file by flock(2); the kernel frees it when
//     the holder dies.
//
// # What trusted means
//
// A path is trusted for a uid when each component, from the root folder to the
// file, belongs to root or that uid and is writable by neither group nor
// others. (An access control list that lets somebody write shows in the group
// bits, so it is covered.) A folder with the sticky bit, such as /tmp, may be
// writable by all: there only the owner of an entry can replace it, and the
// entry itself is checked next. The path is resolved here, component by
// component: a symlink must itself belong to root or the uid, and everything on
// the way to its target is checked like the rest. The last component must be a
// regular file or a folder, and as the last one a sticky folder is not trusted,
// because anybody can add entries to it.
//
// Root is always trusted. For uid 0 this means that only root can have
// written the path.
package safefile
