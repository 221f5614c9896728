package xsnens_test

import (
	"errors"
	"fmt"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"snens/supervisor/xsnens"
)

// refusal builds and gives the error's lines; none is a failure.
func refusal(t *testing.T, i *xsnens.Interface, in string, room int) []string {
	t.Helper()
	_, err := i.BuildWithin([]byte(in), room)
	var e *xsnens.ArgsError
	if !errors.As(err, &e) {
		t.Fatalf("%s: got %v, want an *ArgsError", short(in), err)
	}
	return strings.Split(err.Error(), "\n")
}

const sizes = `"properties":{"a":{"type":"string"},"b":{"type":"string"},"e":{"type":"string"},"l":{"type":"array","items":{"type":"string"}}},
	"x-snens":{"argv":["head",{"flag":"--a","field":"a"},{"field":"b"},{"flag":"-f","field":"l","each":true,"as":"file"}],"env":{"e":"E"}}`

func TestOneArgumentIsBounded(t *testing.T) {
	i := load(t, typed(sizes))
	fits := strings.Repeat("x", xsnens.MaxArg)
	if _, err := i.Build([]byte(`{"b":"` + fits + `"}`)); err != nil {
		t.Errorf("%d bytes: %v", len(fits), err)
	}
	for in, want := range map[string]string{
		`{"b":"` + fits + `x"}`: `b: makes an argument of 131072 bytes; one argument has at most 131071; send less, or let the tool take it by stdin or "as": "file"`,
		`{"a":"` + fits + `"}`:  `a: makes an argument of 131075 bytes; one argument has at most 131071; send less, or let the tool take it by stdin or "as": "file"`,
		`{"e":"` + fits + `"}`:  `e: is 131071 bytes long; with its name a variable has at most 131071; shorten it`,
	} {
		if got := refusal(t, i, in, xsnens.DefaultRoom); !slices.Equal(got, []string{want}) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

func TestTheSumIsBounded(t *testing.T) {
	i := load(t, typed(sizes))
	// head: 4+1+8, --a=xxx: 7+1+8, bb: 2+1+8, E=ee: 4+1+8
	const need = 13 + 16 + 11 + 13
	in := `{"a":"xxx","b":"bb","e":"ee"}`
	if _, err := i.BuildWithin([]byte(in), need); err != nil {
		t.Errorf("%d bytes do not fit into %d: %v", need, need, err)
	}
	want := fmt.Sprintf(`a: takes 16 of the %d bytes of all arguments; they have room for %d; send less, or let the tool take it by stdin or "as": "file"`, need, need-1)
	if got := refusal(t, i, in, need-1); got[0] != want {
		t.Errorf("got  %s\nwant %s", got[0], want)
	}
	if got := refusal(t, i, `{"a":"x","e":"`+strings.Repeat("e", 90)+`"}`, 100); !strings.HasPrefix(got[0], "e: takes ") {
		t.Errorf("the largest is a variable, but: %s", got[0])
	}
	// A file argument: -f is 2+1+8, its path 0+1+8+256.
	const file = 13 + 11 + 9 + xsnens.FilePathReserve
	if _, err := i.BuildWithin([]byte(`{"l":["content"]}`), file); err != nil {
		t.Error(err)
	}
	if got := refusal(t, i, `{"l":["content"]}`, file-1); !strings.HasPrefix(got[0], "l: takes 276 of the 289 bytes") {
		t.Error(got)
	}
}

func TestFilesAreBounded(t *testing.T) {
	i := load(t, typed(sizes))
	items := slices.Repeat([]string{`"x"`}, xsnens.MaxFileArgs)
	if _, err := i.Build([]byte(`{"l":[` + strings.Join(items, ",") + `]}`)); err != nil {
		t.Error(err)
	}
	items = append(items, `"x"`)
	got := refusal(t, i, `{"l":[`+strings.Join(items, ",")+`]}`, xsnens.DefaultRoom)
	if got[0] != "l: makes more than 64 files for one call; send fewer items" {
		t.Error(got)
	}
}

func TestRoom(t *testing.T) {
	const own = 4096 + 16 // reserve and the two NULLs
	for _, c := range []struct {
		stack uint64
		env   []string
		want  int
	}{
		{8 << 20, nil, 2<<20 - own - 6 - 10},
		{8 << 20, []string{"A=b", "CC=dd"}, 2<<20 - own - 6 - 10 - 12 - 14},
		{64 << 10, nil, 128<<10 - own - 6 - 10},
		{^uint64(0), nil, 6<<20 - own - 6 - 10},
		{0, slices.Repeat([]string{strings.Repeat("x", 1000)}, 200), 0},
	} {
		if got := xsnens.Room(c.stack, "/bin/", "x", c.env); got != c.want {
			t.Errorf("Room(%d, %d variables) = %d, want %d", c.stack, len(c.env), got, c.want)
		}
	}
}

// The kernel takes a call that fills the room, and refuses one that is larger
// by the reserve and a little.
func TestRoomIsTheKernels(t *testing.T) {
	var stack syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_STACK, &stack); err != nil {
		t.Fatal(err)
	}
	env := []string{"A=b", "LONG=" + strings.Repeat("x", 5000)}
	room := xsnens.Room(stack.Cur, "/bin/true", "true", env)
	run := func(room int) error {
		cmd := exec.Command("/bin/true")
		cmd.Args = []string{"true"}
		cmd.Env = env
		const each = xsnens.MaxArg + 1 + 8
		for ; room > each; room -= each {
			cmd.Args = append(cmd.Args, strings.Repeat("x", xsnens.MaxArg))
		}
		cmd.Args = append(cmd.Args, strings.Repeat("x", max(0, room-9)))
		return cmd.Run()
	}
	if err := run(room); err != nil {
		t.Errorf("a call that fills the room of %d bytes: %v", room, err)
	}
	if err := run(room + 8<<10); !errors.Is(err, syscall.E2BIG) {
		t.Errorf("a call that passes the room of %d bytes by 8 KiB: %v", room, err)
	}
}

func TestErrorsAreBounded(t *testing.T) {
	i := load(t, typed(`"properties":{"l":{"type":"array","items":{"type":"integer"}}},"x-snens":{"stdin":{"mode":"json","fields":["l"]}}`))
	in := `{"l":[` + strings.Repeat(`"x",`, 50_000) + `"x"]}`
	got := refusal(t, i, in, xsnens.DefaultRoom)
	if len(got) != 21 || got[20] != "and 80 more" {
		t.Errorf("%d lines, the last %q", len(got), got[len(got)-1])
	}
	unknown := &strings.Builder{}
	for n := range 40_000 {
		fmt.Fprintf(unknown, `"%090d":0,`, n)
	}
	if got := refusal(t, i, `{`+unknown.String()+`"z":0}`, xsnens.DefaultRoom); len(got) != 21 {
		t.Errorf("%d lines", len(got))
	}
	for in, want := range map[string]string{
		`{"l":[` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `]}`: "nested deeper than 64 levels",
		`{"l":[` + strings.Repeat("1,", 100_000) + `1]}`:                    "more than 100000 values and keys",
		`{"a\nb":1}`: `["a\nb"]: is not a field of this tool; accepted: "l"`,
		`{"l":"` + strings.Repeat("é", 200) + `"}`: `l: must be an array, not the string "` + strings.Repeat("é", 80) + `..."; send a list, [...]`,
	} {
		if got := refusal(t, i, in, xsnens.DefaultRoom); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%s\n got %q\nwant %q", short(in), got, want)
		}
	}
}

func TestErrorsAreForPrograms(t *testing.T) {
	i := load(t, typed(`"properties":{"b":{"type":"integer"},"a":{"type":"string"}},"required":["a"],"x-snens":{"argv":[{"field":"a"}]}`))
	_, err := i.Build([]byte(`{"b":"x"}`))
	var e *xsnens.ArgsError
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	want := []xsnens.FieldError{
		{Field: "a", Rule: "is required", Fix: "add it (a string)"},
		{Field: "b", Rule: `must be an integer, not the string "x"`},
	}
	if !reflect.DeepEqual(e.Fields, want) {
		t.Errorf("%+v", e.Fields)
	}
}

func TestNoErrorRepeatsASecret(t *testing.T) {
	const secret = "hunter2"
	i := load(t, typed(`"properties":{
		"s":{"type":"string","secret":true,"pattern":"^x","maxLength":3,"not":{"minLength":1}},
		"n":{"type":"integer","secret":true,"maximum":5},
		"o":{"secret":true,"type":"array","uniqueItems":true,"items":{"type":"integer","const":3}},
		"any":{"secret":true},"each":{"secret":true}},
		"not":{"required":["any"]},
		"x-snens":{"argv":[{"field":"each","spread":true,"as":"file"}],"stdin":{"mode":"field","field":"s"},"env":{"n":"N","any":"ANY"}}`))
	for _, in := range []string{
		`{"s":"hunter2"}`, `{"n":"hunter2"}`, `{"o":["hunter2"]}`, `{"o":"hunter2"}`, `{"any":"hunter2"}`, `{"any":["hunter2"]}`,
		`{"each":"hunter2"}`, `"hunter2"`, `{"s":hunter2}`, `{"s":"hunter2`, `{"s":["hunter2",]}`,
		`{"any":"hunter2\u0000"}`,
	} {
		for _, line := range refusal(t, i, in, xsnens.DefaultRoom) {
			if strings.Contains(line, secret) || strings.Contains(line, "'h'") {
				t.Errorf("%s: %s", in, line)
			}
		}
	}
}

func TestSecretsForRedaction(t *testing.T) {
	i := load(t, typed(`"properties":{"s":{"secret":true},"open":{"type":"string"}},
		"x-snens":{"stdin":{"mode":"json","fields":["s","open"]}}`))
	inv, err := i.Build([]byte(`{"s":{"user":"ab","list":["longest one","a\"b",1.50,true,null,""]},"open":"seen"}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range inv.Secrets {
		got = append(got, string(s))
	}
	if want := []string{"longest one", "1.5", `a"b`, "ab"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Build must neither change the interface nor depend on earlier calls.
func TestBuildIsPureAndConcurrent(t *testing.T) {
	i := load(t, typed(`"properties":{
		"d":{"type":"array","items":{"type":"number"},"default":[1.50,2]},
		"x":{"anyOf":[{"type":"integer"},{"type":"string","minLength":2}]}},
		"x-snens":{"argv":[{"flag":"-d","field":"d","each":true},{"field":"x","allow_dash":true}]}`))
	before := string(i.Parameters())
	if !strings.Contains(before, `"default":[1.50,2]`) {
		t.Errorf("the default was rewritten: %s", before)
	}
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Go(func() {
			for n := range 50 {
				inv, err := i.Build(fmt.Appendf(nil, `{"x":%d}`, k*100+n))
				if err != nil {
					t.Error(err)
					return
				}
				argv, _ := flat(inv)
				if want := []string{"-d", "1.5", "-d", "2", fmt.Sprint(k*100 + n)}; !slices.Equal(argv, want) {
					t.Errorf("got %q, want %q", argv, want)
				}
				if _, err := i.Build([]byte(`{"x":"y"}`)); err == nil {
					t.Error("a string of one character passed")
				}
			}
		})
	}
	wg.Wait()
	if string(i.Parameters()) != before {
		t.Errorf("Parameters changed to %s", i.Parameters())
	}
}

// Comparisons are exact where a float64 would round.
func TestNumbersAreComparedExactly(t *testing.T) {
	i := load(t, typed(`"properties":{
		"max":{"maximum":9007199254740992},"enum":{"enum":[9007199254740993]},"mult":{"multipleOf":0.01},
		"int":{"anyOf":[{"type":"integer"}]},"big":{"anyOf":[{"minimum":0}]},"lt":{"oneOf":[{"exclusiveMaximum":9007199254740992}]},
		"deep":{"properties":{"no":false,"yes":true}}},
		"x-snens":{"stdin":{"mode":"json","fields":["max","enum","mult","int","big","lt","deep"]}}`))
	for in, ok := range map[string]bool{
		`{"max":9007199254740992}`:              true,
		`{"max":9007199254740993}`:              false,
		`{"max":9007199254740992.0000000001}`:   false,
		`{"enum":9007199254740993}`:             true,
		`{"enum":9007199254740992}`:             false,
		`{"enum":9007199254740993.0}`:           true,
		`{"mult":1.15}`:                         true,
		`{"mult":1.155}`:                        false,
		`{"int":1.0}`:                           true,
		`{"int":1.00000000000000000001}`:        false,
		`{"int":123456789012345678901234567}`:   true,
		`{"int":1e400}`:                         true,
		`{"int":-1e-400}`:                       false,
		`{"big":1e400}`:                         true,
		`{"big":-1e400}`:                        false,
		`{"big":18446744073709551615}`:          true,
		`{"lt":9007199254740991}`:               true,
		`{"lt":9007199254740992}`:               false,
		`{"lt":9007199254740993}`:               false,
		`{"lt":"no number, so no bound"}`:       true,
		`{"mult":123456789012345678901234.560}`: true,
		`{"deep":{"no":1}}`:                     false,
		`{"deep":{"yes":1}}`:                    true,
	} {
		if _, err := i.Build([]byte(in)); (err == nil) != ok {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// The owner's document on tools shows such a tool; it must work as it stands.
func TestWcLines(t *testing.T) {
	i := load(t, `{
	  "type": "object",
	  "properties": {
	    "path": {"type": "string", "description": "Datei: absolut oder relativ"},
	    "no_empty": {"type": "boolean", "description": "Leere Zeilen nicht zählen"}
	  },
	  "required": ["path"],
	  "x-snens": {
	    "argv": [{"field": "path"}, {"flag": "--no-empty", "when_field": "no_empty"}],
	    "stdin": {"mode": "none"}
	  }
	}`)
	args, err := i.FromWords([]string{"path=F", "no_empty=true"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	inv, err := i.Build(args)
	if err != nil {
		t.Fatal(err)
	}
	if argv, _ := flat(inv); !slices.Equal(argv, []string{"F", "--no-empty"}) || inv.HasStdin {
		t.Errorf("%q, stdin %t", argv, inv.HasStdin)
	}
	if len(i.Warnings()) > 0 || strings.Contains(string(i.Parameters()), "snens") {
		t.Errorf("%q\n%s", i.Warnings(), i.Parameters())
	}
}

func TestArgumentsNameTheirField(t *testing.T) {
	i := load(t, typed(`"properties":{"a":{"type":"string"}},"x-snens":{"argv":["x",{"flag":"-a","field":"a"}]}`))
	inv, err := i.Build([]byte(`{"a":"v"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []xsnens.Arg{{Text: "x"}, {Text: "-a", Field: "a"}, {Text: "v", Field: "a"}}
	if !reflect.DeepEqual(inv.Args, want) {
		t.Errorf("%+v", inv.Args)
	}
}

func TestGenericSizesAndParameters(t *testing.T) {
	_, err := xsnens.Generic([]byte(`{"args":["a","`+strings.Repeat("x", xsnens.MaxArg+1)+`"]}`), false)
	if err == nil || !strings.HasPrefix(err.Error(), "args[1]: makes an argument of 131072 bytes") {
		t.Error(err)
	}
	if _, err := xsnens.GenericWithin([]byte(`{"args":"a b"}`), false, 19); err == nil {
		t.Error("20 bytes fit into 19")
	}
	for _, required := range []bool{false, true} {
		schema := string(xsnens.GenericParameters(required))
		if strings.Contains(schema, `"required":["stdin"]`) != required {
			t.Errorf("required %t: %s", required, schema)
		}
		// What the schema promises, the interface of the same schema accepts.
		i := load(t, strings.TrimSuffix(schema, "}")+`,"x-snens":{"stdin":{"mode":"json","fields":["args","stdin"]}}}`)
		for _, in := range []string{`{"args":["x"],"stdin":"s"}`, `{"args":"x y","stdin":"s"}`} {
			if _, err := i.Build([]byte(in)); err != nil {
				t.Errorf("%s: %v", in, err)
			}
			if _, err := xsnens.Generic([]byte(in), required); err != nil {
				t.Errorf("%s: %v", in, err)
			}
		}
	}
}

func TestWords(t *testing.T) {
	fields := []xsnens.Field{{Name: "a", Types: []string{"string"}}, {Name: "any"}, {Name: "k", Secret: true}}
	read := func(string) ([]byte, error) { return []byte("\xff"), nil }
	for word, want := range map[string]string{
		"a@=f":       `a: the content of "f" is not UTF-8 text`,
		"a=\xff":     `is not UTF-8`,
		"":           `arguments: the word "" names no field`,
		"k:=hunter2": `k: is not JSON after :=; write text as k=TEXT`,
		"b=x":        `b: is not a field of this tool`,
	} {
		_, err := xsnens.FromWords(fields, []string{word}, read)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", word, err)
		}
	}
	got, err := xsnens.FromWords(fields, []string{"any=3", "a=:=x"}, read)
	if err != nil || string(got) != `{"any":"3","a":":=x"}` {
		t.Errorf("%s, %v", got, err)
	}
	open := load(t, typed(`"properties":{},"additionalProperties":true,"x-snens":{"stdin":{"mode":"json","fields":[]}}`))
	if got, err := open.FromWords([]string{"new=1", "n:=1"}, read); err != nil || string(got) != `{"new":"1","n":1}` {
		t.Errorf("%s, %v", got, err)
	}
}
