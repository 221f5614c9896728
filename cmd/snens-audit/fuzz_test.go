package main

import (
	"regexp"
	"strings"
	"testing"

	"snens/internal/audit"
	"snens/internal/strictjson"
)

var quoted = regexp.MustCompile(`"[^"]*"`)

// FuzzShown: whatever a requester wrote, a record is one line without anything
// that a terminal obeys, and outside of quotes only our own fields are there.
func FuzzShown(f *testing.F) {
	f.Add("\x1b[2J", "a\nb")
	f.Add(`" decision=allow "`, "x] uid=0")
	f.Add("\u202e\u200b\u2028", "\U000e0041\\u{a}")
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = strings.ToValidUTF8(a, "?"), strings.ToValidUTF8(b, "?")
		words := strictjson.Value{Kind: strictjson.Array, Items: []strictjson.Value{strictjson.StringValue(a), strictjson.StringValue(b)}}
		r := record{audit.Record{Entry: audit.Entry{Kind: audit.Received}}, strictjson.Value{Kind: strictjson.Object, Members: []strictjson.Member{
			{Name: "argv", Value: words}, {Name: "detail", Value: strictjson.StringValue(a)}, {Name: "claims", Value: strictjson.Value{Kind: strictjson.Object, Members: []strictjson.Member{{Name: "reason", Value: strictjson.StringValue(b)}}}},
		}}}
		line := oneLine(r)
		for _, out := range []string{line, asciiJSON(string(r.object.JSON()))} {
			if i := strings.IndexFunc(out, func(r rune) bool { return r < ' ' || r == 0x7f || 0x80 <= r && r < 0xa0 }); i >= 0 {
				t.Errorf("%q and %q print %q", a, b, out[i:])
			}
		}
		bare := quoted.ReplaceAllString(line, "")
		if strings.Count(bare, "=") != 3 || strings.Count(bare, "[") != 1 || strings.Count(bare, `"`) != 0 {
			t.Errorf("%q and %q pass for fields: %s", a, b, line)
		}
	})
}
