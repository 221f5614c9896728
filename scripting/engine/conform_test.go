package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"snens/scripting/engine"
	"snens/scripting/engine/gojs"
	"snens/scripting/engine/quickjs"
)

func both() []engine.Engine { return []engine.Engine{gojs.New(), quickjs.New()} }

// onBoth runs a test on every engine.
func onBoth(t *testing.T, f func(t *testing.T, e engine.Engine)) {
	for _, e := range both() {
		t.Run(e.Name(), func(t *testing.T) { f(t, e) })
	}
}

func start(t testing.TB, e engine.Engine, name, text string, setup engine.Setup) engine.Instance {
	t.Helper()
	prog, err := e.Compile(engine.Source{Name: name, Text: text})
	if err != nil {
		t.Fatalf("compile: %v", err)
	}
	in, err := prog.New(t.Context(), setup)
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	t.Cleanup(in.Close)
	return in
}

// body makes a script whose run does what the text says.
func body(text string) string { return "function run(args, config) {" + text + "}" }

// The table of contract: what a script says is the same on both engines.
var values = []struct{ name, text, args, want string }{
	{"a.js", body(`return args`), `{"ж":[1,2.5,null,true,"\ud800"]}`, `{"ж":[1,2.5,null,true,"\ud800"]}`},
	{"a.js", body(``), `{}`, `null`},
	{"a.js", body(`return undefined`), `{}`, `null`},
	{"a.js", body(`return () => 1`), `{}`, `null`},
	{"a.js", body(`return {a: undefined, f() {}, n: NaN, d: new Date(0)}`), `{}`, `{"n":null,"d":"1970-01-01T00:00:00.000Z"}`},
	{"a.js", `const run = (a) => a.x ?? "none"`, `{}`, `"none"`},
	{"a.js", `let run = async (a) => { await null; return [await a.x, 2] }`, `{"x":1}`, `[1,2]`},
	{"a.js", `async function run() { throw new TypeError("no") }`, `{}`, `error thrown TypeError: no`},
	{"a.js", body(`return Promise.reject("bare")`), `{}`, `error thrown bare`},
	{"a.js", body(`return { then(ok) { ok(7) } }`), `{}`, `7`},
	{"a.js", body(`return new Promise(() => {})`), `{}`, `error pending the promise that the function returned never settles: nothing is left to run`},
	{"a.js", body(`throw new Error("boom")`), `{}`, `error thrown boom`},
	{"a.js", body(`throw "text"`), `{}`, `error thrown text`},
	{"a.js", body(`throw null`), `{}`, `error thrown null`},
	{"a.js", body(`throw { toString() { throw 1 } }`), `{}`, `error thrown the script threw something that cannot be shown`},
	{"a.js", body(`return 1n`), `{}`, `error value `},
	{"a.js", body(`const a = []; a[0] = a; return a`), `{}`, `error value `},
	{"a.js", body(`return { toJSON() { throw new Error("x") } }`), `{}`, `error value x`},
	{"a.js", `var nothing = 1`, `{}`, `error missing the script has no function run`},
	{"a.js", `var run = 1`, `{}`, `error missing the script has no function run`},
	// arity decides what is passed
	{"a.js", `function run(a) { return arguments.length }`, `{}`, `1`},
	{"a.js", `function run(a, b) { return arguments.length }`, `{}`, `2`},
	{"a.js", `function run(a, b = {}) { return arguments.length }`, `{}`, `2`},
	{"a.js", `function run(a = ",)", /**/ b = 1) { return arguments.length }`, `{}`, `2`},
	{"a.js", `function run() { return arguments.length }`, `{}`, `1`},
	{"a.js", `const run = (...all) => all.length`, `{}`, `2`},
	{"a.js", `const run = ({x, y}) => [x, y]`, `{"x":1,"y":2}`, `[1,2]`},
	// modules
	{"a.mjs", `export function run(a) { return this === undefined }`, `{}`, `true`},
	{"a.mjs", `export default 1; export const run = async (a) => a`, `[3]`, `[3]`},
	{"a.cjs", `module.exports = { run(a) { return "c" } }`, `{}`, `"c"`},
	{"a.cjs", `exports.run = (a) => "e"`, `{}`, `"e"`},
	{"a.cjs", `module.exports = (a) => "f"`, `{}`, `"f"`},
	{"a.mjs", `import x from "fs"; export const run = () => x`, `{}`, `start cannot import "fs": a script is one file`},
	{"a.js", body(`return import("/etc/passwd").then(() => 1, () => 2)`), `{}`, `2`},
	// language
	{"a.js", body(`return [..."ёж—мир 12".matchAll(/\p{L}+/gu)].map((m) => m[0])`), `{}`, `["ёж","мир"]`},
	{"a.js", body(`return [/^[^\P{Lu}Q]$/u.test("Ж"), /^[\p{Script=Cyrillic}\d]+$/u.test("ж1"), new RegExp("\\p{Nd}", "u").test("٣"), /\P{Letter}/u.test("я")]`), `{}`, `[true,true,true,false]`},
	{"a.js", body(`return [/a/ instanceof RegExp, RegExp("a").source, new RegExp(/x/g).flags, /a/.constructor === RegExp]`), `{}`, `[true,"a","g",true]`},
	{"a.js", body(`return [(1234567.891).toLocaleString("en-US"), (5).toLocaleString("ru", {minimumFractionDigits: 2}), (-1000).toLocaleString()]`), `{}`, `["1,234,567.891","5.00","-1,000"]`},
	{"a.js", body(`return Object.groupBy([1,2,3], (n) => n % 2 ? "odd" : "even")`), `{}`, `{"odd":[1,3],"even":[2]}`},
	{"a.js", body(`return [...Map.groupBy([1,2,3], (n) => n % 2)]`), `{}`, `[[1,[1,3]],[0,[2]]]`},
	{"a.js", body(`const a = {d: new Date(5), s: new Set([1])}; a.self = a; const b = structuredClone(a); return [b !== a, b.self === b, b.d.getTime(), b.s.has(1)]`), `{}`, `[true,true,5,true]`},
	{"a.js", `async function* g() { yield 1; yield 2 } async function run() { const out = []; for await (const x of g()) out.push(x); return out }`, `{}`, `[1,2]`},
	{"a.js", `class A { #x = 1; static y = 2; static { A.z = 3 } has(o) { return #x in o } } function run() { return [new A().has(new A()), A.y, A.z] }`, `{}`, `[true,2,3]`},
	{"a.js", body("return `${args.a?.b ?? 'none'}` + 1_000 + 2n ** 64n"), `{}`, `"none100018446744073709551616"`},
	{"a.js", body(`return [[3,1].toSorted(), [1,2].at(-1), "aa".replaceAll("a", "b"), Object.hasOwn({a: 1}, "a"), "\ud800".isWellFormed()]`), `{}`, `[[1,3],2,"bb",true,false]`},
	{"a.js", body(`const w = Promise.withResolvers(); w.resolve(4); return w.promise`), `{}`, `4`},
	{"a.js", body(`return [typeof process, typeof fetch, typeof __host, typeof setTimeout]`), `{}`, `["undefined","undefined","undefined","undefined"]`},
	{"a.js", "function run() { return 1 }\n//# sourceMappingURL=/etc/passwd", `{}`, `1`},
	{"a.js", body(`return JSON.parse("[".repeat(20000) + "]".repeat(20000)).length`), `{}`, "any"},
	// meddling harms nobody else
	{"a.js", `JSON.stringify = () => "x"; JSON.parse = null; Promise.prototype.then = null; Reflect.apply = null; function run(a) { return a }`, `[1]`, `[1]`},
	{"a.js", `Object.prototype.then = 1; Array.prototype.slice = null; function run(a) { return [a] }`, `1`, `[1]`},
	// syntax
	{"bad.js", "\nfunction run( {", `{}`, `syntax bad.js`},
	{"bad.mjs", "export const x = ;", `{}`, `syntax bad.mjs:1:18: `},
}

func TestValuesOnBothEngines(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		for _, c := range values {
			got := outcome(t.Context(), e, c.name, c.text, c.args)
			switch {
			case c.want == "any":
			case strings.HasPrefix(c.want, `error value`), strings.HasPrefix(c.want, "syntax"), strings.HasPrefix(c.want, "start"):
				if !strings.HasPrefix(got, c.want) {
					t.Errorf("%s %s\ngot  %s\nwant %s...", c.name, c.text, got, c.want)
				}
			case got != c.want && !sameJSON(got, c.want):
				t.Errorf("%s %s\ngot  %s\nwant %s", c.name, c.text, got, c.want)
			}
		}
	})
}

// outcome is a result's JSON, or in words how it failed.
func outcome(ctx context.Context, e engine.Engine, name, text, args string) string {
	prog, err := e.Compile(engine.Source{Name: name, Text: text})
	if err != nil {
		return string(engine.KindOf(err)) + " " + err.Error()
	}
	in, err := prog.New(ctx, engine.Setup{})
	if err != nil {
		return "start " + err.Error()
	}
	defer in.Close()
	value, err := in.Call(ctx, "run", json.RawMessage(args), json.RawMessage(`{"config":1}`))
	if err != nil {
		return "error " + string(engine.KindOf(err)) + " " + err.Error()
	}
	return string(value)
}

func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}

func TestAFreshScopeForEveryInstance(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		prog, err := engine.NewCache(e, 4).Compile(engine.Source{Name: "n.js", Text: `var n = 0; Array.prototype.seen ??= 0; function run() { globalThis.left ??= 0; return [++n, ++Array.prototype.seen, ++left] }`})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			in, err := prog.New(t.Context(), engine.Setup{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := in.Call(t.Context(), "run")
			in.Close()
			if err != nil || string(got) != "[1,1,1]" {
				t.Fatalf("%s, %v", got, err)
			}
			if _, err := in.Call(t.Context(), "run"); err == nil {
				t.Fatal("a closed instance answers")
			}
			in.Close()
		}
	})
}

func TestHas(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		in := start(t, e, "h.js", `function after_turn() {} const before = 1`, engine.Setup{})
		for name, want := range map[string]bool{"after_turn": true, "before": false, "nothing": false, "a b": false, "class": false, "x;y": false, "": false} {
			if got := in.Has(name); got != want {
				t.Errorf("Has(%q) = %v", name, got)
			}
		}
	})
}

func TestErrorsNameTheLine(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		text := "\n\nfunction run() {\n  const r = /\\p{L}/u;\n  throw new Error('here');\n}"
		in := start(t, e, "line.js", text, engine.Setup{})
		_, err := in.Call(t.Context(), "run")
		var failed *engine.Error
		if !errors.As(err, &failed) || !strings.Contains(failed.Stack, "line.js:5") {
			t.Errorf("%v: %q", err, failed.Stack)
		}
	})
}
