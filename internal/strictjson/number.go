package strictjson

import (
	"fmt"
	"strings"
)

// IsNumber says whether s is a number by JSON's grammar: no plus sign, no
// leading zeros, no white space, digits on both sides of the point.
func IsNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole, rest := digits(s)
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return false
	}
	if after, ok := strings.CutPrefix(rest, "."); ok {
		frac, r := digits(after)
		if frac == "" {
			return false
		}
		rest = r
	}
	if rest == "" {
		return true
	}
	if rest[0] != 'e' && rest[0] != 'E' {
		return false
	}
	rest = rest[1:]
	if rest != "" && (rest[0] == '+' || rest[0] == '-') {
		rest = rest[1:]
	}
	exp, rest := digits(rest)
	return exp != "" && rest == ""
}

// digits splits s after its leading decimal digits.
func digits(s string) (string, string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}

// PlainNumber gives the one plain form of a number: no exponent, no zeros
// that say nothing, no minus before zero. 1e6 and 1000000.0 become "1000000",
// 15e-1 becomes "1.5". whole says that it is an integer.
//
// It is an error when text is no JSON number or its plain form needs more than
// maxDigits digits; nothing of the size of an exponent is ever allocated.
func PlainNumber(text string, maxDigits int) (plain string, whole bool, err error) {
	if !IsNumber(text) {
		return "", false, fmt.Errorf("%s is not a JSON number", clip(text))
	}
	body, negative := strings.CutPrefix(text, "-")
	intPart, rest := digits(body)
	frac := ""
	if after, ok := strings.CutPrefix(rest, "."); ok {
		frac, rest = digits(after)
	}
	// The value is mantissa / 10^scale.
	mantissa := strings.TrimLeft(intPart+frac, "0")
	if mantissa == "" {
		return "0", true, nil
	}
	scale := int64(len(frac)) - exponent(rest)
	trimmed := strings.TrimRight(mantissa, "0")
	scale -= int64(len(mantissa) - len(trimmed))
	mantissa = trimmed

	n := int64(len(mantissa))
	need := max(n, n-scale, scale+1)
	if need > int64(maxDigits) {
		return "", scale <= 0, fmt.Errorf("%s needs more than %d digits", clip(text), maxDigits)
	}
	switch {
	case scale <= 0:
		plain = mantissa + strings.Repeat("0", int(-scale))
	case scale < n:
		plain = mantissa[:n-scale] + "." + mantissa[n-scale:]
	default:
		plain = "0." + strings.Repeat("0", int(scale-n)) + mantissa
	}
	if negative {
		plain = "-" + plain
	}
	return plain, scale <= 0, nil
}

// exponent reads "e+12" ("" is 0). Beyond 12 digits it stands still: no
// mantissa that fits in memory could bring such a number back into range.
func exponent(s string) int64 {
	if s == "" {
		return 0
	}
	s, negative := strings.CutPrefix(s[1:], "-")
	s = strings.TrimLeft(strings.TrimPrefix(s, "+"), "0")
	if len(s) > 12 {
		s = s[:12]
	}
	var e int64
	for i := range len(s) {
		e = e*10 + int64(s[i]-'0')
	}
	if negative {
		return -e
	}
	return e
}
