package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"snens/internal/tomlread"
)

// expander knows the folders that paths of the file may begin with.
type expander struct {
	getenv func(string) string
}

// xdg are the variables of the base directory specification with their places
// below HOME; the runtime folder has none.
var xdg = []struct{ name, below string }{
	{"XDG_CONFIG_HOME", ".config"},
	{"XDG_DATA_HOME", ".local/share"},
	{"XDG_STATE_HOME", ".local/state"},
	{"XDG_CACHE_HOME", ".cache"},
	{"XDG_RUNTIME_DIR", ""},
}

// expand makes an absolute path of one that begins with /, ~/, $HOME or one of
// the $XDG_ variables. missing says, when not "", which variable would be needed;
// a path of another form is an error.
func (e expander) expand(path string) (full, missing string, err error) {
	if strings.IndexByte(path, 0) >= 0 {
		return "", "", fmt.Errorf("a path cannot hold a NUL character")
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), "", nil
	}
	first, rest, _ := strings.Cut(path, "/")
	var base string
	switch variable, isVariable := strings.CutPrefix(first, "$"); {
	case first == "~", variable == "HOME" && isVariable:
		base, missing = e.home()
	case isVariable && knownXDG(variable):
		base, missing = e.xdgDir(variable)
	case isVariable:
		return "", "", fmt.Errorf("%s begins with $%s; only $HOME and %s are known", tomlread.Quote(path), variable, xdgList())
	case strings.HasPrefix(first, "~"):
		return "", "", fmt.Errorf("%s names another user's home; write it out", tomlread.Quote(path))
	default:
		return "", "", fmt.Errorf("%s is not absolute; begin with /, ~/ or $XDG_CONFIG_HOME/ and the like", tomlread.Quote(path))
	}
	if missing != "" {
		return "", missing, nil
	}
	return filepath.Join(base, rest), "", nil
}

// home is $HOME. Nobody else is asked: a service without one has none.
func (e expander) home() (dir, missing string) {
	switch home := e.getenv("HOME"); {
	case home == "":
		return "", "HOME is not set"
	case !filepath.IsAbs(home):
		return "", "HOME is not an absolute path"
	default:
		return home, ""
	}
}

// xdgDir is the folder of a variable. A relative value counts as none, as the
// specification has it.
func (e expander) xdgDir(name string) (dir, missing string) {
	if v := e.getenv(name); filepath.IsAbs(v) {
		return v, ""
	}
	for _, x := range xdg {
		if x.name != name || x.below == "" {
			continue
		}
		home, missing := e.home()
		if missing != "" {
			return "", "neither " + name + " nor HOME is set to an absolute path"
		}
		return filepath.Join(home, x.below), ""
	}
	return "", name + " is not set to an absolute path"
}

func knownXDG(name string) bool {
	return slices.ContainsFunc(xdg, func(x struct{ name, below string }) bool { return x.name == name })
}

func xdgList() string {
	var names []string
	for _, x := range xdg {
		names = append(names, "$"+x.name)
	}
	return strings.Join(names, ", ")
}
