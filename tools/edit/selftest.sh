#!/bin/sh
# selftest.sh — try edit on files of its own; prints what failed.
# selftest.sh
set -u
tool=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/edit || exit 1
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
	[ "$got" = "$want" ] || fail "edit $* ended with $got, not $want: $(cat out err)"
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
	printf 'selftest of edit: %s\n' "$1" >&2
	failed=1
}

printf 'one\ntwo\nthree' >f
chmod 640 f
printf '%s\n' '{"old": "two\n", "new": "2\n"}' >in
try 0 f <in
same out 'edited f: 1 replacement, line 2
--- f
+++ f
@@ -1,3 +1,3 @@
 one
-two
+2
 three
\ No newline at end of file'
printf 'one\n2\nthree' | cmp -s - f || fail "f is \"$(cat f)\""
[ "$(stat -c %a f)" = 640 ] || fail "the mode became $(stat -c %a f), not 640"
printf 'a\nb\na\n' >g
printf '%s\n' '{"old": "a", "new": "c"}' >in
try 1 g <in
has err 'occurs 2 times: lines 1, 3'
printf '%s\n' '{"old": "a", "new": "c", "all": true}' >in
try 0 --dry-run g <in
has out 'would edit g: 2 replacements, lines 1, 3'
same g 'a
b
a'
printf '%s\n' '{"old": "a", "new": "c", "all": true}' >in
try 0 g <in
same g 'c
b
c'
printf 'alpha\r\nbeta\r\n' >dos
printf '%s\n' '{"old": "alpha\nbeta", "new": "alpha\ngamma"}' >in
try 0 dos <in
printf 'alpha\r\ngamma\r\n' | cmp -s - dos || fail 'the line ends of dos were not kept'
printf '%s\n' '{"old": "gamme", "new": "x"}' >in
try 1 dos <in
has err 'does not occur'
has err 'nearest line is 2'
printf '%s\n' '{"old": "", "new": "x"}' >in
try 2 g <in
printf '%s\n' '{"old": "c", "new": "x", "more": 1}' >in
try 2 g <in
has err 'more'
printf '%s\n' 'no json' >in
try 2 g <in
printf '%s\n' '{"old": "c", "new": "x"}' >in
try 1 missing <in
printf 'x\n' >-odd
printf '%s\n' '{"old": "x", "new": "y"}' >in
try 0 -- -odd <in
same ./-odd 'y'
printf '%s\n' '{}' >in
try 2 --unknown g <in
has err 'unknown option --unknown'

exit $failed
