package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"snens/session"
	"snens/supervisor"
	"snens/supervisor/call"
	"snens/supervisor/config"
	"snens/supervisor/engine"
)

// trueProgram does nothing: all that is measured is what a call adds.
func trueProgram() (string, error) {
	path, err := exec.LookPath("true")
	if err != nil {
		return "", &missingError{"the program true"}
	}
	return path, nil
}

// engineCapture is a call as programs make it, its output in pipes of ours.
func (b *bench) engineCapture() (row, error) {
	return b.engineRow(engine.Capture, "os/exec, both outputs into buffers", func(path string) error {
		var out, errs bytes.Buffer
		cmd := exec.Command(path)
		cmd.Stdout, cmd.Stderr = &out, &errs
		return cmd.Run()
	})
}

// enginePass is a call that holds its caller's descriptors.
func (b *bench) enginePass() (row, error) {
	return b.engineRow(engine.Pass, "os/exec", func(path string) error { return exec.Command(path).Run() })
}

func (b *bench) engineRow(mode engine.Mode, against string, bare func(path string) error) (row, error) {
	path, err := trueProgram()
	if err != nil {
		return row{}, err
	}
	eng, err := engine.New(engine.Options{Probe: true})
	if err != nil {
		return row{}, err
	}
	if words, exact := eng.Supervision(); !exact {
		return row{}, &missingError{"a control group for each call (" + words + ")"}
	}
	supervised := func() error {
		return good(eng.Run(engine.Spec{
			Tool: "true", CallID: session.NewCallID(), Path: path, Argv: []string{"true"},
			Env: os.Environ(), Dir: "/", Mode: mode, Timeout: time.Minute, Grace: time.Second,
		}))
	}
	p, err := turns(500/b.div, supervised, func() error { return bare(path) })
	return row{a: "engine, own control group, true", b: against + ", true", times: p, aim: 1.3}, err
}

// supervisorCall adds what belongs to a tool's call: arguments, environment,
// and the call's trace on disk.
func (b *bench) supervisorCall() (row, error) {
	path, err := trueProgram()
	if err != nil {
		return row{}, err
	}
	home, err := b.home("supervisor")
	if err != nil {
		return row{}, err
	}
	tools, err := b.linkTool("one", "true", path)
	if err != nil {
		return row{}, err
	}
	env := b.env(home)
	cfg, err := config.Load("", env)
	if err != nil {
		return row{}, err
	}
	cfg.ToolsDir = []string{tools}
	sup, err := supervisor.New(supervisor.Options{Config: cfg, Version: "bench", Env: env, Exe: filepath.Join(b.bin, "snens")})
	if err != nil {
		return row{}, err
	}
	ctx := context.Background()
	handle, err := sup.Tool(ctx, "true")
	if err != nil {
		return row{}, err
	}
	supervised := func() error {
		return good(sup.Start(ctx, supervisor.Request{Handle: handle, Args: json.RawMessage(`{"args":[]}`)}).Wait())
	}
	p, err := turns(500/b.div, supervised, func() error { return exec.Command(path).Run() })
	return row{a: "supervisor, all of a call, true", b: "os/exec, true", times: p}, err
}

func good(r *call.Record) error {
	if !r.OK {
		return fmt.Errorf("the call failed: %s", r.Content)
	}
	return nil
}
