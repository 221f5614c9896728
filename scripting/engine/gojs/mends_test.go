package gojs_test

import (
	"encoding/json"
	"strings"
	"testing"

	"snens/scripting/engine"
	"snens/scripting/engine/gojs"
)

// What cannot be mended is refused with words, never wrong in silence.
func TestWhatIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		`/\p{Emoji}/u.test("a")`:                          `SyntaxError: \p{Emoji} is not known to this engine; engine: quickjs knows every property`,
		`new RegExp("[\\p{scx=Cyrl}]", "u")`:              `SyntaxError: \p{scx=Cyrl} is not known`,
		`RegExp("\\p{L", "u")`:                            `SyntaxError: `,
		`eval("/\\p{L}/u.test('ж')")`:                     `SyntaxError: \p{...} cannot be used in code made from a string`,
		`new Function("return /\\p{L}/u")`:                `SyntaxError: \p{...} cannot be used`,
		`(() => 1).constructor("return /\\p{L}/u")`:       `SyntaxError: \p{...} cannot be used`,
		`(async () => 1).constructor("return /\\p{L}/u")`: `SyntaxError: \p{...} cannot be used`,
		`"x".repeat(4e9)`:                                 `RangeError: Invalid string length`,
		`"x".padEnd(4e9)`:                                 `RangeError: Invalid string length`,
		`new Array(1e9).fill(0)`:                          `RangeError: Invalid array length`,
		`JSON.parse("[".repeat(5e5))`:                     `RangeError: JSON text is nested too deep`,
		`JSON.parse('"' + "x".repeat(17e6) + '"')`:        `RangeError: JSON text is too long`,
	} {
		_, err := call(t, "function run() { return "+text+" }")
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestUnicodePropertiesAreExpanded(t *testing.T) {
	for text, want := range map[string]string{
		`/^\p{Lu}\p{Ll}+$/u.test("Жук")`:                             "true",
		`/[^\p{L}]/u.test("ж")`:                                      "false",
		`/^[\P{L}]$/u.test("1")`:                                     "true",
		`/^\p{Any}\p{ASCII}\p{White_Space}\p{gc=Nd}$/u.test("😀a 1")`: "true",
		`/p{L}/.test("p{L}")`:                                        "true",
		`/\p{L}/.test("p{L}")`:                                       "true",
		`"жЖ".replace(/\p{Lu}/gu, "x")`:                              `"жx"`,
		`eval("1 + 1") + new Function("a", "return a")(3)`:           "5",
		`class0()`: "true",
	} {
		got, err := call(t, "class R extends RegExp {} function class0() { return new R('\\\\p{L}', 'u').test('ж') && new R('a') instanceof R } function run() { return "+text+" }")
		if err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
}

func call(t *testing.T, text string) (string, error) {
	t.Helper()
	prog, err := gojs.New().Compile(engine.Source{Name: "m.js", Text: text})
	if err != nil {
		return "", err
	}
	in, err := prog.New(t.Context(), engine.Setup{Limits: engine.Limits{Operations: 1 << 40}})
	if err != nil {
		return "", err
	}
	defer in.Close()
	got, err := in.Call(t.Context(), "run", json.RawMessage(`{}`))
	return string(got), err
}
