package engine_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"snens/internal/testneed"
	"snens/scripting/engine"
	"snens/scripting/engine/gojs"
)

// counting is an engine that counts what it compiles.
type counting struct {
	engine.Engine
	compiled int
}

func (c *counting) Compile(src engine.Source) (engine.Program, error) {
	c.compiled++
	return c.Engine.Compile(src)
}

func TestTheCacheGoesByContent(t *testing.T) {
	e := &counting{Engine: gojs.New()}
	cache := engine.NewCache(e, 2)
	compile := func(name, text string, total int) {
		t.Helper()
		if _, err := cache.Compile(engine.Source{Name: name, Text: text}); err != nil {
			t.Fatal(err)
		}
		if e.compiled != total || cache.Len() > 2 {
			t.Errorf("%s %q: %d compiled, %d kept; want %d", name, text, e.compiled, cache.Len(), total)
		}
	}
	compile("a.js", "1", 1)
	compile("a.js", "1", 1)
	compile("a.js", "2", 2)
	compile("a.js", "1", 2) // used last now
	compile("b.js", "1", 3) // the name is in errors; "2" goes
	compile("a.js", "1", 3)
	compile("a.js", "2", 4)
	for range 2 { // failures are not kept
		if _, err := cache.Compile(engine.Source{Name: "a.js", Text: "("}); engine.KindOf(err) != engine.Syntax {
			t.Errorf("got %v", err)
		}
	}
	if e.compiled != 6 {
		t.Errorf("%d compiled", e.compiled)
	}
}

func TestLongSourcesAreRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		if _, err := e.Compile(engine.Source{Name: "l.js", Text: strings.Repeat(" ", engine.MaxSource+1)}); engine.KindOf(err) != engine.Syntax {
			t.Errorf("got %v", err)
		}
	})
}

func BenchmarkWarmCall(b *testing.B) {
	for _, e := range both() {
		b.Run(e.Name(), func(b *testing.B) {
			cache := engine.NewCache(e, 4)
			for b.Loop() {
				prog, err := cache.Compile(engine.Source{Name: "w.js", Text: body(`return args.n + 1`)})
				if err != nil {
					b.Fatal(err)
				}
				in, err := prog.New(b.Context(), engine.Setup{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := in.Call(b.Context(), "run", json.RawMessage(`{"n":1}`)); err != nil {
					b.Fatal(err)
				}
				in.Close()
			}
		})
	}
	b.Run("bin-true", func(b *testing.B) {
		name := testneed.Program(b, "true")
		for b.Loop() {
			if err := exec.Command(name).Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
