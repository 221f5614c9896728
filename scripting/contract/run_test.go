package contract_test

import (
	"encoding/json"
	"testing"

	"snens/scripting/contract"
	"snens/scripting/engine"
	"snens/scripting/engine/gojs"
	"snens/scripting/engine/quickjs"
)

const textStats = `function run(args) {
	const text = (args.text ?? "").trim();
	if (text.length === 0) return { content: "текст пуст", success: false, error: "empty text" };
	return { content: ` + "`Слов: ${text.split(' ').filter((w) => w.length > 0).length}`" + `, success: true };
}`

func TestWhatRunMeans(t *testing.T) {
	for _, c := range []struct{ script, args, want string }{
		{textStats, `{"text":" раз  два три "}`, `{"content":"Слов: 3","success":true}`},
		{textStats, `{}`, `{"content":"текст пуст","success":false,"error":"empty text"}`},
		{`function run() { return "просто" }`, `{}`, `{"content":"просто","success":true}`},
		{`function run() { return { error: "e" } }`, `{}`, `{"content":"e","success":false,"error":"e"}`},
		{`function run() { return { error: "e", success: true, content: "c" } }`, `{}`, `{"content":"c","success":true,"error":"e"}`},
		{`function run() { return { success: false } }`, `{}`, `{"content":"","success":false}`},
		{`function run() { return { content: {a: 1}, data: [1], visual: null } }`, `{}`, `{"content":"{\"a\":1}","success":true,"data":[1]}`},
		{`function run() { throw new Error("сломано") }`, `{}`, `{"content":"сломано","success":false,"error":"сломано"}`},
		{`async function run() { await 0; throw new RangeError("r") }`, `{}`, `{"content":"RangeError: r","success":false,"error":"RangeError: r"}`},
		{`function run() {}`, `{}`, `{"content":"","success":true}`},
		{`function run() { return [1] }`, `{}`, `{"content":"[1]","success":true}`},
		{`function run(args, config) { return config.repos[0] }`, `{}`, `{"content":"snens","success":true}`},
		{`function run(args) { return String(arguments.length) }`, `{}`, `{"content":"1","success":true}`},
		{
			`function run(args) { const page = args.page ?? 1; return { content: "p" + page, visual: { type: "table",
			rows: [{ id: 1 }], continuation: page < 3 ? { args: { page: page + 1 } } : undefined } } }`, `{"page":3}`,
			`{"content":"p3","success":true,"visual":{"type":"table","rows":[{"id":1}]}}`,
		},
	} {
		for _, e := range []engine.Engine{gojs.New(), quickjs.New()} {
			prog, err := e.Compile(engine.Source{Name: "t.js", Text: c.script})
			if err != nil {
				t.Fatal(err)
			}
			in, err := prog.New(t.Context(), engine.Setup{})
			if err != nil {
				t.Fatal(err)
			}
			result, _ := contract.Run(t.Context(), in, json.RawMessage(c.args), json.RawMessage(`{"repos":["snens"]}`))
			in.Close()
			if got, _ := json.Marshal(result); string(got) != c.want {
				t.Errorf("%s: %s\ngot  %s\nwant %s", e.Name(), c.script, got, c.want)
			}
		}
	}
}
