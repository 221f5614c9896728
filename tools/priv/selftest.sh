#!/bin/sh
# selftest.sh — try priv without a broker and without rights; prints what failed.
# selftest.sh
set -u
tool=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/priv || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf -- "$dir"' EXIT
cd "$dir" || exit 1
failed=0
# Never the machine's own broker.
SNENS_PRIV=$dir/none.sock
SNENS_CONFIG=/dev/null
export SNENS_PRIV SNENS_CONFIG

# try STATUS ARGUMENT... runs the tool; its output is left in out and err.
try() {
	want=$1
	shift
	"$tool" "$@" >out 2>err </dev/null
	got=$?
	[ "$got" = "$want" ] || fail "priv $* ended with $got, not $want: $(cat out err)"
}

# has FILE TEXT looks for a text in a file.
has() {
	grep -q -F -e "$2" "$1" || fail "$1 does not hold \"$2\": $(cat "$1")"
}

fail() {
	printf 'selftest of priv: %s\n' "$1" >&2
	failed=1
}

try 2
has err 'needs a rule or a command'
try 2 --list --rule x
try 2 --rule x -- true
try 2 --slots '{}'
try 2 --rule x --slots '[1]'
has err 'must be an object of words'
try 2 --rule 'a b'
try 2 --result nonsense
try 2 --check --reason x -- true
try 2 ''
try 69 --list
has err 'cannot ask the broker: cannot reach the broker'
has err 'hint: this needs the privilege broker'
try 69 --check -- true
try 69 --reason 'a reason' -- /usr/bin/true x
has err 'cannot run /usr/bin/true x: cannot reach the broker'
try 69 --rule restart --slots '{"unit": "a.service", "n": 3, "more": ["x"]}'

exit $failed
