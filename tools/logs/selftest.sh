#!/bin/sh
# selftest.sh — try logs on files of its own; prints what failed.
# selftest.sh
set -u
tool=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/logs || exit 1
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
	[ "$got" = "$want" ] || fail "logs $* ended with $got, not $want: $(cat out err)"
}

# has FILE TEXT looks for a text in a file.
has() {
	grep -q -F -e "$2" "$1" || fail "$1 does not hold \"$2\": $(cat "$1")"
}

fail() {
	printf 'selftest of logs: %s\n' "$1" >&2
	failed=1
}

try 2 --unknown
has err 'unknown option --unknown'
try 2 --priority loud
try 2 --since never
try 2 --grep '('
try 2 --limit 0
try 2 word
try 2 --file syslog --unit ssh
try 3 --file no/such/file
try 3 --file ../../etc/passwd
has err 'is not below /var/log'
# What the machine holds is not known; that it can be asked is.
"$tool" --limit 2 >out 2>err
got=$?
case $got in
0 | 1 | 3) ;;
*) fail "logs --limit 2 ended with $got: $(cat out err)" ;;
esac

exit $failed
