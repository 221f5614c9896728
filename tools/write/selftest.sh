#!/bin/sh
# selftest.sh — try write on files of its own; prints what failed.
# selftest.sh
set -u
tool=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/write || exit 1
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
	[ "$got" = "$want" ] || fail "write $* ended with $got, not $want: $(cat out err)"
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
	printf 'selftest of write: %s\n' "$1" >&2
	failed=1
}

printf 'one\ntwo\n' >in
try 0 f <in
same out 'created f: 8 bytes, 2 lines'
same f 'one
two'
chmod 640 f
printf 'three\n' >in
try 0 f <in
same out 'replaced f: 6 bytes, 1 line'
same f 'three'
[ "$(stat -c %a f)" = 640 ] || fail "the mode became $(stat -c %a f), not 640"
try 1 --new f </dev/null
has err 'exists already'
same f 'three'
printf 'x\n' >in
try 1 a/b/c <in
has err 'cannot open the folder'
printf 'x\n' >in
try 0 --parents --mode 600 a/b/c <in
same a/b/c 'x'
[ "$(stat -c %a a/b/c)" = 600 ] || fail "the mode is $(stat -c %a a/b/c), not 600"
ln -s f link
printf 'four\n' >in
try 0 link <in
same f 'four'
[ -L link ] || fail 'the link was replaced'
ln -s nowhere dangling
printf 'x\n' >in
try 1 dangling <in
has err 'which does not exist'
printf 'x\n' >in
try 1 . <in
has err 'a folder'
printf 'x\n' >in
try 1 /dev/null <in
has err 'a device'
[ -c /dev/null ] || fail '/dev/null is no device any more'
try 0 -- -odd </dev/null
[ -f ./-odd ] || fail 'no file -odd was written'
[ ! -s ./-odd ] || fail 'the file -odd is not empty'
try 2 </dev/null
try 2 --mode 9 f </dev/null
try 2 --unknown f </dev/null
has err 'unknown option --unknown'
for left in .snens-*; do
	[ ! -e "$left" ] || fail "left behind: $left"
done

exit $failed
