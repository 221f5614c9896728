// Package wire is the protocol of our Unix sockets: lines of strict JSON, and
// one step that moves descriptors. docs/protocol.md describes it for clients in
// other languages.
//
// A server wraps an accepted connection by New, greets by Accept and then works
// in one loop:
//
//	req, err := conn.ReadRequest(idle)
//	if err != nil {
//		conn.Refuse(err) // says why, where somebody may be listening
//		return
//	}
//
// ReadRequest gives the parameters as a value; req.Fields() reads them with
// internal/fields. Decode them at once and drop the Request: a value takes many
// times the memory of its line. Answers are Reply, More and Fail. A client uses
// Hello, Send and ReadReply.
//
// One goroutine reads a Conn, any number may write. Every wait ends: a greeting
// and each line have a time from start to end, however slowly their bytes come
// in, and so has each write. Memory is bounded by line limits and by a Budget
// that all connections share.
//
// # Descriptors
//
// TakeFDs and SendFDs are the only way to move them. Everywhere else a
// descriptor that comes with bytes ends the connection: each read looks first
// (MSG_PEEK, without room for descriptors) and takes only bytes that carry none.
// A plain read would drop them in the kernel, and dropping is closing: a socket
// with SO_LINGER then holds the reading thread for as long as its owner likes.
//
// Nothing here calls a method on a descriptor of a peer that could block.
// Inspect asks for its flags and kind only, and closing is left to a Closer.
// Do not make an *os.File of one: the runtime would close it in a place of its
// own choosing.
package wire
