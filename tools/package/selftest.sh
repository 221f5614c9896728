#!/bin/sh
# selftest.sh — try package without a broker and without rights; prints what failed.
# selftest.sh
set -u
tool=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/package || exit 1
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
	[ "$got" = "$want" ] || fail "package $* ended with $got, not $want: $(cat out err)"
}

# has FILE TEXT looks for a text in a file.
has() {
	grep -q -F -e "$2" "$1" || fail "$1 does not hold \"$2\": $(cat "$1")"
}

fail() {
	printf 'selftest of package: %s\n' "$1" >&2
	failed=1
}

try 2
try 2 explode jq
has err 'the first word must be one of search, show'
try 2 install
try 2 update jq
try 2 --reason why show jq
try 2 install -- --allow-unauthenticated
try 2 install ./jq.deb
try 2 install jq-
has err 'ends with a dash'
try 2 remove jq+
has err 'ends with a plus'
try 69 install jq
has err 'cannot install jq: cannot reach the broker'
has err 'hint: this needs the privilege broker'
try 69 upgrade
# Whether this is Debian is not known; that it can be asked is.
"$tool" show no-such-package-here >out 2>err
got=$?
case $got in
1 | 3) ;;
*) fail "package show no-such-package-here ended with $got: $(cat out err)" ;;
esac

exit $failed
