package broker

import (
	"context"
	"fmt"

	"snens/internal/fields"
	"snens/internal/wire"
)

// reloadFailed is the code of a reload that changed nothing.
const reloadFailed wire.Code = "reload_failed"

// maxFaults bounds what is told of a broken policy, in bytes as they are sent: a
// line must hold it.
const maxFaults = 128 << 10

// status is the method status.
func status(_ context.Context, c *conn, q wire.Request) error {
	if err := none(q); err != nil {
		return err
	}
	return c.reply(q.ID, c.s.o.Status())
}

// reload is the method reload.
func reload(_ context.Context, c *conn, q wire.Request) error {
	if err := none(q); err != nil {
		return err
	}
	generation, faults := c.s.o.Reload()
	if len(faults) == 0 {
		return c.reply(q.ID, fields.Object(fields.Member("generation", fields.Int(int64(generation)))))
	}
	e := wire.Errorf(reloadFailed, "the policy has faults, so the one before stays in force")
	detail := fields.Object(fields.Member("faults", fields.List(fitting(faults), fields.Text)))
	e.Detail = &detail
	return e
}

// fitting are as many faults as one answer holds.
func fitting(faults []string) []string {
	size := 0
	for i, f := range faults {
		line := fields.Text(f)
		if size += len(line.JSON()); size > maxFaults || i >= 1000 {
			return append(faults[:i:i], fmt.Sprintf("and %d more; snens-priv check lists them all", len(faults)-i))
		}
	}
	return faults
}
