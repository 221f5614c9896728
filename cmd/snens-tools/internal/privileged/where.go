package privileged

import (
	"cmp"
	"context"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/broker/client"
	"snens/cmd/snens-tools/internal/cli"
	"snens/supervisor/config"
)

// where says which broker is asked: the socket of $SNENS_PRIV, else of the
// configuration, else the usual one. Who must listen is root, or the caller where
// the configuration has [priv] user = true: a variable alone makes nobody trusted.
func where(env []string) (client.Options, error) {
	socket := variable(env, "SNENS_PRIV")
	var priv config.Priv
	switch cfg, err := config.Load("", env); {
	case err == nil:
		priv = cfg.Priv
	case socket == "":
		return client.Options{}, &cli.Error{
			Code: action.ExitUnreachable, Message: "cannot find out where the broker is: " + firstLine(err.Error()),
			Hint: "mend the configuration, or set SNENS_PRIV to the request socket",
		}
	}
	if socket = cmp.Or(socket, priv.Socket); socket == "" {
		socket, _ = config.BrokerSockets(priv.User, env)
	}
	if socket == "" {
		return client.Options{}, &cli.Error{
			Code: action.ExitUnreachable, Message: "cannot find out where your broker is: XDG_RUNTIME_DIR, XDG_STATE_HOME and HOME are not set",
			Hint: "set SNENS_PRIV to the request socket",
		}
	}
	o := client.Options{Socket: socket}
	if priv.User {
		o.Listener = uint32(os.Getuid())
	}
	return o, nil
}

// Open connects to the broker. The error is ready to be reported.
func Open(ctx context.Context, env []string) (*client.Client, error) {
	return open(ctx, env, "ask the broker")
}

func open(ctx context.Context, env []string, doing string) (*client.Client, error) {
	o, err := where(env)
	if err != nil {
		return nil, err
	}
	c, err := client.Dial(ctx, o)
	if err != nil {
		return nil, Explain(doing, err)
	}
	return c, nil
}

// Context ends when the caller wants the tool to end; a request is given up then.
func Context() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
}

func variable(env []string, name string) string {
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v
		}
	}
	return ""
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
