package main

import (
	"errors"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/broker/client"
)

// commandOf turns the words into what is asked for; dash is how many stand
// before "--", -1 without one.
func commandOf(args []string, dash int) (w client.Command, err error) {
	switch {
	case dash == 0 && len(args) == 0:
		return w, badRequest("cannot ask for nothing: no command stands behind --").withHint("snens priv -- COMMAND [ARG ...]")
	case dash == 0:
		return client.Command{Argv: args}, nil
	case len(args) == 0:
		return w, badRequest("cannot ask for nothing: name a rule or a command").
			withHint("snens priv rules lists the rules; a command goes behind --: snens priv -- COMMAND [ARG ...]")
	case dash > 0 && isTime(args[0]):
		return w, timeAlone(args[0])
	case dash > 0:
		return w, badRequest("cannot ask for a rule and a command at once: %q stands before --", args[0]).
			withHint("snens priv %s SLOT=VALUE ..., or: snens priv -- COMMAND [ARG ...]", args[0])
	}
	if w.Rule, err = action.ParseRuleID(args[0]); err != nil {
		return w, badRequest("cannot ask for %q: it is no rule's name", args[0]).
			withHint("a command goes behind --: snens priv -- %s", briefly(args))
	}
	w.Slots = map[string][]string{}
	for _, word := range args[1:] {
		slot, value, ok := strings.Cut(word, "=")
		if (!ok || slot == "") && isTime(args[0]) {
			return w, timeAlone(args[0])
		}
		if !ok || slot == "" {
			return w, badRequest("cannot use the word %q: the arguments of a rule are written SLOT=VALUE", word).
				withHint("snens priv rules shows the slots; a command goes behind --: snens priv -- %s", briefly(args))
		}
		w.Slots[slot] = append(w.Slots[slot], value)
	}
	return w, nil
}

// isTime says that a word is probably the time of --wait, which takes none
// without a "=".
func isTime(word string) bool {
	_, err := time.ParseDuration(word)
	return err == nil
}

func timeAlone(word string) error {
	return badRequest("cannot ask for a rule %q: that is a time", word).withHint("how long to wait is written with a =: --wait=%s", word)
}

// ownFolder is the folder we are in, without symlinks; "" when it is gone.
func ownFolder() string {
	var buf [unix.PathMax]byte
	n, err := unix.Getcwd(buf[:])
	if err != nil || n < 2 || buf[0] != '/' {
		return "" // "(unreachable)" where it is outside of our root
	}
	return string(buf[:n-1])
}

// variables are those that --env names, as NAME=value.
func (a *app) variables(names []string) (vars []string, err error) {
	for _, name := range names {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return nil, badRequest("cannot pass the variable %q: that is no name", name).withHint("--env takes the name alone; the value is the one that is set")
		}
		value, there := "", false
		for _, kv := range a.env {
			if k, v, ok := strings.Cut(kv, "="); ok && k == name {
				value, there = v, true
				break
			}
		}
		if !there {
			return nil, badRequest("cannot pass the variable %s: it is not set", name).withHint("set and export it, or leave --env %s out", name)
		}
		vars = append(vars, name+"="+value)
	}
	return vars, nil
}

// briefly is what was asked for, on one line and not too long for a message.
func briefly(args []string) string {
	const most = 100
	text := strings.ReplaceAll(strings.Join(args, " "), "\n", " ")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return text
}

func badRequest(format string, args ...any) *failure {
	return failf(action.ExitBadRequest, format, args...)
}

// waitTime is the value of --wait: a time, or what the rule says.
type waitTime time.Duration

const waitForRule = "rule"

func (w *waitTime) Set(s string) error {
	if s == waitForRule {
		*w = 0
		return nil
	}
	var d duration
	if err := d.Set(s); err != nil {
		return err
	}
	t := time.Duration(d).Truncate(time.Millisecond)
	if t <= 0 || t > action.MaxDuration {
		return errors.New("it must be from 1ms to 720h")
	}
	*w = waitTime(t)
	return nil
}

func (w *waitTime) String() string { return (*duration)(w).String() }
func (w *waitTime) Type() string   { return "DUR" }
