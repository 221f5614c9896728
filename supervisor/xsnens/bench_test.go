package xsnens_test

import (
	"testing"

	"snens/supervisor/xsnens"
)

const plainSchema = `{"type":"object","properties":{
	"pattern":{"type":"string","description":"What to look for"},
	"path":{"type":"array","items":{"type":"string"},"description":"Where"},
	"glob":{"type":"string"},"context":{"type":"integer","minimum":0,"maximum":100},
	"limit":{"type":"integer","default":100},"word":{"type":"boolean"}},
	"required":["pattern"],
	"x-snens":{"argv":[{"flag":"--glob","field":"glob"},{"flag":"--context","field":"context"},{"flag":"--limit","field":"limit"},
		{"flag":"--word","when_field":"word"},{"end_of_options":"--"},{"field":"pattern"},{"field":"path","spread":true}]}}`

// librarySchema needs the library for one keyword.
const librarySchema = `{"type":"object","properties":{
	"size":{"anyOf":[{"type":"integer"},{"const":"auto"}]}},"x-snens":{"argv":[{"field":"size"}]}}`

func BenchmarkLoad(b *testing.B) {
	for name, schema := range map[string]string{"plain": plainSchema, "library": librarySchema} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := xsnens.Load([]byte(schema)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	for name, c := range map[string][2]string{
		"plain":   {plainSchema, `{"pattern":"x","path":["a","b"],"context":"3","word":true}`},
		"library": {librarySchema, `{"size":"auto"}`},
	} {
		b.Run(name, func(b *testing.B) {
			i := load(b, c[0])
			b.ReportAllocs()
			for b.Loop() {
				if _, err := i.Build([]byte(c[1])); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
