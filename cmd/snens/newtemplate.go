package main

// What snens new tool writes; NAME stands for the tool's name. Together they
// are a typed tool that passes its own checks.
const (
	programTemplate = `#!/bin/sh
# NAME — repeats a text. Say here, in one line, what the tool does.
# NAME [--upper] -- TEXT
set -eu

upper=0
while [ $# -gt 0 ]; do
	case "$1" in
	--upper) upper=1 ;;
	--) shift; break ;;
	*) break ;;
	esac
	shift
done
if [ $# -ne 1 ]; then
	echo "NAME: give one text" >&2
	exit 2
fi

if [ "$upper" = 1 ]; then
	printf '%s\n' "$1" | tr '[:lower:]' '[:upper:]'
else
	printf '%s\n' "$1"
fi
`

	schemaTemplate = `{
  "type": "object",
  "properties": {
    "text": {"type": "string", "description": "What to repeat"},
    "upper": {"type": "boolean", "description": "In capital letters"}
  },
  "required": ["text"],
  "x-snens": {
    "argv": [
      {"flag": "--upper", "when_field": "upper"},
      {"end_of_options": "--"},
      {"field": "text"}
    ],
    "stdin": {"mode": "none"},
    "hints": {"read_only": true},
    "examples": [
      {"in": {"text": "hello", "upper": true}, "argv": ["--upper", "--", "hello"]}
    ]
  }
}
`

	selfTestTemplate = `#!/bin/sh
# Run by: snens test NAME
set -eu
tool="$(dirname "$0")/NAME"

# expect WHAT GOT WANT
expect() {
	if [ "$2" != "$3" ]; then
		echo "$1: got '$2', want '$3'"
		exit 1
	fi
}

expect "a text" "$("$tool" -- hello)" hello
expect "a text with --upper" "$("$tool" --upper -- hello)" HELLO
if "$tool" >/dev/null 2>&1; then
	echo "no text at all: got exit status 0, want another"
	exit 1
fi
echo "NAME: as expected"
`
)
