package config

import "path/filepath"

// Priv is the table [priv]: where the privilege broker is.
type Priv struct {
	Socket         string `toml:"socket"`          // of requests, absolute; "" = nothing said
	ApprovalSocket string `toml:"approval_socket"` // likewise
	User           bool   `toml:"user"`            // one's own broker (snens-priv serve --user) instead of root's
}

// BrokerSockets are the usual places of the broker's sockets: root's, or with
// user one's own, which are "" where the environment env has no place for them.
func BrokerSockets(user bool, env []string) (request, approval string) {
	dir := "/run/snens-priv"
	if user {
		e := expander{getenv: lookup(env)}
		if run, missing := e.xdgDir("XDG_RUNTIME_DIR"); missing == "" {
			dir = filepath.Join(run, "snens-priv")
		} else if state, missing := e.xdgDir("XDG_STATE_HOME"); missing == "" {
			dir = filepath.Join(state, "snens-priv", "run")
		} else {
			return "", ""
		}
	}
	return filepath.Join(dir, "request.sock"), filepath.Join(dir, "approval.sock")
}

var privKeys = []key{
	{"socket", "path", ``, func(d *decoder, p []string, v any) { takePath(d, p, v, &d.cfg.Priv.Socket) }},
	{"approval_socket", "path", ``, func(d *decoder, p []string, v any) { takePath(d, p, v, &d.cfg.Priv.ApprovalSocket) }},
	{"user", "boolean", `false`, func(d *decoder, p []string, v any) { d.Bool(p, v, &d.cfg.Priv.User) }},
}

func takePath(d *decoder, path []string, v any, into *string) {
	var s string
	if d.String(path, v, &s) {
		*into, _ = d.path(path, s)
	}
}
