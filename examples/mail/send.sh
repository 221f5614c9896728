#!/bin/sh
# usage: send.sh BOX FROM TO TEXT   Sends one message, durably, without SNENS.
set -eu
name=$(date +%s.%N).$$
body=$(printf '%s.' "$4" | tr -d '\000-\010\013-\037' | sed 's/[\\"]/\\&/g; s/	/\\t/g; $!s/$/\\n/' | tr -d '\n')
printf '{"id":"%s","from":"%s","to":"%s","type":"text","time":"%s","body":"%s"}\n' \
	"$name" "$2" "$3" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "${body%.}" >"$1/tmp/$name"
sync "$1/tmp/$name"
mv -n "$1/tmp/$name" "$1/new/$name"
sync "$1/new"
echo "$name"
