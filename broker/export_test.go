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

// The allowance of records.
type Allowance = allowance

var NewAllowance = newAllowance

// The limits of the tests.
const (
	MaxKnown = maxKnown
	MaxWaits = maxWaits
)

var TakeOne = (*allowance).take
