package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"snens/broker/action"
	"snens/broker/client"
	"snens/supervisor/config"
)

// brokerOptions say which broker is asked.
type brokerOptions struct {
	socket string
	user   bool
}

func (o *brokerOptions) addTo(c *cobra.Command) {
	flags := c.PersistentFlags()
	flags.StringVar(&o.socket, "socket", "", "ask the broker at the socket `PATH` (default: $SNENS_PRIV, the configuration, /run/snens-priv/request.sock)")
	flags.BoolVar(&o.user, "user", false, "the broker is one's own (snens-priv serve --user) and not root's")
	_ = c.MarkPersistentFlagFilename("socket")
}

// connect connects to the broker. Whoever listens has to be root, or ourselves
// where --user or the configuration says so.
func (a *app) connect(ctx context.Context, o brokerOptions) (*client.Client, error) {
	where, err := a.brokerAt(o)
	if err != nil {
		return nil, err
	}
	c, err := client.Connect(ctx, where)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// brokerAt finds the socket of requests, and who has to listen there.
func (a *app) brokerAt(o brokerOptions) (client.Options, error) {
	socket, listener, err := a.findBroker(o, a.getenv("SNENS_PRIV"), false)
	return client.Options{Socket: socket, Listener: listener}, err
}

// findBroker finds the socket of approvals or of requests: that of the options,
// named (by a variable), the configuration's, the usual one. The configuration is
// read where it may matter: one that cannot be read is an error only when nothing
// else names the socket.
func (a *app) findBroker(o brokerOptions, named string, approvals bool) (socket string, listener uint32, err error) {
	a.ownBroker = o.user
	socket = cmp.Or(o.socket, named)
	pick := func(request, approval string) string {
		if approvals {
			return approval
		}
		return request
	}
	var priv config.Priv
	if socket == "" || !o.user {
		cfg, err := config.Load(a.configFile, a.env)
		switch {
		case err == nil:
			priv = cfg.Priv
		case socket == "":
			return "", 0, failf(action.ExitUnreachable, "cannot find out where the broker is: %w", err).
				withHint("mend the configuration, or name the socket: --socket %s", pick(config.BrokerSockets(false, nil)))
		}
	}
	user := o.user || priv.User
	socket = cmp.Or(socket, pick(priv.Socket, priv.ApprovalSocket), pick(config.BrokerSockets(user, a.env)))
	if socket == "" {
		return "", 0, failf(action.ExitUnreachable, "cannot find out where your broker is: XDG_RUNTIME_DIR, XDG_STATE_HOME and HOME are not set").
			withHint("name the socket: --socket PATH")
	}
	if user {
		listener = uint32(os.Getuid())
	}
	return socket, listener, nil
}

// ownHint makes a hint one that can be typed as it stands when the broker is one's
// own by --user.
func (a *app) ownHint(hint string) string {
	if !a.ownBroker {
		return hint
	}
	if strings.Contains(hint, "systemctl status snens-priv") {
		return "does it run; start it: snens-priv serve --user"
	}
	return strings.NewReplacer("snens priv ", "snens priv --user ", "snens approve ", "snens approve --user ").Replace(hint)
}

// withBroker asks the broker something that takes no time.
func (a *app) withBroker(o *brokerOptions, ask func(ctx context.Context, c *client.Client) error) error {
	ctx, stop := newPrivStop()
	defer stop.close(true)
	stop.watch()
	c, err := a.connect(ctx, *o)
	if err == nil {
		defer c.Close()
		err = ask(ctx, c)
	}
	var refused *client.Refused
	if errors.As(err, &refused) {
		return explainRefusal("", refused)
	}
	return err
}
