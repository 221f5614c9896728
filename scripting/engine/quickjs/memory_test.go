package quickjs_test

import (
	"encoding/json"
	"testing"

	"snens/scripting/engine"
	"snens/scripting/engine/quickjs"
)

// The limit on memory is this engine's own, and ends the script, not the process.
func TestMemoryIsBounded(t *testing.T) {
	for _, text := range []string{
		`function run() { const a = []; for (;;) a.push(new Array(1e5).fill(1)) }`,
		`function run() { let s = "x"; for (;;) s += s }`,
		`function run() { return "x".repeat(1e9) }`,
		`function run() { return new Array(1e9).fill(0) }`,
		`function run() { return 2n ** (2n ** 30n) }`,
		`function run() { return new ArrayBuffer(1e9) }`,
	} {
		in := begin(t, text, engine.Limits{Memory: 16 << 20, Operations: 1 << 40})
		_, err := in.Call(t.Context(), "run", json.RawMessage(`{}`))
		if kind := engine.KindOf(err); kind != engine.Memory && kind != engine.Thrown {
			t.Errorf("%s: %v (%s)", text, err, kind)
		}
		in.Close()
	}
}

// What gojs cannot stop is stopped here.
func TestRegularExpressionsAreInterrupted(t *testing.T) {
	in := begin(t, `function run() { return /^(?=(a+)+$)\1+$/.test("a".repeat(40) + "b") }`, engine.Limits{Operations: 500_000})
	defer in.Close()
	if _, err := in.Call(t.Context(), "run"); engine.KindOf(err) != engine.Operations {
		t.Errorf("got %v", err)
	}
}

func begin(t *testing.T, text string, limits engine.Limits) engine.Instance {
	t.Helper()
	prog, err := quickjs.New().Compile(engine.Source{Name: "m.js", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	in, err := prog.New(t.Context(), engine.Setup{Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	return in
}
