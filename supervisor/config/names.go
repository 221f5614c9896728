package config

import (
	"fmt"
	"strings"
)

const ours = "SNENS_"

// CheckVariable says why name cannot be the name of a variable in a call. Names
// are A-Z a-z 0-9 _ and begin with no digit, which keeps exported shell
// functions (BASH_FUNC_x%%) out.
func CheckVariable(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the name of a variable must not be empty")
	case !isName(name):
		return fmt.Errorf("%q is not the name of a variable: use A-Z a-z 0-9 _, no digit first", name)
	case strings.HasPrefix(name, ours):
		return fmt.Errorf("%s cannot be set: names that begin with SNENS_ are the supervisor's", name)
	}
	return nil
}

// CheckPattern says why p cannot be an item of env_allow: a name, or a prefix
// that ends in _* (AWS_*). A bare * or a prefix without the underscore would let
// through what nobody thought of.
func CheckPattern(p string) error {
	prefix, isPrefix := strings.CutSuffix(p, "*")
	if !isPrefix {
		return CheckVariable(p)
	}
	if !isName(prefix) || !strings.HasSuffix(prefix, "_") || strings.Trim(prefix, "_") == "" {
		return fmt.Errorf(`%q is not a pattern for variables: write a name, or a prefix as "AWS_*"`, p)
	}
	return CheckVariable(prefix)
}

func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
