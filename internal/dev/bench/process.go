package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// snens is a run of the built program with a home of its own.
func (b *bench) snens(home string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(b.bin, "snens"), args...)
	cmd.Env, cmd.Dir, cmd.Stderr = b.env(home), "/", os.Stderr
	return cmd
}

// wholeCall is the whole program against the one that administrators know.
func (b *bench) wholeCall() (row, error) {
	path, err := trueProgram()
	if err != nil {
		return row{}, err
	}
	sudo, err := exec.LookPath("sudo")
	if err != nil {
		return row{}, &missingError{"sudo"}
	}
	if exec.Command(sudo, "-n", path).Run() != nil {
		return row{}, &missingError{"the right to run sudo -n true"}
	}
	home, err := b.home("call")
	if err != nil {
		return row{}, err
	}
	tools, err := b.linkTool("one", "true", path)
	if err != nil {
		return row{}, err
	}
	p, err := turns(500/b.div,
		func() error { return b.snens(home, "--tools-dir", tools, "call", "true").Run() },
		func() error { return exec.Command(sudo, "-n", "true").Run() })
	return row{a: "snens call true", b: "sudo -n true", times: p, aim: 1}, err
}

// thousand is how many tools the lines about many tools have.
const thousand = 1000

// startCached is the start of a program that lists its tools.
func (b *bench) startCached() (row, error) {
	home, many, none, err := b.manyTools()
	if err != nil {
		return row{}, err
	}
	p, err := turns(100/b.div, b.list(home, many), b.list(home, none))
	return row{a: "snens tools --json, 1000 tools", b: "the same, no tool", times: p, aimMore: 20 * time.Millisecond}, err
}

// list is a run that reads every tool which is not remembered.
func (b *bench) list(home, tools string) func() error {
	return func() error { return b.snens(home, "--tools-dir", tools, "tools", "--json").Run() }
}

// callCached is what a call pays for the tools beside the one it wants.
func (b *bench) callCached() (row, error) {
	home, many, _, err := b.manyTools()
	if err != nil {
		return row{}, err
	}
	single, err := b.home("single")
	if err != nil {
		return row{}, err
	}
	few, err := b.scriptTools("single-tool", 1)
	if err != nil {
		return row{}, err
	}
	if err := errors.Join(b.list(home, many)(), b.list(single, few)()); err != nil {
		return row{}, err
	}
	one := func(home, tools string) func() error {
		return func() error { return b.snens(home, "--tools-dir", tools, "call", "tool-0000", "x").Run() }
	}
	p, err := turns(200/b.div, one(home, many), one(single, few))
	return row{a: "snens call tool-0000, 1000 tools", b: "the same, one tool", times: p}, err
}

// discovery reads tools that were never seen before; the bare side runs each
// once and keeps what it prints.
func (b *bench) discovery() (row, error) {
	home, many, _, err := b.manyTools()
	if err != nil {
		return row{}, err
	}
	workers := runtime.GOMAXPROCS(0)
	p, err := turns(max(1, 7/b.div),
		func() error { return b.snens(home, "--tools-dir", many, "tools", "--json", "--refresh").Run() },
		func() error { return bareHelp(many, workers) })
	return row{
		a: "snens tools --refresh", b: fmt.Sprintf("os/exec of each --help, %d at once", workers),
		times: p, aim: 1.3,
	}, err
}

func bareHelp(tools string, workers int) error {
	var work sync.WaitGroup
	errs := make([]error, workers)
	for w := range workers {
		work.Go(func() {
			for i := w; i < thousand; i += workers {
				name := toolName(i)
				out, err := exec.Command(filepath.Join(tools, name, name), "--help").Output()
				if err == nil && len(out) == 0 {
					err = errors.New("no help was printed")
				}
				errs[w] = errors.Join(errs[w], err)
			}
		})
	}
	work.Wait()
	return errors.Join(errs...)
}
