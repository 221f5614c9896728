#!/bin/sh
# selftest.sh — try service without a broker and without rights; prints what failed.
# selftest.sh
set -u
tool=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/service || exit 1
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
	[ "$got" = "$want" ] || fail "service $* ended with $got, not $want: $(cat out err)"
}

# has FILE TEXT looks for a text in a file.
has() {
	grep -q -F -e "$2" "$1" || fail "$1 does not hold \"$2\": $(cat "$1")"
}

fail() {
	printf 'selftest of service: %s\n' "$1" >&2
	failed=1
}

try 2
has err 'needs an action and one unit'
try 2 explode ssh
try 2 restart
try 2 restart -- --now
has err 'must be the name of one unit'
try 2 restart -- 'a b'
try 2 restart -- '*'
try 2 --reason why status ssh
try 69 restart nginx
has err 'cannot restart nginx.service: cannot reach the broker'
has err 'hint: this needs the privilege broker'
try 69 --reason 'a reason' stop nginx.service
# Whether systemd runs here is not known; that it can be asked is.
"$tool" status no-such-unit >out 2>err
got=$?
case $got in
1 | 3) ;;
*) fail "service status no-such-unit ended with $got: $(cat out err)" ;;
esac

exit $failed
