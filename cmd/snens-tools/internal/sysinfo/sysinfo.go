// Package sysinfo describes the machine in a few lines: system, uptime, load,
// memory, disks, and the units that systemd reports as failed.
//
// Everything is read from /proc and /etc below Source.Root, so that tests give
// it a folder of their own; the questions that are no files are functions of
// the Source. A section that cannot be read says why and does not stop the
// others. It measures nothing over time.
package sysinfo

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"snens/cmd/snens-tools/internal/visible"
)

// Source is where facts come from.
type Source struct {
	Root   string // prefix of /proc, /etc and /run; "" on a real machine
	Cores  int
	Statfs func(path string) (Usage, error)
	// FailedUnits lists the failed units, one line each. It is asked only when
	// systemd runs the machine.
	FailedUnits func() ([]string, error)
}

// Machine is the source of the machine this runs on.
func Machine() Source {
	return Source{Cores: runtime.NumCPU(), Statfs: statfs, FailedUnits: failedUnits}
}

type section struct {
	name  string
	print func(Source, io.Writer) error
}

func sections() []section {
	return []section{
		{"os", Source.os},
		{"uptime", Source.uptime},
		{"load", Source.load},
		{"memory", Source.memory},
		{"disks", Source.disks},
		{"units", Source.units},
	}
}

// Names lists the sections in the order in which they are printed.
func Names() []string {
	var names []string
	for _, s := range sections() {
		names = append(names, s.name)
	}
	return names
}

// Print writes the named sections, all when none is named, in their own order.
// Unknown names are ignored: check them against Names first.
func (s Source) Print(w io.Writer, names []string) error {
	out := bufio.NewWriter(w)
	for _, section := range sections() {
		if len(names) > 0 && !slices.Contains(names, section.name) {
			continue
		}
		if err := section.print(s, out); err != nil {
			fmt.Fprintf(out, "%s: not known: %s\n", section.name, visible.Line(err.Error()))
		}
	}
	return out.Flush()
}

func (s Source) read(path string) (string, error) {
	data, err := os.ReadFile(filepath.Join("/", s.Root, path))
	return string(data), err
}

func (s Source) os(w io.Writer) error {
	name := "Linux"
	if text, err := s.read("etc/os-release"); err == nil {
		if pretty := assignment(text, "PRETTY_NAME"); pretty != "" {
			name = pretty
		}
	}
	kernel, err := s.read("proc/sys/kernel/osrelease")
	if err != nil {
		return err
	}
	host, err := s.read("proc/sys/kernel/hostname")
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "os: %s, kernel %s, %s, host %s\n", visible.Line(name),
		visible.Line(strings.TrimSpace(kernel)), runtime.GOARCH, visible.Line(strings.TrimSpace(host)))
	return nil
}

// assignment finds NAME=value in an os-release file; the value may be quoted.
func assignment(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
			return strings.Trim(value, `"'`)
		}
	}
	return ""
}

func (s Source) uptime(w io.Writer) error {
	text, err := s.read("proc/uptime")
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(text, " ")
	seconds, err := strconv.ParseFloat(strings.TrimSpace(first), 64)
	if err != nil {
		return fmt.Errorf("/proc/uptime holds %q", text)
	}
	fmt.Fprintf(w, "uptime: %s\n", duration(time.Duration(seconds)*time.Second))
	return nil
}

// duration is a length of time for people: "3 days 4 h 5 min".
func duration(d time.Duration) string {
	days, hours, minutes := int(d.Hours())/24, int(d.Hours())%24, int(d.Minutes())%60
	if days > 0 {
		return fmt.Sprintf("%s %d h %d min", visible.Count(days, "day"), hours, minutes)
	}
	if hours > 0 {
		return fmt.Sprintf("%d h %d min", hours, minutes)
	}
	return fmt.Sprintf("%d min %d s", minutes, int(d.Seconds())%60)
}

func (s Source) load(w io.Writer) error {
	text, err := s.read("proc/loadavg")
	if err != nil {
		return err
	}
	fields := strings.Fields(text)
	if len(fields) < 4 {
		return fmt.Errorf("/proc/loadavg holds %q", text)
	}
	running, all, _ := strings.Cut(fields[3], "/")
	fmt.Fprintf(w, "load: %s %s %s (1, 5, 15 min) on %s; %s of %s threads runnable\n",
		fields[0], fields[1], fields[2], visible.Count(s.Cores, "core"), running, all)
	return nil
}

func (s Source) memory(w io.Writer) error {
	text, err := s.read("proc/meminfo")
	if err != nil {
		return err
	}
	kib := map[string]int64{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, ":")
		n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err == nil {
			kib[name] = n
		}
	}
	total, available := kib["MemTotal"], kib["MemAvailable"]
	if total == 0 {
		return fmt.Errorf("/proc/meminfo has no MemTotal")
	}
	fmt.Fprintf(w, "memory: %s available of %s (%d%%); ", visible.Size(available<<10), visible.Size(total<<10), available*100/total)
	if swap := kib["SwapTotal"]; swap > 0 {
		fmt.Fprintf(w, "swap: %s used of %s\n", visible.Size((swap-kib["SwapFree"])<<10), visible.Size(swap<<10))
	} else {
		fmt.Fprintln(w, "no swap")
	}
	return nil
}
