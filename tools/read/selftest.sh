#!/bin/sh
# selftest.sh — try read on files of its own; prints what failed.
# selftest.sh
set -u
tool=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/read || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf -- "$dir"' EXIT
cd "$dir" || exit 1
failed=0

# try STATUS ARGUMENT... runs the tool; its output is left in out and err.
try() {
	want=$1
	shift
	"$tool" "$@" >out 2>err
	got=$?
	[ "$got" = "$want" ] || fail "read $* ended with $got, not $want: $(cat out err)"
}

# same FILE TEXT compares a file with a text and a newline.
same() {
	printf '%s\n' "$2" >expected
	cmp -s "$1" expected || fail "$1 is \"$(cat "$1")\", not \"$2\""
}

# has FILE TEXT looks for a text in a file.
has() {
	grep -q -F -e "$2" "$1" || fail "$1 does not hold \"$2\": $(cat "$1")"
}

fail() {
	printf 'selftest of read: %s\n' "$1" >&2
	failed=1
}

printf 'one\ntwo\nthree\n' >f
try 0 f
same out '1	one
2	two
3	three'
try 0 --start 2 --limit=1 f
same out '2	two
... 1 more line; use start=3'
try 0 --tail 1 f
same out '3	three
... 2 lines before; use start=1 limit=2'
printf 'a\033[31mb\377c' >odd
try 0 odd
same out '1	a\u{1b}[31mb\x{ff}c
... no newline at the end of the file
... unsafe and invisible characters are shown as \u{HEX}, bytes that are not UTF-8 as \x{HEX}'
printf '0123456789\n' >long
try 0 --width 4 long
same out '1	0123 [... 6 more bytes; use start=1 limit=1 column=5]'
try 0 --column 5 --width 20 long
same out '1	456789'
printf '\211PNG\r\n\032\n\000\000' >picture
try 1 picture
has err 'PNG image'
has err '10 bytes'
: >empty
try 0 empty
same out '... the file is empty'
printf 'x\n' >-odd
try 0 -- -odd
same out '1	x'
try 1 --start 9 f
has err 'past the end (3 lines)'
try 1 missing
try 1 .
try 2
try 2 --unknown f
has err 'unknown option --unknown'
mkfifo pipe
try 1 pipe
has err 'named pipe'

exit $failed
