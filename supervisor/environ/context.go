package environ

import (
	"fmt"
	"strconv"

	"snens/supervisor/call"
)

// Context is what a call knows of its surroundings. "" = not known, and the
// variable is not set.
type Context struct {
	Session      string  // SNENS_SESSION: id of the session
	Config       string  // SNENS_CONFIG: the configuration file in use
	ToolsDir     string  // SNENS_TOOLS_DIR: the tools folders when --tools-dir chose them, parted by colons
	SessionsDir  string  // SNENS_SESSIONS_DIR: folder of sessions
	Cwd          string  // SNENS_CWD: base of relative paths
	MailDir      string  // SNENS_MAIL_DIR: mailbox of a subagent
	Parent       string  // SNENS_PARENT: id of a subagent's parent
	ContextPath  string  // SNENS_CONTEXT_PATH: mirror of the conversation
	AttachDir    string  // SNENS_ATTACH_DIR: folder of this call's attachments
	Priv         string  // SNENS_PRIV: request socket of the privilege broker
	ApprovalSock string  // SNENS_APPROVAL_SOCK: its approval socket, for programs that show requests to people
	CallID       call.ID // SNENS_CALL_ID: this call
}

func (c Context) variables() map[string]string {
	return map[string]string{
		"SNENS_SESSION":       c.Session,
		"SNENS_CONFIG":        c.Config,
		"SNENS_TOOLS_DIR":     c.ToolsDir,
		"SNENS_SESSIONS_DIR":  c.SessionsDir,
		"SNENS_CWD":           c.Cwd,
		"SNENS_MAIL_DIR":      c.MailDir,
		"SNENS_PARENT":        c.Parent,
		"SNENS_CONTEXT_PATH":  c.ContextPath,
		"SNENS_ATTACH_DIR":    c.AttachDir,
		"SNENS_PRIV":          c.Priv,
		"SNENS_APPROVAL_SOCK": c.ApprovalSock,
		"SNENS_CALL_ID":       string(c.CallID),
	}
}

// MaxDepth is how many calls may be nested: tools that call tools. It stops
// two shims that call each other, not somebody who resets the counter.
const MaxDepth = 32

const depthName = "SNENS_DEPTH"

// depth returns the depth of a call whose caller has SNENS_DEPTH=value.
func depth(value string) (int, error) {
	if value == "" {
		return 1, nil
	}
	n, err := strconv.ParseUint(value, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("cannot start a call: %s is %q, not a number; fix: unset %s", depthName, value, depthName)
	}
	if n >= MaxDepth {
		return 0, fmt.Errorf("cannot start a call: %d calls are nested already (%s); does a tool call itself?", n, depthName)
	}
	return int(n) + 1, nil
}
