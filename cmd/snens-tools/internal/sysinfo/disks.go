package sysinfo

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"snens/cmd/snens-tools/internal/visible"
)

// Usage is how full a file system is.
type Usage struct {
	Total, Free   int64 // bytes; Free is what an ordinary user may still take
	Used          int64 // bytes
	Inodes, IFree int64 // 0 when the file system has no fixed number
}

// maxDisks is how many file systems are listed.
const maxDisks = 40

// nearlyFull is the share in percent from which a file system is remarked on,
// and from which one in memory is listed at all.
const nearlyFull = 90

type mount struct {
	device string // major:minor
	point  string
	fstype string
	source string
}

func (s Source) disks(w io.Writer) error {
	text, err := s.read("proc/self/mountinfo")
	if err != nil {
		return err
	}
	var lines []string
	unmeasured, failed := []string(nil), 0
	for _, m := range unique(parseMounts(text)) {
		if remote(m.fstype) {
			unmeasured = append(unmeasured, m.point+" ("+m.fstype+")")
			continue
		}
		u, err := s.Statfs(m.point)
		if err != nil {
			failed++
			continue
		}
		if line := m.line(u); line != "" {
			lines = append(lines, line)
		}
	}
	fmt.Fprintln(w, "disks:")
	for i, line := range lines {
		if i == maxDisks {
			fmt.Fprintf(w, "  ... %s; df shows them\n", visible.Count(len(lines)-i, "more file system"))
			break
		}
		fmt.Fprintln(w, "  "+line)
	}
	if len(lines) == 0 {
		fmt.Fprintln(w, "  none found")
	}
	if len(unmeasured) > 0 {
		// Asking a server that is gone would wait for it.
		shown := unmeasured[:min(len(unmeasured), maxDisks)]
		fmt.Fprintf(w, "  ... not measured, because they could hang: %s; df shows them\n", visible.Line(strings.Join(shown, ", ")))
	}
	if failed > 0 {
		fmt.Fprintf(w, "  ... %s could not be measured\n", visible.Count(failed, "file system"))
	}
	return nil
}

// line describes one file system, "" when it is of no interest.
func (m mount) line(u Usage) string {
	if u.Total <= 0 || m.fstype == "squashfs" || m.fstype == "iso9660" {
		return ""
	}
	full := percent(u.Used, u.Used+u.Free)
	if (m.fstype == "tmpfs" || m.fstype == "ramfs" || m.fstype == "devtmpfs") && full < nearlyFull {
		return ""
	}
	line := fmt.Sprintf("%s: %d%% used, %s free of %s, %s on %s", m.point, full,
		visible.Size(u.Free), visible.Size(u.Total), m.fstype, m.source)
	if full >= nearlyFull {
		line += "; NEARLY FULL"
	}
	if u.Inodes > 0 {
		if inodes := percent(u.Inodes-u.IFree, u.Inodes); inodes >= nearlyFull {
			line += fmt.Sprintf("; INODES %d%% USED", inodes)
		}
	}
	return visible.Line(line)
}

// percent rounds up, as df does: a full disk is never shown as 99%.
func percent(part, whole int64) int64 {
	if whole <= 0 {
		return 0
	}
	return int64((float64(part)*100 + float64(whole) - 1) / float64(whole))
}

// parseMounts reads /proc/self/mountinfo; see proc(5).
func parseMounts(text string) []mount {
	var mounts []mount
	for line := range strings.Lines(text) {
		before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 5 || len(right) < 2 {
			continue
		}
		mounts = append(mounts, mount{device: left[2], point: unescape(left[4]), fstype: right[0], source: unescape(right[1])})
	}
	return mounts
}

// unescape undoes the octal escapes of mountinfo: blank, tab, newline, backslash.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// unique keeps one mount of each file system, the one with the shortest path,
// in the order of the paths.
func unique(mounts []mount) []mount {
	slices.SortStableFunc(mounts, func(a, b mount) int {
		if len(a.point) != len(b.point) {
			return len(a.point) - len(b.point)
		}
		return strings.Compare(a.point, b.point)
	})
	seen := map[string]bool{}
	kept := slices.DeleteFunc(mounts, func(m mount) bool {
		dropped := seen[m.device]
		seen[m.device] = true
		return dropped
	})
	slices.SortFunc(kept, func(a, b mount) int { return strings.Compare(a.point, b.point) })
	return kept
}

// remote says whether asking about the file system may wait for somebody else.
func remote(fstype string) bool {
	switch fstype {
	case "nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "afs", "9p", "glusterfs", "lustre", "autofs", "fuse":
		return true
	}
	return strings.HasPrefix(fstype, "fuse.")
}

func statfs(path string) (Usage, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return Usage{}, err
	}
	size := int64(st.Bsize)
	return Usage{
		Total: int64(st.Blocks) * size, Free: int64(st.Bavail) * size, Used: int64(st.Blocks-st.Bfree) * size,
		Inodes: int64(st.Files), IFree: int64(st.Ffree),
	}, nil
}
