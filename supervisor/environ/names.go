package environ

import (
	"fmt"
	"slices"
	"strings"
)

// allowed are the caller's variables that every call gets, besides PATH.
var allowed = []string{
	"HOME", "USER", "LOGNAME", "SHELL",
	"LANG", "LANGUAGE", "LC_ADDRESS", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION", "LC_MEASUREMENT",
	"LC_MESSAGES", "LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER", "LC_TELEPHONE", "LC_TIME",
	"TZ", "TMPDIR",
	"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
}

// folders are those of them that must be absolute paths: a relative one would
// mean another folder in each working directory.
var folders = []string{
	"HOME", "TMPDIR",
	"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
}

const ours = "SNENS_"

// CheckName says why name cannot be the name of a variable in a call. Names
// are A-Z a-z 0-9 _ and begin with no digit, which keeps exported shell
// functions (BASH_FUNC_x%%) out.
func CheckName(name string) error {
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
		return CheckName(p)
	}
	if !isName(prefix) || !strings.HasSuffix(prefix, "_") || strings.Trim(prefix, "_") == "" {
		return fmt.Errorf(`%q is not a pattern for variables: write a name, or a prefix as "AWS_*"`, p)
	}
	return CheckName(prefix)
}

// CheckToolName is CheckName for a variable that a tool's own x-snens sets from
// its arguments. Those come from a model: a variable that makes a loader,
// shell or interpreter run something else is refused too.
func CheckToolName(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if steers(name) {
		return fmt.Errorf("%s cannot be set from arguments: it changes which programs or code are run", name)
	}
	return nil
}

// steers says that a variable makes programs load or run something.
func steers(name string) bool {
	for _, prefix := range []string{"LD_", "GLIBC_", "MALLOC_", "BASH_", "DYLD_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains(steering, name)
}

var steering = []string{
	"PATH", "HOME", "SHELL", "IFS", "ENV", "PS4", "SHELLOPTS", "BASHOPTS", "CDPATH", "ZDOTDIR", "FPATH",
	"GCONV_PATH", "LOCPATH", "NLSPATH", "HOSTALIASES", "RES_OPTIONS", "TERMINFO", "TERMINFO_DIRS", "TERMCAP",
	"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONUSERBASE",
	"PERLLIB", "PERL5LIB", "PERL5OPT", "PERL5DB", "RUBYLIB", "RUBYOPT", "GEM_HOME", "GEM_PATH",
	"NODE_OPTIONS", "NODE_PATH", "LUA_PATH", "LUA_CPATH", "LUA_INIT", "PHPRC", "PHP_INI_SCAN_DIR",
	"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "TCLLIBPATH", "GUILE_LOAD_PATH",
	"EDITOR", "VISUAL", "PAGER", "MANPAGER", "GIT_PAGER", "SYSTEMD_PAGER", "LESSOPEN", "LESSCLOSE", "BROWSER",
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXEC_PATH", "GIT_EDITOR", "GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS",
	"GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_COUNT",
	"MAKEFLAGS", "OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES",
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

// matches says that a pattern of env_allow covers name.
func matches(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}
