package policy

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxValue bounds what a requester may pass in one variable, in bytes.
const maxValue = 4096

// builtin is the environment that every action starts from. Pagers are cat:
// a pager is a way to a shell. Nothing here names the requester.
func builtin(as RunAs, securePath []string) []Var {
	return []Var{
		{Name: "HOME", Value: as.Home},
		{Name: "LANG", Value: "C.UTF-8"},
		{Name: "LOGNAME", Value: as.User},
		{Name: "PAGER", Value: "cat"},
		{Name: "PATH", Value: strings.Join(securePath, ":")},
		{Name: "SHELL", Value: "/bin/sh"},
		{Name: "SYSTEMD_PAGER", Value: "cat"},
		{Name: "TERM", Value: "dumb"},
		{Name: "USER", Value: as.User},
	}
}

// overlay puts more over base; both are sorted, and so is the result.
func overlay(base, more []Var) []Var {
	out := slices.Clone(base)
	for _, v := range more {
		i, found := slices.BinarySearchFunc(out, v.Name, func(a Var, name string) int { return strings.Compare(a.Name, name) })
		if found {
			out[i] = v
		} else {
			out = slices.Insert(out, i, v)
		}
	}
	return out
}

// Environment makes the whole environment of an action, sorted by name: the
// built-in one, over it the rule's env, over it those of sent that env_pass
// names. sent is what the requester passed along, each NAME=value; other names
// in it are left out without a word, because clients send what they have. A name
// that comes twice is an error, and so is a value that no variable of env_pass
// may have: control characters, more than 4096 bytes, or for the names of
// locales and terminals a path.
func (r *Rule) Environment(sent []string) ([]Var, error) {
	var passed []Var
	seen := map[string]bool{}
	for _, entry := range sent {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%s is no variable; it must be NAME=value", quote(entry))
		}
		if seen[name] {
			return nil, fmt.Errorf("the variable %s comes twice", quote(name))
		}
		seen[name] = true
		if !slices.Contains(r.EnvPass, name) {
			continue
		}
		if err := checkPassed(name, value); err != nil {
			return nil, err
		}
		passed = append(passed, Var{Name: name, Value: value})
	}
	slices.SortFunc(passed, func(a, b Var) int { return strings.Compare(a.Name, b.Name) })
	return overlay(r.base, passed), nil
}

func checkPassed(name, value string) error {
	switch {
	case len(value) > maxValue:
		return fmt.Errorf("the variable %s has more than %d bytes", name, maxValue)
	case !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
		return fmt.Errorf("the variable %s holds control characters or bytes that are no text", name)
	case isLocale(name) && strings.ContainsAny(value, "/%"):
		return fmt.Errorf("the variable %s must not name a path", name)
	}
	return nil
}

// isLocale are names that are harmless as long as they hold a word: libraries
// look for files by them.
func isLocale(name string) bool {
	return name == "LANG" || name == "LANGUAGE" || name == "COLORTERM" || name == "TERM" || strings.HasPrefix(name, "LC_")
}

// checkName says why name cannot be a variable at all.
func checkName(name string) error {
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return fmt.Errorf("%s is not the name of a variable: use A-Z a-z 0-9 _, no digit first", quote(name))
		}
	}
	switch {
	case name == "":
		return fmt.Errorf("the name of a variable must not be empty")
	case strings.HasPrefix(name, "SNENS_"):
		return fmt.Errorf("names that begin with SNENS_ belong to SNENS")
	}
	return nil
}

// checkEnvPass says why a requester may never set the variable.
func checkEnvPass(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if why := runsCode(name); why != "" {
		return fmt.Errorf("%s must not come from the requester: %s", name, why)
	}
	if why := steers(name); why != "" {
		return fmt.Errorf("%s must not come from the requester: %s; set it in env", name, why)
	}
	return nil
}
