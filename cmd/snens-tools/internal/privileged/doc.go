// Package privileged is how a shipped tool has something done that its caller may
// not do: it asks the privilege broker, and says what came of it in words that a
// model or a person can act on.
//
//	return privileged.Task{
//		Tool: "service", Doing: "restart nginx.service",
//		Command: client.Command{Argv: []string{"/usr/bin/systemctl", "restart", "nginx.service"}},
//	}.Run(ctx, std, os.Environ())
//
// The tool sends a whole command, and the broker's policy decides. Nothing else
// is ever tried: no sudo, no second socket, no other spelling of the command.
//
// Open and Explain are for tools that ask the broker something else.
//
// # What is told
//
// While people are asked: who they are, the request's id, the beginning of the
// digest that they see too, how long. When the answer is no: why, and which of the
// caller's rules are about the same program, with what fits their slots.
//
// # Exit statuses
//
// A command that ran and failed is 1, whatever its own status was, which is told:
// so no command can look like a refusal. Refusals have the statuses of
// broker/action: 64 not understood, 69 no broker, 70 a fault, 75 later, 76 nobody
// answered, 77 not allowed, 126 and 127 not started.
package privileged
