package broker

import (
	"snens/broker/prepare"
	"snens/internal/fields"
)

// ReadRun reads the parameters of run.
func ReadRun(o *fields.Reader) (ask prepare.Ask, fds int, err error) {
	p, err := readRun(o)
	return p.ask, p.fds, err
}

// The counter of refusals and the allowance of records.
type (
	Counter   = counter
	Allowance = allowance
)

var (
	NewCounter   = newCounter
	NewAllowance = newAllowance
)

// The limits of the tests.
const (
	MaxReady = maxReady
	MaxKnown = maxKnown
	MaxWaits = maxWaits
)

var (
	AddRefusal   = (*counter).add
	CloseCounter = (*counter).close
	TakeOne      = (*allowance).take
)
