#!/bin/sh
# selftest.sh — try grep on files of its own; prints what failed.
# selftest.sh
set -u
tool=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/grep || exit 1
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
	[ "$got" = "$want" ] || fail "grep $* ended with $got, not $want: $(cat out err)"
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
	printf 'selftest of grep: %s\n' "$1" >&2
	failed=1
}

mkdir -p src/deep .git
printf 'alpha\nbeta\nalphabet\n' >src/b.txt
printf 'x\nalpha\n' >src/a.go
printf 'alpha\000' >src/deep/binary
printf 'alpha\n' >.git/hidden
try 0 alpha src .git
same out 'src/a.go:2:alpha
src/b.txt:1:alpha
src/b.txt:3:alphabet
.git/hidden:1:alpha
... skipped: 1 binary file that may match'
try 0 --word --glob '*.txt' alpha
same out 'src/b.txt:1:alpha
... skipped: 1 version-control folder'
try 0 --context 1 --limit=1 alpha src
same out 'src/a.go-1-x
src/a.go:2:alpha
... 2 more matching lines in 1 file not shown; use limit=3, or narrow the search by path, glob or pattern
... skipped: 1 binary file that may match'
try 1 omega src/a.go
same out '... no match in 1 file'
try 2 alpha missing
has err 'missing'
try 2 '(' src
has err 'pattern is wrong'
try 2
try 2 --unknown alpha
has err 'unknown option --unknown'
printf 'see -v\n' >-odd
try 0 -- -v -odd
same out '-odd:1:see -v'

exit $failed
