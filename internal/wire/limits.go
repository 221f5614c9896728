package wire

import "time"

// Version is the protocol's. A server speaks exactly one.
const Version = 1

// Limits on what one connection sends, both ways. A line counts with its
// newline.
const (
	MaxLineGreeting = 4 << 10   // bytes, before and with the hello
	MaxLine         = 256 << 10 // bytes, afterwards
	MaxDepth        = 32        // nested arrays and objects
	MaxTokens       = 10_000    // values and keys of a line
	MaxFDs          = 3         // descriptors of one step
	maxID           = 1<<53 - 1 // what every JSON library can count to
	maxCapabilities = 32
)

// Buffered bytes, for NewBudget.
const (
	BudgetPerUID = 1 << 20
	BudgetTotal  = 16 << 20
)

// Times holds how long a connection may take. Each runs from the start of what
// it bounds to its end and is not renewed by bytes on the way.
type Times struct {
	Hello time.Duration // from New to the end of the greeting
	Line  time.Duration // from the first byte of a line to its newline; the descriptor step as a whole
	Write time.Duration // one line
}

// DefaultTimes are generous to a person's machine under load.
func DefaultTimes() Times {
	return Times{Hello: 5 * time.Second, Line: 10 * time.Second, Write: 10 * time.Second}
}

func (t Times) orDefault() Times {
	d := DefaultTimes()
	for _, f := range []struct{ have, def *time.Duration }{
		{&t.Hello, &d.Hello}, {&t.Line, &d.Line}, {&t.Write, &d.Write},
	} {
		if *f.have <= 0 {
			*f.have = *f.def
		}
	}
	return t
}
