package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"snens/supervisor/config"
)

const (
	floodSize = 4 << 30
	floodRSS  = 64 << 10 // KiB
)

// flood captures a stream that fits neither memory nor the spill file. The bare
// side is cat as well, into a pipe whose reader throws everything away.
func (b *bench) flood() (row, error) {
	home, err := b.home("flood")
	if err != nil {
		return row{}, err
	}
	cat, err := exec.LookPath("cat")
	if err != nil {
		return row{}, &missingError{"the program cat"}
	}
	tools, err := b.linkTool("flood", "cat", cat)
	if err != nil {
		return row{}, err
	}
	hole := filepath.Join(b.dir, "4GiB") // takes no room on the disk
	if err := errors.Join(os.WriteFile(hole, nil, 0o600), os.Truncate(hole, floodSize)); err != nil {
		return row{}, err
	}
	cfg, err := config.Load("", b.env(home))
	if err != nil {
		return row{}, err
	}
	var rss, disk int64
	p, err := turns(max(1, 5/b.div),
		func() error {
			cmd := b.snens(home, "--tools-dir", tools, "--json", "call", "--timeout", "10m", "cat", hole)
			if err := cmd.Run(); err != nil {
				return err
			}
			rss = max(rss, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
			spill := filepath.Join(home, ".local/state/snens/spill")
			used, err := diskUsage(spill)
			disk = max(disk, used)
			return errors.Join(err, os.RemoveAll(spill))
		},
		func() error { return bareFlood(cat, hole) })
	return row{
		a: "snens call --json cat", b: "cat into a null reader", times: p, aim: 2,
		notes: []note{
			{fmt.Sprintf("resident %d MiB (below 64)", rss>>10), rss < floodRSS},
			{fmt.Sprintf("on disk %d MiB (at most %d)", disk>>20, cfg.SpillMax>>20), disk > 0 && disk <= cfg.SpillMax},
		},
	}, err
}

func bareFlood(cat, file string) error {
	cmd := exec.Command(cat, file)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	buf := make([]byte, 64<<10)
	total := 0
	for err == nil {
		var n int
		n, err = out.Read(buf)
		total += n
	}
	if err != io.EOF {
		return errors.Join(err, cmd.Wait())
	}
	if total != floodSize {
		err = fmt.Errorf("%d bytes came instead of %d", total, floodSize)
	} else {
		err = nil
	}
	return errors.Join(err, cmd.Wait())
}
