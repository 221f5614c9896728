package broker_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"snens/broker"
	"snens/broker/action"
	"snens/broker/prepare"
	"snens/internal/fields"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

func read(text string) (prepare.Ask, int, error) {
	return broker.ReadRun(fields.Parse([]byte(text), "params", strictjson.Options{MaxDepth: wire.MaxDepth, MaxTokens: wire.MaxTokens}))
}

func TestWrongParameters(t *testing.T) {
	many := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	for params, want := range map[string]string{
		// What is asked for.
		`{}`:                                          "there is neither rule nor argv",
		`{"rule":"r","argv":["a"]}`:                   "there are rule and argv",
		`{"argv":["a"],"slots":{}}`:                   "there are slots without their rule",
		`{"slots":{}}`:                                "there is neither rule nor argv",
		`{"argv":[]}`:                                 "params.argv: must begin with the command",
		`{"argv":[""]}`:                               "params.argv: must begin with the command",
		`{"argv":["","x"]}`:                           "params.argv: must begin with the command",
		`{"argv":null}`:                               "params.argv: must be an array, not null",
		`{"argv":"a"}`:                                "params.argv: must be an array, not a string",
		`{"argv":[1]}`:                                "params.argv[0]: must be a string",
		`{"argv":["a",null]}`:                         "params.argv[1]: must be a string, not null",
		`{"argv":["a",["b"]]}`:                        "params.argv[1]",
		`{"argv":["a",{"base64":"YQ=="}]}`:            "base64 is for bytes that are not UTF-8",
		`{"argv":["a",{"base64":"/w"}]}`:              "malformed",
		`{"argv":["a",{"base64":"/w==","x":1}]}`:      `"x" is not known`,
		`{"argv":[` + many(1025, `"a"`) + `]}`:        "params.argv: has 1025 items",
		`{"rule":""}`:                                 "params.rule",
		`{"rule":"a b"}`:                              "params.rule",
		`{"rule":null}`:                               "params.rule: must be a string, not null",
		`{"rule":"r","slots":[]}`:                     "params.slots: must be an object",
		`{"rule":"r","slots":null}`:                   "params.slots: must be an object, not null",
		`{"rule":"r","slots":{"a":"b"}}`:              "params.slots.a: must be an array",
		`{"rule":"r","slots":{"a":[1]}}`:              "params.slots.a[0]: must be a string",
		`{"rule":"r","slots":{"a":[],"a":[]}}`:        "a",
		`{"rule":"r","slots":{` + numbered(65) + `}}`: "params.slots: has 65 slots",
		// Everything else.
		`{"rule":"r","cwd":1}`:                          "params.cwd: must be a string",
		`{"rule":"r","env":{}}`:                         "params.env: must be an array",
		`{"rule":"r","env":[` + many(4097, `""`) + `]}`: "params.env: has 4097 items",
		`{"rule":"r","stdin":null}`:                     "params.stdin: must be a string, not null",
		`{"rule":"r","fds":4}`:                          "params.fds: 4 must be a whole number from 0 to 3",
		`{"rule":"r","fds":-1}`:                         "params.fds",
		`{"rule":"r","fds":1.0}`:                        "params.fds",
		`{"rule":"r","fds":1e0}`:                        "params.fds",
		`{"rule":"r","fds":"1"}`:                        "params.fds: must be a number, not a string",
		`{"rule":"r","fds":[0,1]}`:                      "params.fds",
		`{"rule":"r","claims":[]}`:                      "params.claims: must be an object",
		`{"rule":"r","claims":{"approver":"root"}}`:     `params.claims: the field "approver" is not known`,
		`{"rule":"r","claims":{"reason":"` + strings.Repeat("x", 1025) + `"}}`: "reason: has 1025 bytes, at most 1024",
		`{"rule":"r","ttl":"90s"}`:   "params.ttl",
		`{"rule":"r","ttl":"0s"}`:    "params.ttl",
		`{"rule":"r","ttl":"-1m"}`:   "params.ttl",
		`{"rule":"r","ttl":"721h"}`:  "params.ttl",
		`{"rule":"r","ttl":60}`:      "params.ttl: must be a string, not a number",
		`{"rule":"r","detach":1}`:    "params.detach: must be true or false",
		`{"rule":"r","detach":null}`: "params.detach",
		// What no request may choose.
		`{"rule":"r","Rule":"r"}`:        `"Rule" is not known`,
		`{"rule":"r","chroot":"/tmp"}`:   `"chroot" is not known`,
		`{"rule":"r","run_as":"root"}`:   `"run_as" is not known`,
		`{"rule":"r","uid":0}`:           `"uid" is not known`,
		`{"rule":"r","id":"x"}`:          `"id" is not known`,
		`{"rule":"r","approver":"root"}`: `"approver" is not known`,
		`{"rule":"r","umask":0}`:         `"umask" is not known`,
	} {
		if _, _, err := read(params); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100s: %v\nwant %s", params, err, want)
		}
	}
}

func numbered(n int) string {
	var s []string
	for i := range n {
		s = append(s, fmt.Sprintf(`"s%d":[]`, i))
	}
	return strings.Join(s, ",")
}

func TestRightParameters(t *testing.T) {
	a, fds, err := read(`{"argv":["a","",{"base64":"/w=="}],"cwd":{"base64":"/w=="},"env":["A=b"],"stdin":"","fds":3,"claims":{},"ttl":"1m","detach":true}`)
	if err != nil || !slices.Equal(a.Argv, []string{"a", "", "\xff"}) || a.Cwd != "\xff" || !slices.Equal(a.Env, []string{"A=b"}) ||
		a.Stdin == nil || *a.Stdin != "" || fds != 3 || a.TTL != time.Minute || !a.Detach || a.Rule != "" {
		t.Errorf("%+v %d %v", a, fds, err)
	}
	a, fds, err = read(`{"rule":"r","slots":{"a":["x","y"],"b":[]}}`)
	if err != nil || a.Rule != "r" || len(a.Slots) != 2 || !slices.Equal(a.Slots["a"], []string{"x", "y"}) || fds != 0 || a.Stdin != nil || a.TTL != 0 || a.Detach {
		t.Errorf("%+v %d %v", a, fds, err)
	}
}

// show spells parameters as a client does.
func show(a prepare.Ask, fds int) strictjson.Value {
	var m []strictjson.Member
	if a.Rule != "" {
		var slots []strictjson.Member
		for _, name := range slices.Sorted(maps.Keys(a.Slots)) {
			slots = append(slots, fields.Member(name, fields.List(a.Slots[name], fields.Text)))
		}
		m = append(m, fields.Member("rule", fields.Text(string(a.Rule))), fields.Member("slots", fields.Object(slots...)))
	} else {
		m = append(m, fields.Member("argv", fields.List(a.Argv, fields.Text)))
	}
	m = append(m, fields.Member("cwd", fields.Text(a.Cwd)), fields.Member("env", fields.List(a.Env, fields.Text)),
		fields.Member("fds", fields.Int(int64(fds))), fields.Member("claims", a.Claims.Value()), fields.Member("detach", fields.Bool(a.Detach)))
	if a.Stdin != nil {
		m = append(m, fields.Member("stdin", fields.Text(*a.Stdin)))
	}
	if a.TTL != 0 {
		m = append(m, fields.Member("ttl", fields.Text(action.FormatDuration(a.TTL))))
	}
	return fields.Object(m...)
}

// What is read says what to run in exactly one way, within its bounds, and reads
// the same when it is spelled again.
func FuzzRunParameters(f *testing.F) {
	for _, s := range []string{
		`{}`, showA, restartA, `{"argv":["a",{"base64":"/w=="}],"fds":3,"ttl":"1m","detach":true,"env":["A=b"],"cwd":"/"}`,
		`{"rule":"r","slots":{"a":["x"],"":[]},"claims":{"reason":"r","tool":"t","session":"s"}}`, `{"argv":[]}`, `{"argv":null}`, `{"rule":"r","argv":["a"]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, fds, err := read(string(data))
		if err != nil {
			return
		}
		if (a.Rule == "") == (len(a.Argv) == 0) || a.Rule == "" && (a.Argv[0] == "" || a.Slots != nil) || fds < 0 || fds > 3 || a.TTL < 0 ||
			a.TTL > action.MaxDuration || a.Claims.Check() != nil || len(a.Argv) > action.MaxItems || len(a.Slots) > 64 {
			t.Fatalf("accepted %q: %+v", data, a)
		}
		v := show(a, fds)
		b, again, err := read(string(v.JSON()))
		if w := show(b, again); err != nil || string(w.JSON()) != string(v.JSON()) {
			t.Fatalf("%q became %s: %v", data, v.JSON(), err)
		}
	})
}
