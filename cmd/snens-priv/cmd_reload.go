package main

const reloadHelp = `snens-priv reload — tells the daemon to load its policy again.
snens-priv reload [--socket PATH] [--user]

Exit status 0: the new policy is in force. 1: it has faults, which are listed, and
the one before it stays. 69: no broker is there, or not root's.

  --socket PATH  instead of /run/snens-priv/request.sock
  --user         the broker that you run for yourself
`

func (a *app) reload(args []string) error {
	set := options("reload")
	socket := set.String("socket", "", "")
	user := set.Bool("user", false, "")
	if err := parse(set, args, false); err != nil {
		return err
	}
	v, err := a.ask(*socket, *user, "reload")
	if err != nil {
		return err
	}
	generation := ""
	if g := v.Get("generation"); g != nil {
		generation = g.Text
	}
	return a.printf("the policy was loaded; it is generation %s\n", line(generation))
}
