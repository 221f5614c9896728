// Package lower rewrites newer JavaScript into what an engine reads, with
// esbuild. It opens no file: imports of other files are left as calls of
// require, which scripts do not have.
//
//	code, err := lower.Script(src, lower.Old)   // what goja's parser refuses
//	code, err := lower.Script(src, lower.Modern) // an ES module for an engine that has all the rest
package lower

import (
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"snens/scripting/engine"
)

// Target is how old the result must be.
type Target int

// The targets.
const (
	Old    Target = iota // ES2017, and regular expressions with \p{...} built when they run
	Modern               // only modules are rewritten, to CommonJS
)

// Module says whether the name is that of an ECMAScript module.
func Module(src engine.Source) bool { return strings.HasSuffix(src.Name, ".mjs") }

// Script rewrites one script. The code ends with a source map in it, so that
// errors name lines of the original. The error is an *engine.Error of kind Syntax.
func Script(src engine.Source, target Target) (string, error) {
	options := api.TransformOptions{
		Sourcefile:  src.Name,
		Loader:      api.LoaderJS,
		Target:      api.ESNext,
		Charset:     api.CharsetUTF8,
		LogLevel:    api.LogLevelSilent,
		LogLimit:    1,
		TsconfigRaw: `{}`,
	}
	if Module(src) {
		options.Format = api.FormatCommonJS
		options.Banner = `"use strict";`
	}
	if target == Old {
		options.Target = api.ES2017
		options.Sourcemap = api.SourceMapInline
		options.SourcesContent = api.SourcesContentExclude
		// goja reads these itself; lowered they would be slower and longer.
		options.Supported = map[string]bool{
			"class-field": true, "class-static-field": true, "class-private-field": true, "class-private-method": true,
			"class-private-static-field": true, "class-private-static-method": true, "class-private-accessor": true,
			"class-private-static-accessor": true, "class-static-blocks": true, "nullish-coalescing": true, "optional-chain": true,
			"object-rest-spread": true, "optional-catch-binding": true, "logical-assignment": true, "bigint": true,
			"exponent-operator": true, "regexp-lookbehind-assertions": true, "regexp-named-capture-groups": true,
			"regexp-dot-all-flag": true,
			// All with the u flag: esbuild does not see \p{...} inside a class.
			"regexp-unicode-property-escapes": false, "regexp-sticky-and-unicode-flags": false,
			"async-generator": false, "for-await": false, "dynamic-import": false,
		}
	}
	result := api.Transform(src.Text, options)
	if len(result.Errors) > 0 {
		m := result.Errors[0]
		if m.Location == nil {
			return "", engine.Fail(engine.Syntax, "%s: %s", src.Name, m.Text)
		}
		return "", engine.Fail(engine.Syntax, "%s:%d:%d: %s", src.Name, m.Location.Line, m.Location.Column+1, m.Text)
	}
	return string(result.Code), nil
}
