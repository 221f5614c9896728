package supervisor

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"

	"snens/supervisor/config"
)

// brokerSockets are the sockets of the privilege broker that a tool is told of:
// those of the configuration, else those that we were told of, else the usual
// ones where they are there. They give no right: whoever uses one looks at who
// listens, and the broker at who asks.
func (s *Supervisor) brokerSockets() (request, approval string) {
	usualRequest, usualApproval := config.BrokerSockets(s.cfg.Priv.User, s.opt.Env)
	return cmp.Or(s.cfg.Priv.Socket, absolute(s.getenv("SNENS_PRIV")), ifThere(usualRequest)),
		cmp.Or(s.cfg.Priv.ApprovalSocket, absolute(s.getenv("SNENS_APPROVAL_SOCK")), ifThere(usualApproval))
}

// absolute passes over a relative path: it would lead elsewhere from the tool's
// folder.
func absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return ""
}

func ifThere(socket string) string {
	if info, err := os.Lstat(socket); err == nil && info.Mode().Type() == fs.ModeSocket {
		return socket
	}
	return ""
}
