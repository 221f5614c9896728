package fields

import (
	"encoding/base64"
	"strconv"
	"unicode/utf8"

	"snens/internal/strictjson"
)

// Member names a value for Object.
func Member(name string, v strictjson.Value) strictjson.Member {
	return strictjson.Member{Name: name, Value: v}
}

// Object is an object with these members, in this order.
func Object(members ...strictjson.Member) strictjson.Value {
	return strictjson.Value{Kind: strictjson.Object, Members: members}
}

// Text is a string, or {"base64": "..."} when s is not UTF-8.
func Text(s string) strictjson.Value {
	if utf8.ValidString(s) {
		return strictjson.StringValue(s)
	}
	return Object(Member("base64", strictjson.StringValue(base64.StdEncoding.EncodeToString([]byte(s)))))
}

// Uint is a number in digits.
func Uint[N ~uint8 | ~uint16 | ~uint32 | ~uint64](n N) strictjson.Value {
	return strictjson.Value{Kind: strictjson.Number, Text: strconv.FormatUint(uint64(n), 10)}
}

// Int is a number in digits.
func Int(n int64) strictjson.Value {
	return strictjson.Value{Kind: strictjson.Number, Text: strconv.FormatInt(n, 10)}
}

// Bool is true or false.
func Bool(b bool) strictjson.Value { return strictjson.Value{Kind: strictjson.Bool, Bool: b} }

// List is an array of what each makes of the items.
func List[T any](items []T, each func(T) strictjson.Value) strictjson.Value {
	out := strictjson.Value{Kind: strictjson.Array, Items: make([]strictjson.Value, 0, len(items))}
	for _, item := range items {
		out.Items = append(out.Items, each(item))
	}
	return out
}
