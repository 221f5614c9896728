#!/bin/sh
# selftest.sh — try wc-lines on files of its own; prints what failed.
# selftest.sh
set -u
tool=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/wc-lines || exit 1
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
	[ "$got" = "$want" ] || fail "wc-lines $* ended with $got, not $want: $(cat out err)"
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
	printf 'selftest of wc-lines: %s\n' "$1" >&2
	failed=1
}

printf 'one\n\n  \ntwo' >f
try 0 f
same out 'f: 4'
try 0 --no-empty f
same out 'f: 2'
: >empty
try 0 -- empty
same out 'empty: 0'
try 0 --no-empty -- empty
same out 'empty: 0'
printf 'x\n' >-odd
try 0 -- -odd
same out '-odd: 1'
try 2
try 2 --unknown f
has err 'unknown option --unknown'
try 2 f empty
try 1 missing
try 1 "$dir"
try 0 --help
has out 'wc-lines — '
has out 'wc-lines <path> [--no-empty]'

exit $failed
