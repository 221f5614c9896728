package main

import (
	"slices"
	"strings"

	"snens/cmd/snens-tools/internal/cli"
	"snens/cmd/snens-tools/internal/sysinfo"
)

const sysinfoHelp = `sysinfo — the machine in a few lines: system, uptime, load, memory, disks, failed units.
sysinfo [<section>...]

Sections: os, uptime, load, memory, disks, units; all when none is named.

Disks are file systems on devices; those in memory are listed only when they
are nearly full, network and FUSE file systems are named but not asked. Failed
units are asked of systemd where it runs the machine.

Exit status: 0 printed (a section that is not known says why), 2 bad arguments.
`

func parseSysinfo(args []string) ([]string, error) {
	set := cli.NewSet(sysinfoHelp)
	names, err := set.Parse(args)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !slices.Contains(sysinfo.Names(), name) {
			return nil, cli.Usage("sections: "+strings.Join(sysinfo.Names(), ", "), "no section is called %q", name)
		}
	}
	return names, nil
}

func runSysinfo(args []string, std cli.IO) error {
	names, err := parseSysinfo(args)
	if err != nil {
		return err
	}
	return sysinfo.Machine().Print(std.Out, names)
}
