package main

import (
	"path/filepath"
	"strings"

	"snens/broker/policy"
)

// places are the paths of one broker.
type places struct {
	config   string // the policy; its drop-ins are in dropIns(config)
	request  string // sockets
	approval string
	state    string // folders
	logs     string
}

// systemPlaces are those of the machine's broker.
func systemPlaces() places {
	return places{
		config:   policy.MainFile,
		request:  "/run/snens-priv/request.sock",
		approval: "/run/snens-priv/approval.sock",
		state:    "/var/lib/snens-priv",
		logs:     "/var/log/snens-priv",
	}
}

// userPlaces are those of a broker that one user runs for himself. Variables
// that hold no absolute path count as unset, as the XDG specification has it.
func userPlaces(getenv func(string) string) (places, error) {
	home := getenv("HOME")
	var missing string
	in := func(variable, fallback string) string {
		if dir := getenv(variable); filepath.IsAbs(dir) {
			return filepath.Clean(dir)
		}
		if !filepath.IsAbs(home) {
			missing = variable
		}
		return filepath.Join(home, fallback)
	}
	state := filepath.Join(in("XDG_STATE_HOME", ".local/state"), "snens-priv")
	run := filepath.Join(state, "run")
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		run = filepath.Join(dir, "snens-priv")
	}
	p := places{
		config:   filepath.Join(in("XDG_CONFIG_HOME", ".config"), "snens", "priv.toml"),
		request:  filepath.Join(run, "request.sock"),
		approval: filepath.Join(run, "approval.sock"),
		state:    state,
		logs:     filepath.Join(state, "log"),
	}
	if missing != "" {
		return places{}, usagef("cannot tell where the files of --user are: neither HOME nor %s is an absolute path", missing)
	}
	return p, nil
}

// placesOf are the usual places of a kind of broker.
func (a *app) placesOf(user bool) (places, error) {
	if user {
		return userPlaces(a.getenv)
	}
	return systemPlaces(), nil
}

// dropIns is the folder beside a policy file that holds more of it:
// /etc/snens/priv.d for /etc/snens/priv.toml.
func dropIns(config string) string { return strings.TrimSuffix(config, ".toml") + ".d" }

// policyOptions says how a policy is taken by the broker of this uid.
func (a *app) policyOptions(user bool) policy.Options {
	if !user {
		return policy.Options{}
	}
	return policy.Options{UserMode: true, Owner: policy.UID(a.uid)}
}
