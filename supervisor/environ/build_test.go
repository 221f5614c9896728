package environ_test

import (
	"slices"
	"strings"
	"testing"

	"snens/supervisor/environ"
)

// caller is a rich environment of a desktop session.
var caller = []string{
	"HOME=/home/ann", "USER=ann", "LOGNAME=ann", "SHELL=/bin/bash", "LANG=de_DE.UTF-8", "LANGUAGE=de:en",
	"LC_ALL=C", "LC_TIME=en_GB", "LC_API_KEY=x", "TZ=Europe/Berlin", "TERM=xterm-256color", "TMPDIR=/var/tmp",
	"XDG_RUNTIME_DIR=/run/user/1000", "XDG_CONFIG_HOME=/home/ann/.config", "XDG_SESSION_ID=3",
	"PATH=/usr/bin:/bin", "PWD=/home/ann", "OLDPWD=/", "SHLVL=2", "_=/usr/bin/snens", "COLUMNS=80", "EDITOR=vim",
}

func build(t *testing.T, s environ.Spec) *environ.Env {
	t.Helper()
	e, err := environ.Build(s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func wantVars(t *testing.T, e *environ.Env, want ...string) {
	t.Helper()
	if !slices.Equal(e.Vars, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(e.Vars, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestAllowList(t *testing.T) {
	e := build(t, environ.Spec{Caller: caller})
	wantVars(
		t, e,
		"HOME=/home/ann", "LANG=de_DE.UTF-8", "LANGUAGE=de:en", "LC_ALL=C", "LC_TIME=en_GB", "LOGNAME=ann",
		"PATH=/usr/bin:/bin", "SHELL=/bin/bash", "SNENS_DEPTH=1", "TERM=dumb", "TMPDIR=/var/tmp", "TZ=Europe/Berlin",
		"USER=ann", "XDG_CONFIG_HOME=/home/ann/.config", "XDG_RUNTIME_DIR=/run/user/1000",
	)
	if e.Depth != 1 || e.Secrets != nil || e.Notes != nil {
		t.Errorf("got %+v", e)
	}
}

func TestEmptyCaller(t *testing.T) {
	wantVars(t, build(t, environ.Spec{}), "PATH="+environ.DefaultPath, "SNENS_DEPTH=1", "TERM=dumb")
}

func TestContext(t *testing.T) {
	all := environ.Context{
		Session: "s", Config: "/c", SessionsDir: "/ss", Cwd: "/cwd", MailDir: "/m", Parent: "p",
		ContextPath: "/cx", AttachDir: "/a", Priv: "/priv", ApprovalSock: "/appr", CallID: "id",
	}
	wantVars(
		t, build(t, environ.Spec{Context: all, Caller: []string{"PATH=/bin"}}),
		"PATH=/bin", "SNENS_APPROVAL_SOCK=/appr", "SNENS_ATTACH_DIR=/a", "SNENS_CALL_ID=id", "SNENS_CONFIG=/c",
		"SNENS_CONTEXT_PATH=/cx", "SNENS_CWD=/cwd", "SNENS_DEPTH=1", "SNENS_MAIL_DIR=/m", "SNENS_PARENT=p",
		"SNENS_PRIV=/priv", "SNENS_SESSION=s", "SNENS_SESSIONS_DIR=/ss", "TERM=dumb",
	)
	// What is not known is not set, whatever the caller has; unknown names neither.
	wantVars(
		t, build(t, environ.Spec{
			Context: environ.Context{Cwd: "/cwd"},
			Caller:  []string{"PATH=/bin", "SNENS_SESSION=stale", "SNENS_PRIV=/evil", "SNENS_CWD=/old", "SNENS_X=1", "SNENS_PARENT="},
		}),
		"PATH=/bin", "SNENS_CWD=/cwd", "SNENS_DEPTH=1", "TERM=dumb",
	)
	if _, err := environ.Build(environ.Spec{Context: environ.Context{Cwd: "/a\x00b"}}); err == nil || !strings.Contains(err.Error(), "SNENS_CWD holds a NUL") {
		t.Errorf("got %v", err)
	}
}

func TestDepth(t *testing.T) {
	for _, c := range []struct {
		value string
		depth int
		err   string
	}{
		{"", 1, ""},
		{"0", 1, ""},
		{"1", 2, ""},
		{"31", 32, ""},
		{"32", 0, "32 calls are nested already"},
		{"65535", 0, "65535 calls are nested already"},
		{"65536", 0, `"65536", not a number; fix: unset SNENS_DEPTH`},
		{"-1", 0, "not a number"},
		{"+1", 0, "not a number"},
		{"x", 0, "not a number"},
	} {
		e, err := environ.Build(environ.Spec{Caller: []string{"SNENS_DEPTH=" + c.value}})
		switch {
		case c.err == "" && (err != nil || e.Depth != c.depth):
			t.Errorf("%q: %+v, %v; want %d", c.value, e, err, c.depth)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%q: %v, want %q", c.value, err, c.err)
		}
	}
}

func TestGrants(t *testing.T) {
	e := build(t, environ.Spec{
		Caller: []string{"PATH=/bin", "API_KEY=k-123456", "SHORT=abc", "OTHER=o-123456", "AWS_REGION=eu-west-1", "AWSX=1"},
		Allow:  []string{"AWS_*"},
		Pass:   []string{"API_KEY", "SHORT", "MISSING"},
		Set:    map[string]string{"MODE": "fast!", "TWICE": "k-123456", "LONG": "a much longer value", "EMPTY": "", "LANG": "C.UTF-8"},
		Call:   map[string]string{"QUERY": "from the model", "MODE": "slow"},
	})
	wantVars(
		t, e,
		"API_KEY=k-123456", "AWS_REGION=eu-west-1", "EMPTY=", "LANG=C.UTF-8", "LONG=a much longer value", "MODE=slow",
		"PATH=/bin", "QUERY=from the model", "SHORT=abc", "SNENS_DEPTH=1", "TERM=dumb", "TWICE=k-123456",
	)
	var secrets []string
	for _, s := range e.Secrets {
		secrets = append(secrets, string(s))
	}
	if want := []string{"a much longer value", "k-123456", "fast!"}; !slices.Equal(secrets, want) {
		t.Errorf("secrets %q, want %q", secrets, want)
	}
	if want := []string{"MISSING: named in env_pass but not set"}; !slices.Equal(e.Notes, want) {
		t.Errorf("notes %q", e.Notes)
	}
}

func TestGrantedPathAndTerm(t *testing.T) {
	e := build(t, environ.Spec{
		Caller: []string{"PATH=/bin"}, Links: "/run/links",
		Set: map[string]string{"PATH": "/opt/x/bin::rel:/usr/bin", "TERM": "vt100"},
	})
	wantVars(t, e, "PATH=/run/links:/opt/x/bin:/usr/bin", "SNENS_DEPTH=1", "TERM=vt100")
	if e.Secrets != nil {
		t.Errorf("secrets %q", e.Secrets)
	}
}

func TestBuildRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spec environ.Spec
		err  string
	}{
		"allow all":            {environ.Spec{Allow: []string{"*"}}, `env_allow: "*" is not a pattern`},
		"prefix without _":     {environ.Spec{Allow: []string{"A*"}}, "is not a pattern"},
		"star inside":          {environ.Spec{Allow: []string{"A_*_B"}}, "is not the name of a variable"},
		"underscores alone":    {environ.Spec{Allow: []string{"_*"}}, "is not a pattern"},
		"allow ours":           {environ.Spec{Allow: []string{"SNENS_*"}}, "names that begin with SNENS_ are the supervisor's"},
		"pass ours":            {environ.Spec{Pass: []string{"SNENS_PRIV"}}, "env_pass: SNENS_PRIV cannot be set"},
		"set ours":             {environ.Spec{Set: map[string]string{"SNENS_DEPTH": "0"}}, "env: SNENS_DEPTH cannot be set"},
		"set bad name":         {environ.Spec{Set: map[string]string{"A=B": "x"}}, `env: "A=B" is not the name`},
		"set empty name":       {environ.Spec{Set: map[string]string{"": "x"}}, "must not be empty"},
		"set NUL":              {environ.Spec{Set: map[string]string{"A": "x\x00y"}}, "env: the value of A holds a NUL byte"},
		"a shell function":     {environ.Spec{Set: map[string]string{"BASH_FUNC_ls%%": "() { id; }"}}, "is not the name"},
		"tool sets ours":       {environ.Spec{Call: map[string]string{"SNENS_CALL_ID": "x"}}, "x-snens env: SNENS_CALL_ID"},
		"tool sets PATH":       {environ.Spec{Call: map[string]string{"PATH": "/tmp"}}, "it changes which programs or code are run"},
		"tool sets LD_PRELOAD": {environ.Spec{Call: map[string]string{"LD_PRELOAD": "/tmp/x.so"}}, "x-snens env: LD_PRELOAD cannot be set from arguments"},
		"tool sets NUL":        {environ.Spec{Call: map[string]string{"Q": "\x00"}}, "x-snens env: the value of Q holds a NUL"},
		"links relative":       {environ.Spec{Links: "links"}, "must be absolute"},
		"links with a colon":   {environ.Spec{Links: "/a:/b"}, "without a colon"},
	} {
		if e, err := environ.Build(c.spec); err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %+v, %v; want %q", name, e, err, c.err)
		}
	}
}

// The caller's environment is never a reason to fail.
func TestOddCaller(t *testing.T) {
	e := build(t, environ.Spec{
		Caller: []string{
			"", "=", "=C:=C:\\", "NOVALUE", "LANG=first", "LANG=second", "HOME=relative", "TMPDIR=", "TZ=a\x00b",
			"LC_ALL=() { :;}; echo pwned", "USER=\xff\n", "PATH=\x00", "BAD-NAME=1", "A_1=x", "A_b-c=y",
		},
		Allow: []string{"A_*"},
	})
	wantVars(t, e, "A_1=x", "LANG=first", "PATH="+environ.DefaultPath, "SNENS_DEPTH=1", "TERM=dumb", "USER=\xff\n")
	want := []string{
		`HOME: dropped, "relative" is not an absolute path`,
		"LC_ALL: dropped, its value reads as a shell function",
		`TMPDIR: dropped, "" is not an absolute path`,
		"TZ: dropped, its value holds a NUL byte",
		"PATH: nothing usable in it, using the default",
	}
	if !slices.Equal(e.Notes, want) {
		t.Errorf("notes %q, want %q", e.Notes, want)
	}
}

func TestBuildIsDeterministic(t *testing.T) {
	spec := environ.Spec{
		Caller: caller, Allow: []string{"XDG_*"}, Pass: []string{"EDITOR", "_", "PWD"},
		Set: map[string]string{"B": "bbbb", "A": "aaaa", "C": "cccc"},
	}
	first := build(t, spec)
	for range 20 {
		again := build(t, spec)
		if !slices.Equal(first.Vars, again.Vars) || !slices.EqualFunc(first.Secrets, again.Secrets, slices.Equal) {
			t.Fatalf("%q then %q", first.Vars, again.Vars)
		}
	}
	if !slices.IsSorted(first.Vars) {
		t.Errorf("not sorted: %q", first.Vars)
	}
}
