package supervisor

import (
	"context"
	"encoding/json"
	"errors"

	"snens/supervisor/discovery"
	"snens/supervisor/tool"
	"snens/supervisor/xsnens"
)

// Handle is a tool ready to be called.
type Handle struct {
	tool.Tool
	Interface *xsnens.Interface // nil = generic
}

// Definition is what a model sees of a tool.
type Definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description"` // essence, newline, usage
	Parameters  json.RawMessage `json:"parameters"`  // a JSON Schema of an object
}

// Definition returns what a model sees of the tool.
func (h *Handle) Definition() Definition {
	d := Definition{Name: string(h.Name), Description: h.Text()}
	if h.Interface != nil {
		d.Parameters = h.Interface.Parameters()
	} else {
		d.Parameters = xsnens.GenericParameters(h.NeedsStdin)
	}
	return d
}

// NotFoundError says that there is no tool of that name.
type NotFoundError struct {
	Name string
	Near []string // names that look like it, the nearest first
	err  error
}

func (e *NotFoundError) Error() string { return e.err.Error() }

// QuarantinedError says that the tool is there and cannot be used.
type QuarantinedError struct{ tool.Quarantined }

func (e *QuarantinedError) Error() string { return e.Path + ": " + e.Cause }

// Handle loads the interface of a tool that was listed.
func (s *Supervisor) Handle(t tool.Tool) (*Handle, error) {
	h := &Handle{Tool: t}
	if t.Schema == nil {
		return h, nil
	}
	var err error
	if h.Interface, err = xsnens.Load(t.Schema); err != nil {
		// Discovery has judged it already; the judgement of another version may
		// have been remembered.
		h.SchemaNote, h.Schema = err.Error(), nil
		if s.cfg.Tool(t.Name).RequireSchema {
			return nil, &QuarantinedError{tool.Quarantined{Name: string(t.Name), Path: t.Path, Cause: "its schema.json is required and broken: " + err.Error()}}
		}
	}
	return h, nil
}

// Tool finds one tool, looking at no other. The error is a *NotFoundError, a
// *QuarantinedError, or that of ctx.
func (s *Supervisor) Tool(ctx context.Context, name string) (*Handle, error) {
	defer s.scratch.clear()
	return s.handle(s.finder().One(ctx, name))
}

// Fresh is Tool without the cache: the tool is asked again.
func (s *Supervisor) Fresh(ctx context.Context, name string) (*Handle, error) {
	defer s.scratch.clear()
	return s.handle(s.finder().Fresh(ctx, name))
}

func (s *Supervisor) handle(f discovery.Found, err error) (*Handle, error) {
	var missing *discovery.NotFoundError
	switch {
	case errors.As(err, &missing):
		return nil, &NotFoundError{Name: missing.Name, Near: missing.Near, err: err}
	case err != nil:
		return nil, err
	case f.Quarantined != nil:
		return nil, &QuarantinedError{*f.Quarantined}
	}
	return s.Handle(*f.Tool)
}
