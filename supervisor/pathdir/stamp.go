package pathdir

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Stamp is a state of the tools folders and of the system's: it changes when a
// tool or a command comes or goes. That a program inside a tool's folder is
// mended or broken does not show.
type Stamp struct {
	text string
	// young: a folder changed so short a time ago that another change could
	// bear the same time. Such a stamp is never Current.
	young bool
}

// clockStep is more than the grain of the file systems' clocks.
const clockStep = 50 * time.Millisecond

// Take looks at the folders now.
func Take(o Options) Stamp {
	var b strings.Builder
	now := time.Now()
	s := Stamp{}
	fmt.Fprintf(&b, "1 %q %q\n", o.Self, o.SystemPath)
	add := func(kind, dir string) {
		var st unix.Stat_t
		if err := unix.Stat(dir, &st); err != nil {
			fmt.Fprintf(&b, "%s %q %v\n", kind, dir, err)
			return
		}
		age := now.Sub(time.Unix(0, st.Mtim.Nano()))
		s.young = s.young || age.Abs() < clockStep
		fmt.Fprintf(&b, "%s %q %d %d %d %d\n", kind, dir, uint64(st.Dev), st.Ino, uint64(st.Nlink), st.Mtim.Nano())
	}
	for _, dir := range o.ToolsDirs {
		add("tools", dir)
	}
	for _, dir := range o.systemDirs() {
		add("system", dir)
	}
	s.text = b.String()
	return s
}
