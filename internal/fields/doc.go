// Package fields reads and builds the objects of our own JSON formats (requests,
// votes, audit records) one field at a time.
//
// Reading starts with Parse or Of and asks for each field by its exact name.
// The first thing that is wrong is kept, every later answer is a zero value,
// and Close reports it; Close also refuses fields that nobody asked for. So a
// decoder is a list of assignments with one check at the end:
//
//	o := fields.Of(value, "request")
//	r.Argv = o.Field("argv").Texts(1024)
//	r.UID = o.Field("uid").Uint(math.MaxUint32)
//	if err := o.Close(); err != nil { ... }
//
// There is one spelling of everything: numbers are plain digits (1e3 and 1.0
// are refused), null stands for nothing and is refused, and a text that is not
// UTF-8 is {"base64": "..."} while one that is must be a string.
//
// The building half (Object, Text, Uint, ...) makes strictjson values in that
// spelling. It is not for JSON Schema values of tools, which have exact
// decimals and free forms: use strictjson itself.
package fields
