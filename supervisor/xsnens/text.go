package xsnens

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"snens/internal/spelling"
	"snens/internal/strictjson"
)

// maxDigits is how many digits a number may need when it is written without
// an exponent: enough for any real argument, and a bound for 1e999999999.
const maxDigits = 1000

// shownRunes is how much of a wrong value an error repeats.
const shownRunes = 80

// quote is s in double quotes on one line, shortened.
func quote(s string) string {
	if utf8.RuneCountInString(s) > shownRunes {
		r := []rune(s[:min(len(s), 4*shownRunes)])
		s = string(r[:min(len(r), shownRunes)]) + "..."
	}
	return strconv.Quote(s)
}

// describe names a value for an error; hide leaves the value itself out.
func describe(v *strictjson.Value, hide bool) string {
	switch v.Kind {
	case strictjson.String:
		if hide {
			return "a string"
		}
		return "the string " + quote(v.Text)
	case strictjson.Number:
		if hide || len(v.Text) > shownRunes {
			return "a number"
		}
		return v.Text
	case strictjson.Bool:
		if hide {
			return "a boolean"
		}
		return strconv.FormatBool(v.Bool)
	case strictjson.Array:
		return "an array"
	case strictjson.Object:
		return "an object"
	}
	return "null"
}

// typeWords says what one of the types is, with its article.
func typeWords(types []string) string {
	words := make([]string, len(types))
	for i, t := range types {
		switch t {
		case "integer", "array", "object":
			words[i] = "an " + t
		case "boolean":
			words[i] = "true or false"
		case "null":
			words[i] = t
		default:
			words[i] = "a " + t
		}
	}
	return strings.Join(words, " or ")
}

// plainText is a scalar as a program gets it: a string as it is, a number
// without exponent. ok is false for every other kind.
func plainText(v *strictjson.Value) (string, bool) {
	switch v.Kind {
	case strictjson.String:
		return v.Text, true
	case strictjson.Number:
		plain, _, err := strictjson.PlainNumber(v.Text, maxDigits)
		return plain, err == nil
	}
	return "", false
}

// short is compact JSON of v, shortened for an error.
func short(v *strictjson.Value) string {
	s := string(v.JSON())
	if utf8.RuneCountInString(s) > shownRunes {
		s = string([]rune(s)[:shownRunes]) + "..."
	}
	return s
}

// list is the names in double quotes, separated by commas, at most 30.
func list(names []string) string {
	const most = 30
	out := make([]string, 0, len(names))
	for i, n := range names {
		if i == most {
			out = append(out, fmt.Sprintf("... (%d in all)", len(names)))
			break
		}
		out = append(out, quote(n))
	}
	return strings.Join(out, ", ")
}

// nearest finds the accepted name that name was probably meant to be, "" when
// none is near: at most one edit in three characters, case and - or _ free.
func nearest(name string, accepted []string) string {
	if len(name) > 100 {
		return ""
	}
	best, bestCost := "", 1<<30
	wanted := fold(name)
	for _, a := range accepted {
		folded := fold(a)
		cost := spelling.Distance(wanted, folded)
		if cost <= max(1, max(len(wanted), len(folded))/3) && cost < bestCost {
			best, bestCost = a, cost
		}
	}
	return best
}

func fold(s string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimLeft(s, "-"), "-", "_"))
}

// didYouMean is `did you mean "path"? ` or "".
func didYouMean(name string, accepted []string) string {
	if n := nearest(name, accepted); n != "" {
		return "did you mean " + quote(n) + "? "
	}
	return ""
}
