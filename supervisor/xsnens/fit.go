package xsnens

import (
	"fmt"
	"maps"
	"slices"
)

// fit checks the sizes the kernel would refuse with nothing but E2BIG.
func (inv *Invocation) fit(room int) error {
	var p problems
	sum := 0
	byField := make(map[string]int)
	for _, a := range inv.Args {
		n := cost(a.Text)
		if a.File != nil {
			n += FilePathReserve
		}
		if len(a.Text) > MaxArg {
			p.add(a.Field, fmt.Sprintf("makes an argument of %d bytes; one argument has at most %d", len(a.Text), MaxArg), sizeFix)
		}
		sum += n
		byField[a.Field] += n
	}
	for _, v := range inv.Env {
		n := cost(v.Name) + 1 + len(v.Value)
		sum += n
		byField[v.Field] += n
	}
	if sum > room && len(p.list) == 0 {
		delete(byField, "") // the author's own text
		largest := ""
		for _, field := range slices.Sorted(maps.Keys(byField)) {
			if largest == "" || byField[field] > byField[largest] {
				largest = field
			}
		}
		p.add(largest, fmt.Sprintf("takes %d of the %d bytes of all arguments; they have room for %d", byField[largest], sum, room), sizeFix)
	}
	return p.err()
}

// sizeFix is for two readers: the model and the tool's author.
const sizeFix = `send less, or let the tool take it by stdin or "as": "file"`
