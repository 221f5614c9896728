package action_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"snens/broker/action"
)

// nasty are texts that have fooled somebody somewhere.
var nasty = []string{
	"", "a", "true ", " ", "x\nDecision: approved", "\"", "\\", `\u{a}`, "\x1b[2J", "\x80", "\xff\xfe", "\u202e", "\u200b",
	"a\u0301", "\u0301", "=", "\r\n", "\n", "\n\n", "a\n", "argv: 1", "\"\nargv[1]: \"b", "\u2028", "\U000e0041", "\ufeff", "é", "ﾠ",
}

// word draws a text without NUL, full of what breaks formats.
func word() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(nasty), rapid.StringN(0, 4, 8)), 0, 3).Draw(t, "parts")
		return strings.ReplaceAll(strings.Join(parts, ""), "\x00", "0")
	})
}

func path(t *rapid.T, label string) string { return "/" + word().Draw(t, label) }

func digest(t *rapid.T, label string) (d action.Digest) {
	d[0] = rapid.ByteRange(1, 3).Draw(t, label)
	return d
}

func gids(t *rapid.T, label string) []action.GID {
	return action.SortGIDs(rapid.SliceOfN(rapid.Map(rapid.Uint32Range(0, action.NoID-1), func(n uint32) action.GID { return action.GID(n) }), 0, 3).Draw(t, label))
}

func file(t *rapid.T) action.File {
	return action.File{
		Path:   path(t, "path"),
		Device: rapid.Uint64().Draw(t, "device"),
		Inode:  rapid.Uint64().Draw(t, "inode"),
		SHA256: digest(t, "sha256"),
	}
}

func ms(t *rapid.T, label string, least int64) time.Duration {
	return time.Duration(rapid.Int64Range(least, int64(action.MaxDuration/time.Millisecond)).Draw(t, label)) * time.Millisecond
}

// request draws any request that Seal accepts.
func request() *rapid.Generator[action.Request] {
	return rapid.Custom(func(t *rapid.T) action.Request {
		r := action.Request{
			Argv:       append([]string{"p" + word().Draw(t, "argv0")}, rapid.SliceOfN(word(), 0, 4).Draw(t, "argv")...),
			Executable: file(t),
			Cwd:        path(t, "cwd"),
			Umask:      rapid.Uint16Range(0, 0o777).Draw(t, "umask"),
			Timeout:    ms(t, "timeout", 1),
			RunAs: action.RunAs{
				UID: action.UID(rapid.Uint32Range(0, action.NoID-1).Draw(t, "uid")), User: word().Draw(t, "user"),
				GID: action.GID(rapid.Uint32Range(0, action.NoID-1).Draw(t, "gid")), Group: word().Draw(t, "group"),
				Groups: gids(t, "groups"),
			},
			Limits: action.Limits{
				Memory: rapid.Uint64().Draw(t, "memory"), Processes: rapid.Uint64Range(0, 2).Draw(t, "processes"),
				CPU: ms(t, "cpu", 0), OpenFiles: rapid.Uint64Range(0, 2).Draw(t, "open"), FileSize: rapid.Uint64Range(0, 2).Draw(t, "size"),
			},
			Modes: action.Modes{
				Detached: rapid.Bool().Draw(t, "detached"), Terminal: rapid.Bool().Draw(t, "terminal"), Recorded: rapid.Bool().Draw(t, "recorded"),
			},
			Requester:  action.Requester{UID: 1000, GID: 1000, Groups: gids(t, "requester groups")},
			Rule:       action.RuleID(rapid.StringMatching(`[a-z0-9][a-zA-Z0-9._-]{6,20}`).Draw(t, "rule")),
			RuleDigest: digest(t, "rule digest"),
			Expires:    time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "expires"), 0).UTC(),
			Nonce:      action.Nonce{rapid.ByteRange(1, 9).Draw(t, "nonce")},
			Install:    action.InstallID{rapid.ByteRange(1, 9).Draw(t, "install")},
		}
		for range rapid.IntRange(0, 2).Draw(t, "interpreters") {
			r.Interpreters = append(r.Interpreters, file(t))
		}
		for i := range rapid.IntRange(0, 2).Draw(t, "opened") {
			r.Opened = append(r.Opened, action.OpenedFile{Descriptor: uint8(3 + i), Path: path(t, "opened"), Inode: 7})
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "env") {
			name := fmt.Sprintf("V%d", i) + strings.ReplaceAll(word().Draw(t, "name"), "=", "")
			r.Env = append(r.Env, action.Var{Name: name, Value: word().Draw(t, "value")})
		}
		r.Stdin.Mode = rapid.SampledFrom([]action.StdinMode{action.StdinNone, action.StdinSealed, action.StdinPass}).Draw(t, "stdin")
		if r.Stdin.Mode == action.StdinSealed {
			r.Stdin.Content = word().Draw(t, "content") + strings.Repeat("\x00", rapid.IntRange(0, 1).Draw(t, "nul"))
		}
		return r
	})
}

// plain is a small request for tests that change one thing.
func plain() action.Request {
	return action.Request{
		Argv:       []string{"systemctl", "restart", "nginx.service"},
		Executable: action.File{Path: "/usr/bin/systemctl", Device: 2049, Inode: 131077, SHA256: action.DigestOf("systemctl")},
		Cwd:        "/",
		Env:        []action.Var{{"LANG", "C.UTF-8"}, {"PATH", "/usr/bin:/bin"}},
		RunAs:      action.RunAs{User: "root", Group: "root"},
		Umask:      0o022,
		Timeout:    time.Minute,
		Stdin:      action.Stdin{Mode: action.StdinNone},
		Requester:  action.Requester{UID: 1000, GID: 1000, Groups: []action.GID{27, 100}},
		Rule:       "restart-web",
		RuleDigest: action.DigestOf("rule"),
		Expires:    time.Date(2030, 1, 31, 23, 59, 59, 0, time.UTC),
		Nonce:      action.Nonce{1},
		Install:    action.InstallID{2},
	}
}

// changes are one for each field of a request: what it does, and whether the
// request key must notice.
var changes = []struct {
	name  string
	inKey bool
	do    func(*action.Request)
}{
	{"argv[0]", true, func(r *action.Request) { r.Argv[0] = "x" }},
	{"argv word", true, func(r *action.Request) { r.Argv[1] += " " }},
	{"argv split", true, func(r *action.Request) { r.Argv = append(r.Argv, "") }},
	{"executable path", true, func(r *action.Request) { r.Executable.Path += "x" }},
	{"executable device", true, func(r *action.Request) { r.Executable.Device++ }},
	{"executable inode", true, func(r *action.Request) { r.Executable.Inode++ }},
	{"executable digest", true, func(r *action.Request) { r.Executable.SHA256[31] ^= 1 }},
	{"interpreter", true, func(r *action.Request) { r.Interpreters = []action.File{r.Executable} }},
	{"opened file", true, func(r *action.Request) { r.Opened = []action.OpenedFile{{Descriptor: 3, Path: "/x"}} }},
	{"cwd", true, func(r *action.Request) { r.Cwd = "/tmp" }},
	{"env value", true, func(r *action.Request) { r.Env[0].Value = "C" }},
	{"env name", true, func(r *action.Request) { r.Env[0].Name = "LANH" }},
	{"env removed", true, func(r *action.Request) { r.Env = r.Env[:1] }},
	{"run as uid", true, func(r *action.Request) { r.RunAs.UID++ }},
	{"run as user", true, func(r *action.Request) { r.RunAs.User = "toor" }},
	{"run as gid", true, func(r *action.Request) { r.RunAs.GID++ }},
	{"run as group", true, func(r *action.Request) { r.RunAs.Group = "adm" }},
	{"run as groups", true, func(r *action.Request) { r.RunAs.Groups = []action.GID{4} }},
	{"umask", true, func(r *action.Request) { r.Umask = 0 }},
	{"timeout", true, func(r *action.Request) { r.Timeout++; r.Timeout += time.Millisecond - 1 }},
	{"memory", true, func(r *action.Request) { r.Limits.Memory = 1 }},
	{"processes", true, func(r *action.Request) { r.Limits.Processes = 1 }},
	{"cpu", true, func(r *action.Request) { r.Limits.CPU = time.Second }},
	{"open files", true, func(r *action.Request) { r.Limits.OpenFiles = 1 }},
	{"file size", true, func(r *action.Request) { r.Limits.FileSize = 1 }},
	{"detached", true, func(r *action.Request) { r.Modes.Detached = true }},
	{"terminal", true, func(r *action.Request) { r.Modes.Terminal = true }},
	{"recorded", true, func(r *action.Request) { r.Modes.Recorded = true }},
	{"stdin pass", true, func(r *action.Request) { r.Stdin.Mode = action.StdinPass }},
	{"stdin empty", true, func(r *action.Request) { r.Stdin.Mode = action.StdinSealed }},
	{"stdin", true, func(r *action.Request) { r.Stdin = action.Stdin{Mode: action.StdinSealed, Content: "x"} }},
	{"rule digest", true, func(r *action.Request) { r.RuleDigest[0] ^= 1 }},
	{"requester uid", false, func(r *action.Request) { r.Requester.UID++ }},
	{"requester gid", false, func(r *action.Request) { r.Requester.GID++ }},
	{"requester groups", false, func(r *action.Request) { r.Requester.Groups = nil }},
	{"rule", false, func(r *action.Request) { r.Rule = "restart-weo" }},
	{"expires", false, func(r *action.Request) { r.Expires = r.Expires.Add(time.Second) }},
	{"nonce", false, func(r *action.Request) { r.Nonce[15] = 1 }},
	{"install", false, func(r *action.Request) { r.Install[15] = 1 }},
}

// changed is plain with one change.
func changed(do func(*action.Request)) action.Request {
	r := plain().Clone()
	r.Env = slices.Clone(r.Env)
	do(&r)
	return r
}
