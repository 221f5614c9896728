package supervisor_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

// Which sockets of the broker a tool is told of.
func TestBrokerSocketsOfACall(t *testing.T) {
	run := t.TempDir()
	for _, c := range []struct {
		name       string
		conf       string
		env        []string
		listen     bool
		priv, appr string // "-": not set
	}{
		{name: "nothing said, nothing there", conf: "priv.user = true", priv: "-", appr: "-"},
		{name: "the usual place", conf: "priv.user = true", listen: true, priv: run + "/snens-priv/request.sock", appr: "-"},
		{
			name: "our own environment", conf: "priv.user = true", listen: true,
			env:  []string{"SNENS_PRIV=/x/r", "SNENS_APPROVAL_SOCK=/x/a"},
			priv: "/x/r", appr: "/x/a",
		},
		{
			name: "the configuration", conf: "[priv]\nsocket = '/c/r'\napproval_socket = '/c/a'",
			env:  []string{"SNENS_PRIV=/x/r", "SNENS_APPROVAL_SOCK=/x/a"},
			priv: "/c/r", appr: "/c/a",
		},
		{name: "one of them", conf: "priv = {socket = '/c/r', user = true}", priv: "/c/r", appr: "-"},
		{name: "relative", conf: "priv.user = true", env: []string{"SNENS_PRIV=r", "SNENS_APPROVAL_SOCK=./a"}, priv: "-", appr: "-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.conf = c.conf + "\n"
			w.env = append(w.env, append(c.env, "XDG_RUNTIME_DIR="+run)...)
			w.tool("who", `echo "priv=${SNENS_PRIV--}"; echo "appr=${SNENS_APPROVAL_SOCK--}"`)
			if c.listen {
				socket := filepath.Join(run, "snens-priv", "request.sock")
				if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
					t.Fatal(err)
				}
				l, err := net.Listen("unix", socket)
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				// A file that is no socket is no broker's.
				w.write(filepath.Join(run, "snens-priv", "approval.sock"), "", 0o600)
			}
			r := w.call("who", `{}`)
			if line(r, "priv") != c.priv || line(r, "appr") != c.appr {
				t.Errorf("SNENS_PRIV %q, SNENS_APPROVAL_SOCK %q, want %q, %q", line(r, "priv"), line(r, "appr"), c.priv, c.appr)
			}
		})
	}
}
