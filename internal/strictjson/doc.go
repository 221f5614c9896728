// Package strictjson reads JSON from people and programs that are not trusted,
// so that every reader of the same bytes sees the same value.
//
// Use Parse for any JSON that comes from outside: arguments of a model, files
// of tool authors. It accepts one value and refuses what other readers
// disagree about: a byte order mark, bytes that are not UTF-8, half surrogate
// pairs, a key given twice, anything after the value, and more depth, bytes or
// tokens than the caller allows. What it accepts, encoding/json accepts too.
//
// A Value keeps the order of keys and the text of numbers, so that it can be
// handed on unchanged: nothing passes through a float. PlainNumber turns the
// text of a number into digits (1e6 into 1000000) and says whether it is whole.
// AppendJSON prints a Value in one compact form, without HTML escapes.
//
// It is not for decoding into Go structs, and not for streams.
package strictjson
