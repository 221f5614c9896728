// Package escape makes untrusted text fit to be shown and to be recorded: what
// a tool, a model or a requester wrote can neither move the cursor, nor turn
// the reading direction, nor hide, nor pass for something else unseen.
//
// Three forms, for three places:
//
//   - Escape is for records and for whatever a person decides on. It is
//     injective: two different strings never look the same, and Unescape gives
//     back the exact bytes. Every backslash is spelled out.
//   - Line is for one line on a terminal (names, causes, errors). It keeps
//     ordinary backslashes, turns tabs into spaces and drops line ends at the
//     end of the text. It is safe to print but cannot be turned back.
//   - Text is Line for several lines: line feeds and tabs stay.
//
// What is spelled out, as \u{HEX} in lower case without leading zeros: control
// and format characters, bidirectional controls, everything invisible
// (variation selectors, fillers), private-use and unassigned code points,
// every space but U+0020, and a combining mark that has no letter or digit to
// stand on, because it would be drawn over its neighbour. A byte that is not
// part of valid UTF-8 (an encoded surrogate included) is \x{HEX}, two digits.
// Letters, digits, punctuation and symbols of all scripts stay as they are.
//
// Warnings says in words what was spelled out, and names words that mix
// scripts. A word written wholly in a foreign look-alike alphabet is not
// noticed.
//
// Which code points are assigned is a matter of the Unicode version of the Go
// release (unicode.Version): text recorded by an older one still turns back,
// except where a character assigned since then is no longer spelled out.
//
// Do not use it to quote for a shell, for JSON or for HTML.
package escape
