package gojs_test

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// Each test here fails when goja itself is mended: then the remedy named in it
// can go. They run goja bare, without what this package adds.

func bare(t *testing.T, text string) (string, error) {
	t.Helper()
	value, err := goja.New().RunString(text)
	if err != nil {
		return "", err
	}
	return value.String(), nil
}

func TestFaultUnicodeProperties(t *testing.T) {
	if got, err := bare(t, `/\p{L}/u.test("ж")`); err != nil || got != "false" {
		t.Errorf("goja knows \\p{L} now (%s, %v): drop expand and the RegExp of prelude.js", got, err)
	}
}

func TestFaultLocale(t *testing.T) {
	if got, err := bare(t, `(1).toLocaleString("en-US")`); err == nil {
		t.Errorf("toLocaleString takes a locale now: %s; compare it with prelude.js", got)
	}
}

func TestFaultMissing(t *testing.T) {
	for _, text := range []string{
		`async function* g() {}`, `import x from "y"`, `export const x = 1`, `import("x")`, `/a/d`, `/a/v`,
		`Object.groupBy([], (x) => x)`, `Map.groupBy([], (x) => x)`, `structuredClone(1)`, `Intl.NumberFormat`,
		`Promise.withResolvers()`, `"".isWellFormed()`, `Symbol.asyncIterator.description`, `Iterator.from([])`,
	} {
		if got, err := bare(t, text); err == nil {
			t.Errorf("goja has this now: %s = %s; drop it from the preludes and lower", text, got)
		}
	}
}

// Appending copies what is there: four times the appends, sixteen times the bytes.
func TestFaultAppending(t *testing.T) {
	allocated := func(appends string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := bare(t, `var s = ""; for (let i = 0; i < `+appends+`; i++) s += "abcdefgh"; s.length`); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if small, large := allocated("1000"), allocated("4000"); large < 8*small {
		t.Errorf("appending is not quadratic any more: %d and %d bytes; say so in doc.go", small, large)
	}
}

// Without SetMaxCallStackSize nothing stops a recursion but the memory.
func TestFaultCallStack(t *testing.T) {
	if _, err := bare(t, `function f(n) { return n ? f(n - 1) : 0 } f(20000)`); err != nil {
		t.Errorf("goja bounds its call stack by itself now: %v", err)
	}
}

// The interruption arrives while the native runs, from a Go function that it
// asks for one of its own values; it ends the script, yet the native has ended first.
func TestFaultNativesAreNotInterrupted(t *testing.T) {
	for _, c := range []struct{ script, proof, want string }{
		{`var a = new Array(1000); a.fill(7, {valueOf: stop})`, `a[999]`, "7"},
		{`var re = /(?=(a+))\1b/g; re.lastIndex = {valueOf: stop}; re.test("a".repeat(20) + "b")`, `re.lastIndex`, "21"},
		{`var n = 0, seen = []; JSON.parse({toString: stop}, see)`, `seen.length`, "2"},
	} {
		vm := goja.New()
		_ = vm.Set("stop", func(goja.FunctionCall) goja.Value {
			vm.Interrupt("now")
			if strings.Contains(c.script, "JSON") {
				return vm.ToValue("[1]")
			}
			return vm.ToValue(0)
		})
		_ = vm.Set("see", func(call goja.FunctionCall) goja.Value {
			seen := vm.Get("seen").ToObject(vm)
			_ = seen.Set(seen.Get("length").String(), 1)
			return call.Argument(1)
		})
		_, err := vm.RunString(c.script)
		vm.ClearInterrupt()
		proof, bad := vm.RunString(c.proof)
		if err == nil || bad != nil || proof.String() != c.want {
			t.Errorf("%s: %v; then %s = %v, %v: is it interrupted now?", c.script, err, c.proof, proof, bad)
		}
	}
}

// Nested JSON ends the process, not the script. A small stack makes it cheap.
func TestFaultNestedJSON(t *testing.T) {
	if os.Getenv("SNENS_TEST_NESTED") == "1" {
		debug.SetMaxStack(8 << 20)
		_, err := bare(t, `JSON.parse("[".repeat(1e6) + "]".repeat(1e6)); 1`)
		t.Logf("survived: %v", err)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestFaultNestedJSON$", "-test.v")
	cmd.Env = append(os.Environ(), "SNENS_TEST_NESTED=1", "GOTRACEBACK=none")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "stack exceeds") {
		t.Errorf("goja survives nested JSON now (%v): drop the depth of tooMuch\n%.500s", err, out)
	}
}
