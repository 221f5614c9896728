// Command snens-audit shows the audit log of snens-priv to people who may read
// it: root, and the group of the log's folder (adm).
//
//	snens-audit show [ID] [FILTER...]     the records, oldest first
//	snens-audit tail [-n N] [-f]          the newest ones, and those to come
//
// It needs no privilege, starts nothing, speaks to nobody and writes nothing.
// What it prints was partly written by requesters and their programs: everything
// goes through package escape, so that no record can move the cursor or look like
// two. A line that is no record of the log is named and passed over.
//
// It does not verify: that a line is well formed says nothing about what was
// removed or replaced. snens-priv audit verify follows the chain.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// version is what the build says it is.
var version = "0.1.0-dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args, os.Stdout, os.Stderr))
}
