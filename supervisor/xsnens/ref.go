package xsnens

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"snens/internal/strictjson"
)

// Bounds of inlining: references within references, and bytes of schema.
const (
	maxRefDepth    = 16
	maxSchemaBytes = 256 << 10
)

// inliner replaces every local $ref by what it refers to, so that the schema
// can be published and checked piece by piece.
type inliner struct {
	root   strictjson.Value
	f      *faults
	bytes  int  // of the file and of all that was inlined
	used   bool // a $ref was there
	tooBig bool
}

// schema inlines below v. active are the references being followed.
func (in *inliner) schema(v strictjson.Value, path string, active []string) strictjson.Value {
	walk := func(sub strictjson.Value, at string) strictjson.Value { return in.schema(sub, at, active) }
	ref := v.Get("$ref")
	if ref == nil {
		return eachSchema(v, path, walk)
	}
	at := strictjson.Field(path, "$ref")
	target, ok := in.target(ref, at, active)
	if !ok {
		return v
	}
	in.used = true
	target = in.schema(target, at, append(slices.Clip(active), ref.Text))
	siblings := strictjson.Value{Kind: strictjson.Object}
	for _, m := range v.Members {
		if m.Name != "$ref" {
			siblings.Members = append(siblings.Members, m)
		}
	}
	return merge(target, eachSchema(siblings, path, walk))
}

// target finds what a reference refers to, within the bounds.
func (in *inliner) target(ref *strictjson.Value, at string, active []string) (strictjson.Value, bool) {
	var none strictjson.Value
	switch {
	case in.tooBig:
		return none, false
	case ref.Kind != strictjson.String:
		in.f.add(at, "must be a string such as \"#/$defs/NAME\"")
		return none, false
	case !strings.HasPrefix(ref.Text, "#"):
		in.f.add(at, "%s is outside this file, and nothing is ever loaded; copy it into $defs and write \"#/$defs/NAME\"", quote(ref.Text))
		return none, false
	case slices.Contains(active, ref.Text):
		in.f.add(at, "%s leads back to itself; a schema for a tool cannot be recursive", quote(ref.Text))
		return none, false
	case len(active) == maxRefDepth:
		in.f.add(at, "more than %d references lead one to the next; write the schema out", maxRefDepth)
		return none, false
	}
	target := pointer(&in.root, ref.Text)
	if target == nil || target.Kind != strictjson.Object && target.Kind != strictjson.Bool {
		in.f.add(at, "%s is not a schema of this file; write \"#/$defs/NAME\" and define NAME in $defs", quote(ref.Text))
		return none, false
	}
	in.bytes += len(target.JSON())
	if in.bytes > maxSchemaBytes {
		in.tooBig = true
		in.f.add(at, "with its references the schema is larger than %d bytes; make it smaller", maxSchemaBytes)
		return none, false
	}
	return *target, true
}

// pointer follows "#/a/b~1c/0", nil when it leads nowhere.
func pointer(root *strictjson.Value, ref string) *strictjson.Value {
	path, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
	if err != nil {
		return nil
	}
	v := root
	if path == "" {
		return v
	}
	rest, ok := strings.CutPrefix(path, "/")
	if !ok {
		return nil // an anchor
	}
	for part := range strings.SplitSeq(rest, "/") {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		switch v.Kind {
		case strictjson.Object:
			v = v.Get(part)
		case strictjson.Array:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(v.Items) {
				return nil
			}
			v = &v.Items[i]
		default:
			return nil
		}
		if v == nil {
			return nil
		}
	}
	return v
}

// merge joins what a $ref refers to with the keywords written beside it.
// Annotations beside it win. Any other keyword beside it applies as well as
// the target, which then moves into allOf; its type stays in sight.
func merge(target, siblings strictjson.Value) strictjson.Value {
	if len(siblings.Members) == 0 {
		return target
	}
	onlyAnnotations := target.Kind == strictjson.Object && !slices.ContainsFunc(siblings.Members, func(m strictjson.Member) bool {
		return keyword(m.Name) != annotation && keyword(m.Name) != unknown
	})
	out := strictjson.Value{Kind: strictjson.Object}
	if onlyAnnotations {
		out.Members = slices.Clone(target.Members)
	} else {
		all := strictjson.Value{Kind: strictjson.Array, Items: []strictjson.Value{target}}
		for _, m := range target.Members {
			if keyword(m.Name) == annotation || m.Name == "type" && siblings.Get("type") == nil {
				out.Members = append(out.Members, m)
			}
		}
		if own := siblings.Get("allOf"); own != nil && own.Kind == strictjson.Array {
			all.Items = append(all.Items, own.Items...)
		}
		out.Members = append(out.Members, strictjson.Member{Name: "allOf", Value: all})
	}
	for _, m := range siblings.Members {
		if old := out.Get(m.Name); old == nil {
			out.Members = append(out.Members, m)
		} else if m.Name != "allOf" || onlyAnnotations {
			*old = m.Value
		}
	}
	return out
}
