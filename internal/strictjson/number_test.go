package strictjson_test

import (
	"math/big"
	"strings"
	"testing"

	"snens/internal/strictjson"
)

func TestPlainNumber(t *testing.T) {
	for _, c := range []struct {
		in, want string
		whole    bool
	}{
		{"0", "0", true},
		{"-0", "0", true},
		{"-0.000e5", "0", true},
		{"0e999999999999999999999", "0", true},
		{"7", "7", true},
		{"-70", "-70", true},
		{"1e6", "1000000", true},
		{"1E+6", "1000000", true},
		{"1.0", "1", true},
		{"120e-1", "12", true},
		{"1.20", "1.2", false},
		{"5.5", "5.5", false},
		{"55e-1", "5.5", false},
		{"-15e-3", "-0.015", false},
		{"0.001e3", "1", true},
		{"9007199254740993", "9007199254740993", true},
		{"100000000000000000000000000000000000000001.0", "100000000000000000000000000000000000000001", true},
		{"1e39", "1" + strings.Repeat("0", 39), true},
		{"1e-39", "0." + strings.Repeat("0", 38) + "1", false},
	} {
		got, whole, err := strictjson.PlainNumber(c.in, 50)
		if err != nil || got != c.want || whole != c.whole {
			t.Errorf("%s: got %s, %t, %v, want %s, %t", c.in, got, whole, err, c.want, c.whole)
		}
	}
}

func TestPlainNumberIsBounded(t *testing.T) {
	for _, in := range []string{
		"1e40", "1e-40", "1e999999999", "1e-999999999", "1e99999999999999999999999999",
		"-1e-99999999999999999999999999", "1e9223372036854775807", strings.Repeat("1", 41),
		"0." + strings.Repeat("1", 40),
	} {
		allocs := testing.AllocsPerRun(1, func() {
			if plain, _, err := strictjson.PlainNumber(in, 40); err == nil {
				t.Errorf("%s gives %s", in, plain)
			}
		})
		if allocs > 10 {
			t.Errorf("%s: %v allocations", in, allocs)
		}
	}
	if got, _, err := strictjson.PlainNumber(strings.Repeat("1", 40), 40); err != nil || len(got) != 40 {
		t.Errorf("40 digits of 40: %s, %v", got, err)
	}
	for _, in := range []string{"", "+1", "01", "1.", ".5", "1e", "0x1", "1_0", "Inf", " 1", "1 ", "١"} {
		if _, _, err := strictjson.PlainNumber(in, 40); err == nil || strictjson.IsNumber(in) {
			t.Errorf("%q is taken for a number", in)
		}
	}
}

func TestKey(t *testing.T) {
	same := [][]string{
		{`{"a":1,"b":[2,{"d":3,"c":null}]}`, `{"b":[2.0,{"c":null,"d":30e-1}],"a":1.000}`},
		{`"1"`, `"\u0031"`},
	}
	for _, pair := range same {
		a, b := parse(t, pair[0]), parse(t, pair[1])
		if a.Key(100) != b.Key(100) {
			t.Errorf("%s and %s are equal but have other keys", pair[0], pair[1])
		}
	}
	for _, pair := range [][]string{{`1`, `"1"`}, {`[1,2]`, `[2,1]`}, {`{}`, `[]`}, {`null`, `"null"`}, {`{"a":1}`, `{"a":1,"b":1}`}} {
		a, b := parse(t, pair[0]), parse(t, pair[1])
		if a.Key(100) == b.Key(100) {
			t.Errorf("%s and %s differ but share a key", pair[0], pair[1])
		}
	}
	before := parse(t, `{"b":1.0,"a":2}`)
	before.Key(100)
	if got := string(before.JSON()); got != `{"b":1.0,"a":2}` {
		t.Errorf("Key changed its value to %s", got)
	}
}

func TestKindWords(t *testing.T) {
	for in, want := range map[string]string{
		"null": "null", "true": "boolean", "1": "number", `""`: "string", "[]": "array", "{}": "object",
	} {
		v := parse(t, in)
		if got := v.Kind.String(); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

// FuzzPlainNumber: the plain form has the same value, is its own plain form,
// and is whole exactly when big arithmetic says so.
func FuzzPlainNumber(f *testing.F) {
	for _, s := range []string{"0", "-0.0", "1e6", "5.5", "15e-3", "1e999999999", "-12.30e+1", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		plain, whole, err := strictjson.PlainNumber(s, 60)
		if err != nil {
			return
		}
		if strings.ContainsAny(plain, "eE+") || strings.HasPrefix(plain, "-0") && !strings.HasPrefix(plain, "-0.") {
			t.Fatalf("%q is not plain", plain)
		}
		// big.Rat reads huge exponents of zero slowly; those are covered above.
		if len(s) < 40 && plain != "0" {
			want, ok := new(big.Rat).SetString(s)
			got, ok2 := new(big.Rat).SetString(plain)
			if !ok || !ok2 || want.Cmp(got) != 0 || want.IsInt() != whole {
				t.Fatalf("%q gives %q, whole %t", s, plain, whole)
			}
		}
		if again, w, err := strictjson.PlainNumber(plain, 60); err != nil || again != plain || w != whole {
			t.Fatalf("%q again gives %q, %t, %v", plain, again, w, err)
		}
	})
}
