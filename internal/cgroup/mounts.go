package cgroup

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// mount is one mounted cgroup hierarchy.
type mount struct {
	v2          bool
	controllers []string // v1 only
	root        string   // the group that is mounted, "/" for all of it
	point       string
}

// membership is a process's path in each hierarchy: "" for v2, else by v1
// controller.
type membership map[string]string

// parseMounts reads /proc/PID/mountinfo; lines of another form are passed over.
func parseMounts(text string) []mount {
	var list []mount
	for line := range strings.Lines(text) {
		head, tail, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
		f, kind := strings.Fields(head), strings.Fields(tail)
		if !ok || len(f) < 6 || len(kind) < 1 {
			continue
		}
		m := mount{root: unescape(f[3]), point: unescape(f[4])}
		switch kind[0] {
		case "cgroup2":
			m.v2 = true
		case "cgroup":
			if len(kind) < 3 {
				continue
			}
			m.controllers = strings.Split(kind[2], ",")
		default:
			continue
		}
		if strings.HasPrefix(m.root, "/") && strings.HasPrefix(m.point, "/") {
			list = append(list, m)
		}
	}
	return list
}

// unescape undoes the octal escapes of mountinfo (space, tab, newline, \).
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) && octal(s[i+1:i+4]) {
			b.WriteByte((s[i+1]-'0')<<6 | (s[i+2]-'0')<<3 | (s[i+3] - '0'))
			i += 3
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func octal(s string) bool {
	return s[0] >= '0' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' && s[2] >= '0' && s[2] <= '7'
}

// parseMembership reads /proc/PID/cgroup.
func parseMembership(text string) membership {
	m := membership{}
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) != 3 || !strings.HasPrefix(f[2], "/") {
			continue
		}
		for name := range strings.SplitSeq(f[1], ",") {
			m[name] = f[2]
		}
	}
	return m
}

// folder is where the group path lies below the mount.
func (m mount) folder(path string) (string, error) {
	if gone, ok := strings.CutSuffix(path, " (deleted)"); ok {
		return "", unavailable("the group of this process, %s, was removed", gone)
	}
	rel := path
	if m.root != "/" {
		var ok bool
		rel, ok = strings.CutPrefix(path, m.root)
		if !ok || (rel != "" && rel[0] != '/') {
			return "", unavailable("the group of this process, %s, is not below %s, the part that is mounted at %s", path, m.root, m.point)
		}
	}
	if slices.Contains(strings.Split(rel, "/"), "..") {
		return "", unavailable("the group of this process, %s, lies outside its cgroup namespace", path)
	}
	return filepath.Join(m.point, rel), nil
}

// beneath checks that path is absolute, clean and below the mount point.
func (m mount) beneath(path string) (rel string, err error) {
	if filepath.Clean(path) != path || !filepath.IsAbs(path) {
		return "", fmt.Errorf("cannot open the group %q: the path is not absolute and clean", path)
	}
	point := strings.TrimSuffix(m.point, "/") + "/"
	rel, ok := strings.CutPrefix(path, point)
	if !ok {
		return "", fmt.Errorf("cannot open the group %q: it is not below the cgroup2 mount %s", path, m.point)
	}
	return rel, nil
}
