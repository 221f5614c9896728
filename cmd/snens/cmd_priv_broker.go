package main

import (
	"cmp"
	"context"
	"errors"
	"os"

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

// dial connects to the broker. Whoever listens has to be root, or ourselves
// where --user or the configuration says so.
func (a *app) dial(ctx context.Context, o brokerOptions) (*client.Client, error) {
	where, err := a.brokerAt(o)
	if err != nil {
		return nil, err
	}
	c, err := client.Dial(ctx, where)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// brokerAt finds the socket, and who has to listen there. The configuration is
// read where it may matter: one that cannot be read is an error only when
// nothing else names the socket.
func (a *app) brokerAt(o brokerOptions) (client.Options, error) {
	socket := cmp.Or(o.socket, a.getenv("SNENS_PRIV"))
	var priv config.Priv
	if socket == "" || !o.user {
		cfg, err := config.Load(a.configFile, a.env)
		switch {
		case err == nil:
			priv = cfg.Priv
		case socket == "":
			return client.Options{}, failf(action.ExitUnreachable, "cannot find out where the broker is: %w", err).
				withHint("mend the configuration, or name the socket: --socket /run/snens-priv/request.sock")
		}
	}
	user := o.user || priv.User
	if socket = cmp.Or(socket, priv.Socket); socket == "" {
		socket, _ = config.BrokerSockets(user, a.env)
	}
	if socket == "" {
		return client.Options{}, failf(action.ExitUnreachable, "cannot find out where your broker is: XDG_RUNTIME_DIR, XDG_STATE_HOME and HOME are not set").
			withHint("name the socket: --socket PATH")
	}
	where := client.Options{Socket: socket}
	if user {
		where.Listener = uint32(os.Getuid())
	}
	return where, nil
}

// withBroker asks the broker something that takes no time.
func (a *app) withBroker(o *brokerOptions, ask func(ctx context.Context, c *client.Client) error) error {
	ctx, stop := newPrivStop()
	defer stop.close()
	c, err := a.dial(ctx, *o)
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
