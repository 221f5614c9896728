package prepare

import (
	"context"
	"os"

	"snens/broker/policy"
)

// As is as.
func (m *Maker) As(ctx context.Context, who policy.Subject, f func() (*os.File, error)) (*os.File, error) {
	return m.as(ctx, who, f)
}

// What as answers when it has no answer of the file system's.
var (
	ErrBusy = errBusy
	ErrSlow = errSlow
)

// OpenPerUID is how many opens of one uid there may be.
const OpenPerUID = openPerUID
