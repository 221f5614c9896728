#!/bin/sh
# selftest.sh — try sysinfo on files of its own; prints what failed.
# selftest.sh
set -u
tool=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/sysinfo || exit 1
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
	[ "$got" = "$want" ] || fail "sysinfo $* ended with $got, not $want: $(cat out err)"
}

# has FILE TEXT looks for a text in a file.
has() {
	grep -q -F -e "$2" "$1" || fail "$1 does not hold \"$2\": $(cat "$1")"
}

fail() {
	printf 'selftest of sysinfo: %s\n' "$1" >&2
	failed=1
}

try 0
for word in os: uptime: load: memory: disks: units:; do
	has out "$word"
done
try 0 memory os
[ "$(wc -l <out)" = 2 ] || fail "two sections printed $(wc -l <out) lines"
has out 'os: '
has out 'memory: '
try 2 weather
has err 'no section is called'
try 2 --unknown
has err 'unknown option --unknown'

exit $failed
