package action_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"snens/broker/action"
)

func TestJSONComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := request().Draw(t, "request")
		s := seal(t, r)
		data := s.JSON()
		if !json.Valid(data) || strings.ContainsRune(string(data), '\n') {
			t.Fatalf("not JSON on one line: %q", data)
		}
		back, err := action.DecodeJSON(data)
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if !reflect.DeepEqual(back.Request(), r) || back.Digest() != s.Digest() {
			t.Fatalf("came back as %+v\nwas          %+v", back.Request(), r)
		}
	})
}

// encoding/json may carry it inside another message.
func TestJSONInsideAnotherMessage(t *testing.T) {
	r := plain()
	r.Argv[1] = "<&>\u2028\x80"
	s := seal(t, r)
	data, err := json.Marshal(map[string]any{"request": s})
	if err != nil {
		t.Fatal(err)
	}
	var out struct{ Request json.RawMessage }
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	back, err := action.DecodeJSON(out.Request)
	if err != nil || back.Digest() != s.Digest() {
		t.Errorf("%s: %v", data, err)
	}
}

// The longest request of any kind fits on a line of the protocol (256 KiB)
// with room for what else is said about it.
func TestJSONOfTheLongestRequest(t *testing.T) {
	for _, fill := range []string{"x", "\x01", "\x80", "\"", "\n", "\u00e9", "\u202e"} {
		longest := 0
		for n := 1; ; n *= 2 {
			r := plain()
			r.Stdin = action.Stdin{Mode: action.StdinSealed, Content: strings.Repeat(fill, n)}
			s, err := action.Seal(r)
			if err != nil {
				break
			}
			longest = len(s.JSON())
		}
		if longest == 0 || longest > 200<<10 {
			t.Errorf("of %q: %d bytes of JSON", fill, longest)
		}
	}
}

func TestDecodeJSONRefuses(t *testing.T) {
	object := strings.TrimSpace(read(t, "testdata/full.json"))
	for _, c := range []struct{ from, to, want string }{
		{`"version":1`, `"version":2`, "the only version is 1"},
		{`"version":1`, `"version":1,"chroot":"/x"`, `the field "chroot" is not known`},
		{`"version":1`, `"version":1,"approver":"root"`, `the field "approver" is not known`},
		{`"version":1`, `"version":1,"version":1`, "version"},
		{`"argv"`, `"Argv"`, `the field "argv" is missing`},
		{`["tee",`, `[null,`, "request.argv[0]: must be a string, not null"},
		{`["tee",`, `["te\u0000e",`, "holds a NUL"},
		{`["tee",`, `["\ud800",`, "surrogate"},
		{`"descriptor":3`, `"descriptor":3.0`, "in digits"},
		{`"descriptor":3`, `"descriptor":256`, "from 0 to 255"},
		{`"inode":12`, `"inode":18446744073709551616`, "whole number"},
		{`"inode":12`, `"inode":1.2e1`, "in digits"},
		{`"uid":33`, `"uid":4294967295`, "from 0 to 4294967294"},
		{`"uid":33`, `"uid":-1`, "whole number"},
		{`"uid":33`, `"uid":"33"`, "must be a number"},
		{`"uid":33`, `"uid":null`, "must be a number, not null"},
		{`"uid":33,`, ``, `"uid" is missing`},
		{`"umask":"0027"`, `"umask":"27"`, "umask"},
		{`"timeout":"1m30s"`, `"timeout":"90s"`, "timeout"},
		{`"memory":"1048576"`, `"memory":"007"`, `must be written "7"`},
		{`"memory":"1048576"`, `"memory":"0"`, "memory"},
		{`"memory":"1048576"`, `"disk":"1"`, `"disk" is not known`},
		{`["detached",`, `["fast",`, "known are"},
		{`["detached",`, `["terminal",`, "twice"},
		{`"mode":"sealed"`, `"mode":"none"`, `"content" is not known`},
		{`"mode":"sealed"`, `"mode":"Sealed"`, "allowed are none, sealed, pass"},
		{`"B="`, `"B"`, "must be NAME=VALUE"},
		{`"B="`, `"="`, "no name of a variable"},
		{`"B="`, `"A=x"`, "unique and sorted"},
		{`"rule":"write-config"`, `"rule":"list"`, "rule"},
	} {
		changed := strings.Replace(object, c.from, c.to, 1)
		if changed == object {
			t.Errorf("%q is not in the object", c.from)
			continue
		}
		if _, err := action.DecodeJSON([]byte(changed)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: got %v, want %q", c.to, c.from, err, c.want)
		}
	}
	i := strings.Index(object, `"sha256":"`+action.DigestOf("listen 80;\n\n\tname café \"x\"\xff").String())
	if i < 0 {
		t.Fatal("the vector has no digest of its input")
	}
	forged := object[:i] + strings.Replace(object[i:], `"sha256":"`, `"sha256":"00`, 1)
	forged = forged[:i+10+64] + forged[i+10+66:]
	if _, err := action.DecodeJSON([]byte(forged)); err == nil || !strings.Contains(err.Error(), "sha256 is not that of the content") {
		t.Errorf("a digest of other content: %v", err)
	}
	for _, bad := range []string{"", "null", "[]", "{}", object + "x", "\ufeff" + object, strings.Repeat("[", 20000)} {
		if _, err := action.DecodeJSON([]byte(bad)); err == nil {
			t.Errorf("accepted %.30q", bad)
		}
	}
}
