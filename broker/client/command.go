package client

import (
	"maps"
	"slices"

	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/strictjson"
)

// Command is what is asked for: a rule with the words of its slots, or an
// argument vector for which the broker looks for a rule. One of Rule and Argv is
// set.
type Command struct {
	Rule  action.RuleID
	Slots map[string][]string
	Argv  []string
}

func (w Command) params() ([]strictjson.Member, error) {
	switch {
	case w.Rule != "" && len(w.Argv) > 0:
		return nil, refuse(action.ReasonBadRequest, nil, "cannot ask for a rule and a command at once")
	case w.Rule == "" && len(w.Argv) == 0:
		return nil, refuse(action.ReasonBadRequest, nil, "cannot ask for nothing: name a rule or a command")
	case w.Rule == "" && len(w.Slots) > 0:
		return nil, refuse(action.ReasonBadRequest, nil, "cannot fill slots without a rule")
	case w.Rule == "":
		return []strictjson.Member{fields.Member("argv", fields.List(w.Argv, fields.Text))}, nil
	}
	slots := fields.Object()
	for _, name := range slices.Sorted(maps.Keys(w.Slots)) {
		slots.Members = append(slots.Members, fields.Member(name, fields.List(w.Slots[name], fields.Text)))
	}
	return []strictjson.Member{fields.Member("rule", fields.Text(string(w.Rule))), fields.Member("slots", slots)}, nil
}
