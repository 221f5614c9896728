package main

import (
	"fmt"
	"slices"
	"strings"

	"snens/supervisor"
	"snens/supervisor/xsnens"
)

// typedCall is how a typed tool is called, in general.
func typedCall(handle *supervisor.Handle) string {
	call := "snens call " + string(handle.Name)
	if len(handle.Interface.Fields()) > 0 || handle.Interface.Open() {
		call += " FIELD=VALUE ..."
	}
	return call
}

// fieldsHint says how to mend the words of a typed tool that could not be
// read. A bare word is shown how it would stand in a field.
func fieldsHint(handle *supervisor.Handle, words []string) string {
	show := fmt.Sprintf("snens tools %s shows its fields", handle.Name)
	fields := handle.Interface.Fields()
	bare := slices.IndexFunc(words, func(w string) bool { return !strings.Contains(w, "=") })
	switch {
	case len(fields) == 0 && !handle.Interface.Open():
		return fmt.Sprintf("it takes no fields: snens call %s", handle.Name)
	case bare < 0:
		return show
	}
	fields = slices.DeleteFunc(fields, func(f xsnens.Field) bool { return given(words, f.Name) })
	if len(fields) == 0 {
		return show
	}
	field := fields[max(0, slices.IndexFunc(fields, func(f xsnens.Field) bool { return f.Required }))]
	return fmt.Sprintf("write it as: snens call %s %s=%s; %s", handle.Name, field.Name, exampleValue(field, words[bare]), show)
}

// given says whether one of the words is for the field.
func given(words []string, field string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		name, _, ok := strings.Cut(w, "=")
		return ok && strings.TrimRight(name, ":@") == field
	})
}

// exampleValue is word where the field is free text that can hold it, and no
// shell would change it; else one of the field's values, or VALUE.
func exampleValue(f xsnens.Field, word string) string {
	text := slices.Contains(f.Types, "string") || slices.Contains(f.ItemTypes, "string")
	if len(f.Values) > 0 && !slices.Contains(f.Values, word) {
		word = f.Values[0]
	}
	if f.Secret || len(f.Values) == 0 && !text || !plainWord(word) {
		return "VALUE"
	}
	return word
}

// plainWord says that every shell takes the word as it is.
func plainWord(word string) bool {
	return word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-") == ""
}
