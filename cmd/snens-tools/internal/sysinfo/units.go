package sysinfo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"snens/cmd/snens-tools/internal/visible"
)

// maxUnits is how many failed units are listed.
const maxUnits = 30

func (s Source) units(w io.Writer) error {
	// The folder exists exactly when systemd is the init of the machine; see sd_booted(3).
	if _, err := os.Stat(filepath.Join("/", s.Root, "run/systemd/system")); err != nil {
		fmt.Fprintln(w, "units: systemd does not run this machine")
		return nil
	}
	failed, err := s.FailedUnits()
	if err != nil {
		return err
	}
	if len(failed) == 0 {
		fmt.Fprintln(w, "units: none failed")
		return nil
	}
	fmt.Fprintf(w, "units: %d failed:\n", len(failed))
	for i, unit := range failed {
		if i == maxUnits {
			fmt.Fprintf(w, "  ... %s; systemctl --failed shows them\n", visible.Count(len(failed)-i, "more unit"))
			break
		}
		fmt.Fprintln(w, "  "+visible.Line(unit))
	}
	return nil
}

// failedUnits asks systemctl.
func failedUnits() ([]string, error) {
	// systemd that does not answer must not hold up the rest.
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "systemctl", "list-units", "--failed", "--all", "--plain", "--no-legend", "--no-pager", "--full")
	cmd.Env = append(os.Environ(), "LC_ALL=C", "SYSTEMD_COLORS=0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return nil, errors.New("systemctl did not answer within 5 s")
		}
		return nil, fmt.Errorf("systemctl failed: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return parseUnits(string(out)), nil
}

// parseUnits turns lines "NAME load active sub DESCRIPTION" into "NAME: DESCRIPTION".
func parseUnits(out string) []string {
	var units []string
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) < 4 {
			continue
		}
		unit := fields[0]
		if len(fields) > 4 {
			unit += ": " + strings.Join(fields[4:], " ")
		}
		units = append(units, unit)
	}
	return units
}
