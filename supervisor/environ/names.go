package environ

import (
	"fmt"
	"slices"
	"strings"

	"snens/supervisor/config"
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

// CheckName says why name cannot be the name of a variable in a call: the
// rules are those of the configuration.
func CheckName(name string) error { return config.CheckVariable(name) }

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
	for _, prefix := range []string{
		"LD_", "GLIBC_", "MALLOC_", "BASH_", "DYLD_", "GIT_CONFIG", "PYTHON", "PERL5", "RUBY", "NODE_", "JAVA_TOOL_",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains(steering, name)
}

var steering = []string{
	"PATH", "HOME", "SHELL", "TMPDIR", "IFS", "ENV", "PS4", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "CDPATH", "ZDOTDIR", "FPATH",
	"GCONV_PATH", "LOCPATH", "NLSPATH", "HOSTALIASES", "RES_OPTIONS", "TERMINFO", "TERMINFO_DIRS", "TERMCAP",
	"PERLLIB", "GEM_HOME", "GEM_PATH", "LUA_PATH", "LUA_CPATH", "LUA_INIT", "PHPRC", "PHP_INI_SCAN_DIR",
	"JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "TCLLIBPATH", "GUILE_LOAD_PATH",
	"EDITOR", "VISUAL", "PAGER", "MANPAGER", "GIT_PAGER", "SYSTEMD_PAGER", "LESSOPEN", "LESSCLOSE", "BROWSER",
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXEC_PATH", "GIT_EDITOR", "GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS",
	"GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND",
	"MAKEFLAGS", "OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES",
}

// matches says that a pattern of env_allow covers name.
func matches(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}
