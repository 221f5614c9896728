package config_test

import (
	"testing"

	"snens/supervisor/config"
)

func TestBrokerSockets(t *testing.T) {
	for _, c := range []struct {
		user bool
		env  []string
		dir  string // "" for no place
	}{
		{false, nil, "/run/snens-priv"},
		{false, []string{"HOME=/h", "XDG_RUNTIME_DIR=/run/user/7"}, "/run/snens-priv"},
		{true, []string{"HOME=/h", "XDG_RUNTIME_DIR=/run/user/7"}, "/run/user/7/snens-priv"},
		{true, []string{"HOME=/h", "XDG_RUNTIME_DIR=relative", "XDG_STATE_HOME=/s"}, "/s/snens-priv/run"},
		{true, []string{"HOME=/h"}, "/h/.local/state/snens-priv/run"},
		{true, nil, ""},
	} {
		var want [2]string
		if c.dir != "" {
			want = [2]string{c.dir + "/request.sock", c.dir + "/approval.sock"}
		}
		if request, approval := config.BrokerSockets(c.user, c.env); [2]string{request, approval} != want {
			t.Errorf("user %v, %q: got %s and %s, want %q", c.user, c.env, request, approval, want)
		}
	}
}
