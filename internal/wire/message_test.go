package wire_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"snens/internal/fields"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

func TestMessagesAreSpeltThisWay(t *testing.T) {
	state := fields.Object(fields.Member("state", fields.Text("send_fds")))
	detail := fields.Object(fields.Member("versions", fields.List([]int64{1}, fields.Int)))
	for _, c := range []struct {
		m interface{ Line() ([]byte, error) }
		s string
	}{
		{wire.Hello{Version: 1}, `{"hello":{"version":1,"capabilities":[]}}`},
		{wire.Hello{Version: 1, Capabilities: []string{"a.b-c_1"}}, `{"hello":{"version":1,"capabilities":["a.b-c_1"]}}`},
		{&wire.Request{ID: 7, Method: "list", Params: fields.Object()}, `{"id":7,"method":"list","params":{}}`},
		{&wire.Reply{ID: 7, Result: state}, `{"id":7,"result":{"state":"send_fds"}}`},
		{&wire.Reply{ID: 7, More: true, Result: state}, `{"id":7,"more":true,"result":{"state":"send_fds"}}`},
		{&wire.Reply{ID: 7, Err: wire.Errorf("denied", "no %s", "<&>")}, `{"id":7,"error":{"code":"denied","message":"no <&>"}}`},
		{&wire.Reply{Err: &wire.Error{Code: wire.BadVersion, Message: "m", Detail: &detail}}, `{"id":null,"error":{"code":"unsupported_version","message":"m","detail":{"versions":[1]}}}`},
	} {
		line, err := c.m.Line()
		if err != nil || string(line) != c.s+"\n" {
			t.Errorf("got  %s (%v)\nwant %s", line, err, c.s)
		}
	}
}

func TestRequestsAreReadStrictly(t *testing.T) {
	deep := strings.Repeat("[", 31) + strings.Repeat("]", 31) // with the line and params 33
	for _, c := range []struct{ line, want string }{
		{`{"id":1,"method":"m","params":{}}`, ""},
		{` {"id":9007199254740991,"method":"a_9"}` + "\r", ""},
		{`{"id":1,"method":"m","params":{"a":` + deep[1:61] + `}}`, ""},
		{``, "ends where a value should begin"},
		{`[]`, "must be an object"},
		{`{"id":1,"METHOD":"m"}`, `the field "method" is missing`},
		{`{"id":1,"method":"m","METHOD":"m"}`, `"METHOD" is not known`},
		{`{"id":1,"method":"m","method":"n"}`, "given twice"},
		{`{"id":1,"method":"m","params":{"a":1,"a":2}}`, "given twice"},
		{`{"id":1,"method":"m","approver":"root"}`, `"approver" is not known`},
		{`{"id":1,"method":"m"} {}`, "something follows"},
		{"\xef\xbb\xbf" + `{"id":1,"method":"m"}`, "byte order mark"},
		{`{"id":1,"method":"m","params":{"a":"\ud800"}}`, "surrogate"},
		{`{"id":1,"method":"m","params":{"a":"` + "\xff" + `"}}`, "not UTF-8"},
		{`{"id":1,"method":"m","params":{"a":1e}}`, "not a JSON number"},
		{`{"id":1,"method":"m","params":{"a":` + deep + `}}`, "nested deeper"},
		{`{"id":1,"method":"m","params":{"a":[` + strings.Repeat("1,", 10_000) + `1]}}`, "more than 10000"},
		{`{"id":1,"method":"m","params":null}`, "must be an object"},
		{`{"id":1,"method":"m","params":[]}`, "must be an object"},
		{`{"id":0,"method":"m"}`, "from 1 to"},
		{`{"id":-1,"method":"m"}`, "whole number"},
		{`{"id":9007199254740992,"method":"m"}`, "whole number"},
		{`{"id":1.0,"method":"m"}`, "in digits"},
		{`{"id":1e999,"method":"m"}`, "in digits"},
		{`{"id":"1","method":"m"}`, "must be a number"},
		{`{"id":null,"method":"m"}`, "must be a number"},
		{`{"id":1,"method":""}`, "must be a word"},
		{`{"id":1,"method":"Run"}`, "must be a word"},
		{`{"id":1,"method":"9"}`, "must be a word"},
		{`{"id":1,"method":"m` + strings.Repeat("x", 32) + `"}`, "at most 32"},
	} {
		q, err := wire.ParseRequest([]byte(c.line))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%.80s: %v", c.line, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%.80s: got %v, %v, want an error with %q", c.line, q, err, c.want)
		}
	}
}

func TestHellosAreReadStrictly(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"hello":{"version":1,"capabilities":[]}}`, ""},
		{`{"hello":{"version":999,"capabilities":["x"]}}`, ""},
		{`{"hello":{"version":1}}`, `"capabilities" is missing`},
		{`{"hello":{"capabilities":[]}}`, `"version" is missing`},
		{`{"hello":{"version":"1","capabilities":[]}}`, "must be a number"},
		{`{"hello":{"version":1,"capabilities":[""]}}`, "must be a word"},
		{`{"hello":{"version":1,"capabilities":["A"]}}`, "must be a word"},
		{`{"hello":{"version":1,"capabilities":["a"` + strings.Repeat(`,"a"`, 32) + `]}}`, "at most 32"},
		{`{"hello":{"version":1,"capabilities":[],"uid":0}}`, `"uid" is not known`},
		{`{"id":1,"method":"m"}`, `"hello" is missing`},
	} {
		_, err := wire.ParseHello([]byte(c.line))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.line, err, c.want)
		}
	}
}

func TestRepliesAreReadStrictly(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"id":1,"result":{}}`, ""},
		{`{"result":{"a":1},"more":true,"id":1}`, ""},
		{`{"id":null,"error":{"code":"x","message":"m"}}`, ""},
		{`{"id":null,"result":{}}`, "cannot be null"},
		{`{"id":1}`, `"result" is missing`},
		{`{"id":1,"result":[]}`, "must be an object"},
		{`{"id":1,"more":false,"result":{}}`, "must be true"},
		{`{"id":1,"error":{"code":"x","message":"m"},"result":{}}`, `"result" is not known`},
		{`{"id":1,"error":{"code":"x","message":"m"},"more":true}`, `"more" is not known`},
		{`{"id":1,"error":{"code":"X","message":"m"}}`, "small letters"},
		{`{"id":1,"error":{"code":"","message":"m"}}`, "small letters"},
		{`{"id":1,"error":{"message":"m"}}`, `"code" is missing`},
		{`{"id":1,"error":{"code":"x","message":"m","detail":1}}`, "must be an object"},
		{`{"result":{}}`, `"id" is missing`},
	} {
		_, err := wire.ParseReply([]byte(c.line))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.line, err, c.want)
		}
	}
}

func TestErrorMessagesAreClippedAndText(t *testing.T) {
	for _, message := range []string{strings.Repeat("é", 5000), "a" + strings.Repeat("é", 5000), "\xff"} {
		r := wire.Reply{ID: 1, Err: wire.Errorf(wire.Busy, "%s", message)}
		line, err := r.Line()
		if err != nil || len(line) > 1100 {
			t.Fatalf("%d bytes, %v", len(line), err)
		}
		back, err := wire.ParseReply(line)
		if err != nil || strings.Contains(strings.TrimSuffix(back.Err.Message, "\ufffd"), "\ufffd") {
			t.Errorf("%.40q: got %v, %v", message, back.Err, err)
		}
	}
}

func TestWhatCouldNotBeReadIsNotSent(t *testing.T) {
	deep := fields.Object()
	for range wire.MaxDepth {
		deep = fields.Object(fields.Member("a", deep))
	}
	for name, result := range map[string]strictjson.Value{
		"not UTF-8":  fields.Object(fields.Member("a", strictjson.StringValue("\xff"))),
		"twice":      fields.Object(fields.Member("a", fields.Int(1)), fields.Member("a", fields.Int(1))),
		"deeper":     deep,
		"more than ": fields.Object(fields.Member("a", fields.Text(strings.Repeat("x", wire.MaxLine)))),
	} {
		r := wire.Reply{ID: 1, Result: result}
		if line, err := r.Line(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: sent %.60s, %v", name, line, err)
		}
	}
}

func FuzzParseHello(f *testing.F) {
	f.Add([]byte(`{"hello":{"version":1,"capabilities":["a","b.c"]}}`))
	f.Add([]byte(`{"hello":{"version":01,"capabilities":[]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if h, err := wire.ParseHello(data); err == nil {
			roundTrip(t, h, h.Line, wire.ParseHello)
		}
	})
}

func FuzzParseRequest(f *testing.F) {
	f.Add([]byte(`{"id":1,"method":"run","params":{"argv":["a",{"base64":"/w=="}],"n":1e5}}`))
	f.Add([]byte(`{"id":1,"method":"list"}`))
	f.Add([]byte(`{"ID":1,"method":"\ud800"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if q, err := wire.ParseRequest(data); err == nil {
			if q.ID == 0 || q.Params.Kind != strictjson.Object {
				t.Fatalf("accepted %+v", q)
			}
			roundTrip(t, q, q.Line, wire.ParseRequest)
		}
	})
}

func FuzzParseReply(f *testing.F) {
	f.Add([]byte(`{"id":1,"more":true,"result":{"state":"send_fds"}}`))
	f.Add([]byte(`{"id":null,"error":{"code":"busy","message":"m","detail":{}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := wire.ParseReply(data); err == nil {
			if (r.Err == nil) == (r.Result.Kind != strictjson.Object) || r.ID == 0 && r.Err == nil {
				t.Fatalf("accepted %+v", r)
			}
			if r.Err != nil && len(r.Err.Message) > 1000 {
				return // clipped when it is sent
			}
			roundTrip(t, r, r.Line, wire.ParseReply)
		}
	})
}

// roundTrip: what parses prints, and the print parses to the same.
func roundTrip[T any](t *testing.T, v T, print func() ([]byte, error), parse func([]byte) (T, error)) {
	t.Helper()
	line, err := print()
	if err != nil {
		if strings.Contains(err.Error(), "bytes, more than") || strings.Contains(err.Error(), "more than 10000") {
			return // what the line left out (params) or wrote shorter tipped it over
		}
		t.Fatalf("cannot print what was parsed: %v", err)
	}
	if bytes.IndexByte(line, '\n') != len(line)-1 {
		t.Fatalf("more than a line: %q", line)
	}
	back, err := parse(line)
	if err != nil || !reflect.DeepEqual(back, v) {
		t.Fatalf("got  %+v (%v)\nwant %+v", back, err, v)
	}
}
