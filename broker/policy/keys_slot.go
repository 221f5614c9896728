package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"snens/internal/tomlread"
)

const (
	maxArgs    = 64
	maxMany    = maxWords
	maxPattern = 1024
	maxLiteral = 4096
	// A rule is told in one line to those whom it names, by the broker's sockets,
	// and read by people.
	maxValues = 1000
	maxText   = 32 << 10
)

var slotForm = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)

var slotKeys = []key[Slot]{
	{"slot", "name", "", func(d *decoder, path []string, v any, s *Slot) {
		if d.String(path, v, &s.Name) && !slotForm.MatchString(s.Name) {
			d.Fail(path, "%s cannot be the name of a slot; use a-z 0-9 - _, a letter first, at most 32", quote(s.Name))
		}
	}},
	{"kind", "word", "", func(d *decoder, path []string, v any, s *Slot) {
		var words []string
		for _, k := range kinds {
			words = append(words, string(k.kind))
		}
		d.Word(path, v, words, (*string)(&s.Kind))
	}},
	{"values", "list of texts", "", func(d *decoder, path []string, v any, s *Slot) {
		d.Strings(path, v, &s.Values, func(at []string, word string) (string, bool) {
			return word, d.literal(at, word)
		})
	}},
	{"min", "integer", "", func(d *decoder, path []string, v any, s *Slot) { d.number(path, v, &s.Min) }},
	{"max", "integer", "", func(d *decoder, path []string, v any, s *Slot) { d.number(path, v, &s.Max) }},
	{"pattern", "pattern", "", takePattern},
	{"beneath", "path", "", func(d *decoder, at []string, v any, s *Slot) {
		if d.String(at, v, &s.Beneath) && (!path.IsAbs(s.Beneath) || path.Clean(s.Beneath) != s.Beneath) {
			d.Fail(at, "%s must be an absolute path without //, . and ..", quote(s.Beneath))
		}
	}},
	{"as", "word", `"text"`, func(d *decoder, path []string, v any, s *Slot) {
		d.Word(path, v, []string{string(AsText), string(AsFD)}, (*string)(&s.As))
	}},
	{"many", "integer", "1", func(d *decoder, path []string, v any, s *Slot) { d.Integer(path, v, 1, maxMany, &s.Many) }},
	{"optional", "boolean", "false", func(d *decoder, path []string, v any, s *Slot) { d.Bool(path, v, &s.Optional) }},
	{"allow_dash", "boolean", "false", func(d *decoder, path []string, v any, s *Slot) { d.Bool(path, v, &s.AllowDash) }},
}

// kinds say which keys a kind must have and which it may have besides slot,
// kind, many and optional.
var kinds = []struct {
	kind      Kind
	must, may []string
}{
	{KindEnum, []string{"values"}, []string{"allow_dash"}},
	{KindInt, []string{"min", "max"}, []string{"allow_dash"}},
	{KindWord, []string{"pattern"}, []string{"max", "allow_dash"}},
	{KindUser, nil, []string{"min", "max"}},
	{KindUnit, nil, []string{"pattern"}},
	{KindPath, []string{"beneath"}, []string{"as"}},
}

func (d *decoder) number(path []string, v any, into *int64) {
	n, ok := v.(int64)
	if !ok {
		d.WrongType(path, "an integer", v)
		return
	}
	*into = n
}

// literal checks a word that a rule gives to its command.
func (d *decoder) literal(at []string, word string) bool {
	switch {
	case len(word) > maxLiteral:
		d.Fail(at, "must have at most %d bytes", maxLiteral)
	case strings.IndexByte(word, 0) >= 0:
		d.Fail(at, "an argument cannot hold a NUL character")
	default:
		return true
	}
	return false
}

func takePattern(d *decoder, path []string, v any, s *Slot) {
	if !d.text(path, v, maxPattern, &s.Pattern) {
		return
	}
	// Compiled bare first, so that no parenthesis of it can close ours.
	_, err := regexp.Compile(s.Pattern)
	if err == nil {
		s.pattern, err = regexp.Compile(`\A(?:` + s.Pattern + `)\z`)
	}
	if err != nil {
		d.Fail(path, "%s is no pattern: %s", quote(s.Pattern), err)
	}
}

// args takes the list of arguments.
func takeArgs(d *decoder, path []string, v any, r *Rule) {
	list, ok := v.([]any)
	if maps, isMaps := v.([]map[string]any); isMaps { // all of them slots
		ok = true
		for _, m := range maps {
			list = append(list, m)
		}
	}
	if !ok {
		d.WrongType(path, "a list of texts and slots", v)
		return
	}
	if len(list) > maxArgs {
		d.Fail(path, "must have at most %d entries", maxArgs)
		return
	}
	for i, v := range list {
		at := tomlread.Item(path, i)
		switch v := v.(type) {
		case string:
			if d.literal(at, v) {
				r.Args = append(r.Args, Arg{Literal: v})
			}
		case map[string]any:
			if s := d.slot(at, v); s != nil {
				r.Args = append(r.Args, Arg{Slot: s})
			}
		default:
			d.WrongType(at, `a text, or a slot such as {slot = "unit", kind = "unit"}`, v)
		}
	}
	d.slotsTogether(path, r)
	d.argsTogether(path, r)
}

// argsTogether bounds what a rule has in all its arguments.
func (d *decoder) argsTogether(path []string, r *Rule) {
	values, text := 0, 0
	for _, a := range r.Args {
		text += len(a.Literal)
		if s := a.Slot; s != nil {
			values += len(s.Values)
			text += len(s.Pattern) + len(s.Beneath)
			for _, word := range s.Values {
				text += len(word)
			}
		}
	}
	switch {
	case values > maxValues:
		d.Fail(path, "they list %d values, at most %d fit into a rule; take a slot of kind word with a pattern, or several rules", values, maxValues)
	case text > maxText:
		d.Fail(path, "they have %d bytes in all, at most %d fit into a rule; make several rules of it", text, maxText)
	}
}

// slotsTogether checks what no slot can see alone.
func (d *decoder) slotsTogether(path []string, r *Rule) {
	var names []string
	fds := 0
	for _, a := range r.Args {
		if a.Slot == nil {
			continue
		}
		if slices.Contains(names, a.Slot.Name) {
			d.Fail(path, "there are two slots %s; give each a name of its own", quote(a.Slot.Name))
		}
		names = append(names, a.Slot.Name)
		if a.Slot.As == AsFD {
			fds++
		}
	}
	if fds > 1 {
		d.Fail(path, `only one slot may have as = "fd"`)
	}
}

// slot takes one slot, nil when it makes no sense.
func (d *decoder) slot(path []string, v map[string]any) *Slot {
	s := &Slot{Many: 1}
	seen := table(d, "slot", path, v, slotKeys, s)
	if !seen["slot"] || !seen["kind"] {
		d.FailKey(path, "a slot needs slot (its name) and kind")
		return nil
	}
	i := slices.IndexFunc(kinds, func(k struct {
		kind      Kind
		must, may []string
	},
	) bool {
		return k.kind == s.Kind
	})
	if i < 0 {
		return nil // said already
	}
	k := kinds[i]
	for _, name := range k.must {
		if !seen[name] {
			d.FailKey(path, "a slot of kind %s needs %s", s.Kind, name)
			return nil
		}
	}
	takes := slices.Concat([]string{"slot", "kind", "many", "optional"}, k.must, k.may)
	for _, key := range slotKeys {
		if seen[key.name] && !slices.Contains(takes, key.name) {
			d.FailKey(tomlread.Child(path, key.name), "a slot of kind %s does not take it; it takes %s", s.Kind, strings.Join(takes, ", "))
		}
	}
	d.slotDefaults(s, seen)
	d.slotValues(path, s)
	return s
}

func (d *decoder) slotDefaults(s *Slot, seen map[string]bool) {
	switch {
	case s.Kind == KindWord && !seen["max"]:
		s.Max = maxWordDefault
	case s.Kind == KindUser:
		if !seen["min"] {
			s.Min = 1 // root only where a rule says so
		}
		if !seen["max"] {
			s.Max = NoID - 1
		}
	case s.Kind == KindPath && !seen["as"]:
		s.As = AsText
	}
}

// slotValues checks the values of a slot against each other.
func (d *decoder) slotValues(path []string, s *Slot) {
	at := func(name string) []string { return tomlread.Child(path, name) }
	switch s.Kind {
	case KindEnum:
		if len(s.Values) == 0 {
			d.Fail(at("values"), "must name a value")
		}
		if len(s.Values) > maxValues {
			return // which argsTogether says; what follows would take long
		}
		for i, word := range s.Values {
			item := tomlread.Item(at("values"), i)
			switch {
			case word == "":
				d.Fail(item, "an empty word fills no slot")
			case word[0] == '-' && !s.AllowDash:
				d.Fail(item, "%s begins with a dash; write allow_dash = true when that is meant", quote(word))
			case slices.Contains(s.Values[:i], word):
				d.Fail(item, "%s stands here twice", quote(word))
			}
		}
	case KindInt, KindUser:
		if s.Min > s.Max {
			d.Fail(at("min"), "must not be above max")
		}
		if s.Kind == KindInt && s.Min < 0 && !s.AllowDash {
			d.Fail(at("min"), "a number below 0 begins with a dash; write allow_dash = true when that is meant")
		}
		if s.Kind == KindUser && (s.Min < 0 || s.Max >= NoID) {
			d.Fail(at("min"), "uids are from 0 to %d", NoID-1)
		}
	case KindWord:
		if s.Max < 1 || s.Max > maxLiteral {
			d.Fail(at("max"), "must be from 1 to %d", maxLiteral)
		}
	case KindPath:
		if s.As == AsFD && (s.Many > 1 || s.Optional) {
			d.FailKey(path, `a slot with as = "fd" is filled by exactly one word`)
		}
	}
}
