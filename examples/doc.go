// Package examples holds clients of the privilege broker in other languages. They
// are written from docs/protocol.md alone, and tried by the tests of this folder
// against a server of the wire format and against snens-priv itself.
//
// python/snens_priv.py asks for a command, lists what waits, and approves by a
// digest that a person has read elsewhere: it cannot render a request.
package examples
