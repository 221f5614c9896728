// Package units names systemd's units and tells how one is doing. Looking needs no
// rights; changing is for package privileged.
package units

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"snens/cmd/snens-tools/internal/visible"
)

// ErrNone says that there is no such unit.
var ErrNone = errors.New("there is no such unit")

// patience is how long systemd may take to answer.
const patience = 10 * time.Second

var suffixes = []string{
	"service", "socket", "timer", "target", "mount", "automount", "path", "slice", "scope", "swap", "device",
}

// name is what a unit's name may hold. It cannot begin with a dash, which
// systemctl would take for an option, and has no glob. It is compiled when it is
// needed: this program is started for every call of every tool.
var name = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.:@\\][A-Za-z0-9_.:@\\-]*$`) })

// FullName checks a unit's name and adds .service, as systemctl would, where no
// kind of unit is named: policies are about full names.
func FullName(s string) (string, error) {
	if !name().MatchString(s) || len(s) > 255 {
		return "", fmt.Errorf("must be the name of one unit such as nginx.service, not %q", s)
	}
	if i := strings.LastIndexByte(s, '.'); i < 0 || !slices.Contains(suffixes, s[i+1:]) {
		s += ".service"
	}
	return s, nil
}

// properties are what is shown, in this order.
var properties = []string{
	"Description", "LoadState", "ActiveState", "SubState", "Result", "UnitFileState", "StateChangeTimestamp",
	"MainPID", "ExecMainCode", "ExecMainStatus", "NRestarts", "MemoryCurrent", "NeedDaemonReload",
}

// Source is where units are looked at. Root is the file system's, "/" but in tests.
type Source struct{ Root string }

// Status writes how a unit is doing, as "Property: value" lines.
func (s Source) Status(ctx context.Context, w io.Writer, unit string) error {
	// The folder exists exactly when systemd is the init of the machine; see sd_booted(3).
	if _, err := os.Stat(filepath.Join(s.Root, "run/systemd/system")); err != nil {
		return errors.New("systemd does not run this machine")
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "systemctl", "show", "--no-pager", "--property="+strings.Join(properties, ","), "--", unit)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "SYSTEMD_COLORS=0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("systemctl did not answer within %s", patience)
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("systemctl is not installed")
	case err != nil:
		return fmt.Errorf("systemctl failed: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	values := map[string]string{}
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimRight(line, "\n"), "=")
		values[key] = value
	}
	if values["LoadState"] == "not-found" {
		return ErrNone
	}
	fmt.Fprintf(w, "Unit: %s\n", visible.Line(unit))
	for _, p := range properties {
		if v := values[p]; v != "" && v != "[not set]" {
			fmt.Fprintf(w, "%s: %s\n", p, visible.Line(v))
		}
	}
	return nil
}
