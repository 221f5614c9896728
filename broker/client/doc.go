// Package client asks the privilege broker: it is the user's side of the
// request socket (docs/protocol.md has the bytes).
//
//	c, err := client.Dial(ctx, client.Options{Socket: path})
//	if err != nil {
//		return client.ExitStatus(err)
//	}
//	defer c.Close()
//	result, err := c.Run(ctx, client.Request{
//		Rule:  "restart-web",
//		Slots: map[string][]string{"unit": {"nginx"}},
//		Files: [3]*os.File{os.Stdin, os.Stdout, os.Stderr},
//	}, func(p client.Pending) { /* people were asked */ })
//
// Dial looks at who listens before it sends a byte: knowing the path of a socket
// gives nobody our arguments. Run waits until the command has ended, however
// long people and the command take; the end of ctx hangs up, which cancels the
// request or ends the command, and Run waits (Options.Patience) for the broker
// to say what became of it.
//
// # Errors
//
// Every error of a method is a *Refused. Its Reason is the broker's word (or
// unreachable, untrusted_broker, lost, where the broker cannot say one), its
// ExitStatus what a command ends with. A command that ran and failed is no
// error: that is in the Result.
//
// # Streams
//
// The broker takes files, pipes and devices as the command's 0, 1 and 2. A socket
// among Files is served by a pipe and copied here, in both directions; what the
// command wrote is copied to its end before Run returns. So is a file of a file
// system that is a program (FUSE): of such a stdin more may be read than the
// command reads, and Run waits for that file system, even when ctx has ended.
//
// A Client does one thing at a time. To cancel a request that another goroutine
// waits for, end its ctx, or call Cancel on a connection of its own.
package client
