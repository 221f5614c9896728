package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"snens/scripting/engine"
)

// runaways never end by themselves, and try not to be ended.
var runaways = map[string]string{
	"loop":            body(`while (true) {}`),
	"catch loop":      body(`while (true) { try { while (true) {} } catch (e) {} }`),
	"finally loop":    body(`for (;;) { try { for (;;) {} } finally { continue } }`),
	"recursive catch": `function f() { try { f() } catch (e) { for (;;) {} } } function run() { f(); for (;;) {} }`,
	"generator":       `function* g() { for (;;) yield 1 } function run() { for (const x of g()) {} }`,
	"generator ends":  `function* g() { try { for (;;) yield 1 } finally { for (;;) {} } } function run() { for (const x of g()) { break } }`,
	"getter":          body(`return { get content() { for (;;) {} } }`),
	"toJSON":          body(`return { toJSON() { for (;;) {} } }`),
	"then":            body(`return { get then() { for (;;) {} } }`),
	"proxy":           body(`return new Proxy({}, { ownKeys() { for (;;) {} } })`),
	"await loop":      `async function run() { for (;;) await null }`,
	"await catch":     `async function run() { for (;;) { try { for (;;) {} } catch (e) { await null } } }`,
	"job":             body(`const again = () => Promise.resolve().then(again); return again()`),
	"sort":            body(`[3, 2, 1].sort(() => { for (;;) {} })`),
	"replace":         body(`"a".replace(/a/, () => { for (;;) {} })`),
	"eval":            body(`eval("for (;;) {}")`),
	"exception":       body(`throw { get message() { for (;;) {} } }`),
}

func TestRunawaysAreStopped(t *testing.T) {
	limits := engine.Limits{Operations: 500_000} // 10 ms
	onBoth(t, func(t *testing.T, e engine.Engine) {
		for name, text := range runaways {
			in := start(t, e, "runaway.js", text, engine.Setup{Limits: limits})
			_, err := in.Call(t.Context(), "run", json.RawMessage(`{}`))
			if engine.KindOf(err) != engine.Operations && engine.KindOf(err) != engine.Stack {
				t.Errorf("%s: %v (%s)", name, err, engine.KindOf(err))
			}
			if _, again := in.Call(t.Context(), "run"); again == nil {
				t.Errorf("%s: goes on after it was stopped", name)
			}
			in.Close()
		}
		prog, err := e.Compile(engine.Source{Name: "top.js", Text: `for (;;) {}`})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := prog.New(t.Context(), engine.Setup{Limits: limits}); engine.KindOf(err) != engine.Operations {
			t.Errorf("top level: %v", err)
		}
	})
}

func TestTheContextInterrupts(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("the caller left")
		in := start(t, e, "a.js", body(`ready(); for (;;) {}`), engine.Setup{
			Limits: engine.Limits{Operations: 1 << 62},
			Helpers: map[string]engine.Helper{"ready": func(context.Context, []json.RawMessage) (json.RawMessage, error) {
				cancel(why)
				return nil, nil
			}},
		})
		_, err := in.Call(ctx, "run")
		if engine.KindOf(err) != engine.Cancelled || !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
		late, stop := context.WithTimeout(t.Context(), time.Millisecond)
		defer stop()
		in = start(t, e, "a.js", body(`for (;;) {}`), engine.Setup{Limits: engine.Limits{Operations: 1 << 62}})
		if _, err = in.Call(late, "run"); engine.KindOf(err) != engine.Cancelled || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestRecursionIsBounded(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		for _, text := range []string{
			`function run(a) { return run(a) + 1 }`,
			`function run() { const o = { get x() { return o.x } }; return o.x }`,
			`function run() { const o = { toString() { return "" + o } }; return "" + o }`,
			`function run() { let f = () => 1; for (let i = 0; i < 5000; i++) { const g = f; f = () => g() + 1 } return f() }`,
		} {
			in := start(t, e, "deep.js", text, engine.Setup{Limits: engine.Limits{Operations: 1 << 40}})
			if _, err := in.Call(t.Context(), "run", json.RawMessage(`1`)); engine.KindOf(err) != engine.Stack {
				t.Errorf("%s: %v (%s)", text, err, engine.KindOf(err))
			}
		}
		in := start(t, e, "shallow.js", `function f(n) { return n ? f(n - 1) + 1 : 0 } function run() { return f(200) }`, engine.Setup{})
		if got, err := in.Call(t.Context(), "run"); err != nil || string(got) != "200" {
			t.Errorf("200 calls deep: %s, %v", got, err)
		}
	})
}

func TestValuesAreBounded(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		in := start(t, e, "v.js", `function run(a) { return a === 1 ? "x".repeat(2000) : a }
			function deep() { let a = []; for (let i = 0; i < 500; i++) a = [a]; return a }`,
			engine.Setup{Limits: engine.Limits{Value: 1000}})
		for _, args := range []string{`1`, `"` + strings.Repeat("y", 1000) + `"`, `{`, strings.Repeat("[", 400), ``} {
			if _, err := in.Call(t.Context(), "run", json.RawMessage(args)); engine.KindOf(err) != engine.Value {
				t.Errorf("%.10s: %v (%s)", args, err, engine.KindOf(err))
			}
		}
		if got, err := in.Call(t.Context(), "run", json.RawMessage(`[2]`)); err != nil || string(got) != "[2]" {
			t.Errorf("afterwards: %s, %v", got, err)
		}
	})
}

func TestHelpers(t *testing.T) {
	helpers := map[string]engine.Helper{
		"echo": func(_ context.Context, args []json.RawMessage) (json.RawMessage, error) { return json.Marshal(args) },
		"fail": func(context.Context, []json.RawMessage) (json.RawMessage, error) {
			return nil, errors.New("fail: no \"такой\"\xff")
		},
		"drop": func(context.Context, []json.RawMessage) (json.RawMessage, error) { panic("secret") },
		"bad":  func(context.Context, []json.RawMessage) (json.RawMessage, error) { return json.RawMessage(`{`), nil },
		"none": func(context.Context, []json.RawMessage) (json.RawMessage, error) { return nil, nil },
	}
	onBoth(t, func(t *testing.T, e engine.Engine) {
		for _, c := range []struct{ text, want string }{
			{`return echo(1, "ж\ud83d", {a: [undefined]}, undefined, () => 1)`, `[1,"ж\ud83d",{"a":[null]},null,null]`},
			{`return echo()`, `[]`},
			{`return echo(...Array.from({length: 40}, (_, i) => i)).length`, `16`},
			{`try { fail() } catch (e) { return [e instanceof Error, e.message] }`, `[true,"fail: no \"такой\"�"]`},
			{`try { drop() } catch (e) { return e.message }`, `"drop: the helper failed"`},
			{`try { bad() } catch (e) { return e.message }`, `"bad: the helper's answer is not JSON"`},
			{`return none()`, `null`},
			{`try { echo(1n) } catch (e) { return e.name }`, `"TypeError"`},
			{`echo = 1; return echo`, `1`},
			{`return [echo.name, Object.keys(globalThis).includes("echo")]`, `["echo",false]`},
		} {
			in := start(t, e, "h.js", body(c.text), engine.Setup{Helpers: helpers})
			got, err := in.Call(t.Context(), "run", json.RawMessage(`{}`))
			if err != nil || !sameJSON(string(got), c.want) {
				t.Errorf("%s: %s, %v; want %s", c.text, got, err, c.want)
			}
		}
		prog, err := e.Compile(engine.Source{Name: "x.js", Text: "1"})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a b", "class", "", "1"} {
			if _, err := prog.New(t.Context(), engine.Setup{Helpers: map[string]engine.Helper{name: helpers["echo"]}}); err == nil {
				t.Errorf("a helper named %q", name)
			}
		}
	})
}

// What a helper uses of the processor is not the script's.
func TestHelpersCostNoOperations(t *testing.T) {
	busy := func(context.Context, []json.RawMessage) (json.RawMessage, error) {
		for end := time.Now().Add(40 * time.Millisecond); time.Now().Before(end); {
		}
		return nil, nil
	}
	onBoth(t, func(t *testing.T, e engine.Engine) {
		in := start(t, e, "busy.js", body(`busy(); busy(); return 1`), engine.Setup{
			Limits:  engine.Limits{Operations: 3_000_000}, // 60 ms
			Helpers: map[string]engine.Helper{"busy": busy},
		})
		if got, err := in.Call(t.Context(), "run"); err != nil || string(got) != "1" {
			t.Errorf("%s, %v", got, err)
		}
	})
}

func TestManyInstancesAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		prog, err := e.Compile(engine.Source{Name: "m.js", Text: body(`return args.n * 2`)})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 5 {
					in, err := prog.New(t.Context(), engine.Setup{})
					if err != nil {
						t.Error(err)
						return
					}
					got, err := in.Call(t.Context(), "run", json.RawMessage(`{"n":21}`))
					if err != nil || string(got) != "42" {
						t.Errorf("%s, %v", got, err)
					}
					in.Close()
				}
			})
		}
		all.Wait()
	})
}

func FuzzTinyLimits(f *testing.F) {
	for _, c := range values {
		f.Add(c.name == "a.mjs", c.text)
	}
	for _, text := range runaways {
		f.Add(false, text)
	}
	f.Fuzz(func(t *testing.T, module bool, text string) {
		if len(text) > 4096 {
			return
		}
		name := map[bool]string{false: "f.js", true: "f.mjs"}[module]
		for _, e := range both() {
			prog, err := e.Compile(engine.Source{Name: name, Text: text})
			if err != nil {
				continue
			}
			in, err := prog.New(t.Context(), engine.Setup{Limits: engine.Limits{Operations: 100_000, Frames: 64, Memory: 8 << 20, Value: 4096}})
			if err != nil {
				continue
			}
			value, err := in.Call(t.Context(), "run", json.RawMessage(`{"a":1}`), json.RawMessage(`null`))
			if err == nil && !json.Valid(value) {
				t.Errorf("%s: %q is not JSON", e.Name(), value)
			}
			in.Close()
		}
	})
}
