package xsnens

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"snens/internal/strictjson"
)

// FilePlaceholder stands in an example for the path of a file argument.
const FilePlaceholder = "{file}"

// Example is a call and what it becomes.
type Example struct {
	In    json.RawMessage   `json:"in"`
	Argv  []string          `json:"argv"` // {file} for the path of a file
	Stdin *string           `json:"stdin,omitempty"`
	Env   map[string]string `json:"env,omitempty"`
	Files []string          `json:"files,omitempty"` // contents, in the order of their arguments
}

// Examples lists the author's examples. The secret fields in them are part of
// what models see: authors write stand-ins.
func (i *Interface) Examples() []Example { return i.examples }

func (l *loader) examples(v *strictjson.Value, path string) {
	if v.Kind != strictjson.Array {
		l.f.add(path, "must be a list of examples, not %s", describe(v, false))
		return
	}
	for n := range v.Items {
		r := l.object(&v.Items[n], strictjson.Index(path, n))
		if r == nil {
			continue
		}
		r.only("in", "argv", "stdin", "env", "files")
		ex := Example{Argv: r.strings("argv"), Files: r.strings("files")}
		in := r.v.Get("in")
		if in == nil || in.Kind != strictjson.Object {
			r.fault("in", "must be an object with the arguments of the call")
			continue
		}
		ex.In = in.JSON()
		if !r.has("argv") {
			r.fault("argv", "must list the arguments the call becomes")
		}
		if stdin := r.v.Get("stdin"); stdin != nil {
			if stdin.Kind != strictjson.String {
				r.fault("stdin", "must be a string, not %s", describe(stdin, false))
			}
			ex.Stdin = &stdin.Text
		}
		if env := r.v.Get("env"); env != nil {
			ex.Env = r.variables(env)
		}
		l.out.examples = append(l.out.examples, ex)
	}
}

// strings reads a list of strings; empty, never nil, where the key stands.
func (r *reader) strings(key string) []string {
	v := r.v.Get(key)
	if v == nil {
		return nil
	}
	if v.Kind != strictjson.Array {
		r.fault(key, "must be a list of strings, not %s", describe(v, false))
	}
	out := []string{}
	for i := range v.Items {
		if v.Items[i].Kind != strictjson.String {
			r.l.f.add(strictjson.Index(r.at(key), i), "must be a string, not %s", describe(&v.Items[i], false))
		}
		out = append(out, v.Items[i].Text)
	}
	return out
}

func (r *reader) variables(env *strictjson.Value) map[string]string {
	out := make(map[string]string)
	if e := r.l.object(env, r.at("env")); e != nil {
		for _, m := range env.Members {
			if m.Value.Kind != strictjson.String {
				e.fault(m.Name, "must be a string, not %s", describe(&m.Value, false))
			}
			out[m.Name] = m.Value.Text
		}
	}
	return out
}

// CheckExamples builds every example and compares; it starts nothing. Each
// error is one example that does not become what its author wrote.
func (i *Interface) CheckExamples() []error {
	var out []error
	for n, ex := range i.examples {
		if err := i.checkExample(ex); err != nil {
			out = append(out, fmt.Errorf("x-snens.examples[%d]: %w", n, err))
		}
	}
	return out
}

func (i *Interface) checkExample(ex Example) error {
	inv, err := i.Build(ex.In)
	if err != nil {
		return fmt.Errorf("in is refused: %s", strings.ReplaceAll(err.Error(), "\n", " | "))
	}
	for _, secret := range inv.Secrets {
		for _, arg := range ex.Argv {
			if strings.Contains(arg, string(secret)) {
				return errors.New("argv holds the value of a secret field; write another stand-in into \"in\"")
			}
		}
	}
	return ex.differs(inv)
}

// differs says in what the invocation is not what the example promises.
func (ex Example) differs(inv *Invocation) error {
	argv, files := inv.shown()
	if !slices.Equal(argv, ex.Argv) {
		return fmt.Errorf("argv is %s, not %s", asJSON(argv), asJSON(ex.Argv))
	}
	if !slices.Equal(files, ex.Files) && (len(files) > 0 && ex.Files != nil || len(ex.Files) > 0) {
		return fmt.Errorf("files are %s, not %s", asJSON(files), asJSON(ex.Files))
	}
	switch {
	case ex.Stdin == nil && inv.HasStdin:
		return fmt.Errorf("the tool gets stdin, but the example names none; write \"stdin\": %s", asJSON(string(inv.Stdin)))
	case ex.Stdin != nil && !inv.HasStdin:
		return errors.New("the tool gets no stdin, but the example names one; leave stdin out")
	case ex.Stdin != nil && !bytes.Equal(inv.Stdin, []byte(*ex.Stdin)):
		return fmt.Errorf("stdin is %s, not %s", asJSON(string(inv.Stdin)), asJSON(*ex.Stdin))
	}
	if ex.Env == nil {
		return nil
	}
	env := make(map[string]string)
	for _, v := range inv.Env {
		env[v.Name] = v.Value
	}
	if asJSON(env) != asJSON(ex.Env) {
		return fmt.Errorf("env is %s, not %s", asJSON(env), asJSON(ex.Env))
	}
	return nil
}

// shown is argv as examples write it, and the contents of the files.
func (inv *Invocation) shown() (argv, files []string) {
	argv = []string{}
	for _, a := range inv.Args {
		if a.File != nil {
			files = append(files, string(a.File.Content))
			a.Text += FilePlaceholder
		}
		argv = append(argv, a.Text)
	}
	return argv, files
}

// asJSON is v for an error: one line, without HTML escapes, shortened.
func asJSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	const most = 2000
	s := strings.TrimSuffix(b.String(), "\n")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
