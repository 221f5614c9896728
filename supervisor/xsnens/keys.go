package xsnens

import (
	"strings"

	"snens/internal/strictjson"
)

// stdinMode is the mode of "stdin".
type stdinMode int

const (
	stdinNone stdinMode = iota
	stdinField
	stdinJSON
)

// stdinPlan says what the tool reads.
type stdinPlan struct {
	mode   stdinMode
	fields []*property // one for stdinField
}

// envPlan is a field that becomes an environment variable.
type envPlan struct {
	field    *property
	variable string
}

// xsnens reads the whole key.
func (l *loader) xsnens(v *strictjson.Value) {
	r := l.object(v, keyXSnens)
	if r == nil {
		return
	}
	r.only("version", "argv", "stdin", "env", "output", "exit", "limits", "hints", "examples")
	if ver := r.v.Get("version"); ver != nil {
		if plain, ok := plainText(ver); !ok || ver.Kind != strictjson.Number || plain != "1" {
			r.fault("version", "must be 1, the only version there is, not %s", describe(ver, false))
		}
	}
	if argv := r.v.Get("argv"); argv != nil {
		l.out.argv = l.items(argv, r.at("argv"))
		l.afterEnd(l.out.argv)
	}
	if r.has("stdin") {
		l.stdin(r.v.Get("stdin"), r.at("stdin"))
	}
	if r.has("env") {
		l.env(r.v.Get("env"), r.at("env"))
	}
	if word, ok := r.word("output", string(OutputText), string(OutputJSON), string(OutputBinary)); ok {
		l.out.output = Output(word)
	}
	if r.has("exit") {
		l.exit(r.v.Get("exit"), r.at("exit"))
	}
	if r.has("limits") {
		l.limits(r.v.Get("limits"), r.at("limits"))
	}
	if r.has("hints") {
		l.hints(r.v.Get("hints"), r.at("hints"))
	}
	if r.has("examples") {
		l.examples(r.v.Get("examples"), r.at("examples"))
	}
}

// afterEnd warns of flags that a tool will take for a positional.
func (l *loader) afterEnd(items []item) {
	ended := false
	var walk func([]item)
	walk = func(items []item) {
		for _, it := range items {
			flag := ""
			switch a := it.act.(type) {
			case endOfOptions:
				ended = true
			case group:
				walk(a.items)
			case bareFlag:
				flag = a.flag
			case counted:
				flag = a.flag
			case valueItem:
				flag = a.flag
			}
			if ended && flag != "" {
				l.warnings = append(l.warnings, "x-snens.argv: the flag "+quote(flag)+
					" stands after end_of_options, where tools take it for a positional")
			}
		}
	}
	walk(items)
}

func (l *loader) stdin(v *strictjson.Value, path string) {
	r := l.object(v, path)
	if r == nil {
		return
	}
	if !r.has("mode") {
		r.l.f.add(path, "needs a mode: none, field or json")
		return
	}
	mode, _ := r.word("mode", "none", "field", "json")
	switch mode {
	case "none":
		r.only("mode")
	case "field":
		r.only("mode", "field")
		l.out.stdin.mode = stdinField
		if p := r.field("field"); p != nil {
			l.out.stdin.fields = []*property{p}
			r.scalarOnly("field", p, `use the mode "json"`)
		}
	case "json":
		r.only("mode", "fields")
		l.out.stdin.mode = stdinJSON
		l.stdinFields(r)
	}
}

func (l *loader) stdinFields(r *reader) {
	fields := r.v.Get("fields")
	if fields == nil || fields.Kind != strictjson.Array {
		r.fault("fields", "must be a list of names of properties")
		return
	}
	for i := range fields.Items {
		at := strictjson.Index(r.at("fields"), i)
		p := l.field(&fields.Items[i], at)
		if p == nil {
			continue
		}
		for _, before := range l.out.stdin.fields {
			if before == p {
				l.f.add(at, "%s is in the list already", quote(p.name))
			}
		}
		l.out.stdin.fields = append(l.out.stdin.fields, p)
	}
}

// scalarOnly reports a field that is not always a string or a number.
func (r *reader) scalarOnly(key string, p *property, fix string) {
	for _, t := range p.schema.usedTypes() {
		if t == "boolean" || t == "array" || t == "object" {
			r.fault(key, "%s can be %s, but only a string or a number can stand here; %s", quote(p.name), typeWords([]string{t}), fix)
		}
	}
}

func (l *loader) env(v *strictjson.Value, path string) {
	r := l.object(v, path)
	if r == nil {
		return
	}
	taken := make(map[string]bool)
	for i := range v.Members {
		m := &v.Members[i]
		at := r.at(m.Name)
		name := strictjson.StringValue(m.Name)
		p := l.field(&name, at)
		variable, ok := l.argument(&m.Value, at)
		if !ok || p == nil {
			continue
		}
		switch {
		case !isVariable(variable):
			l.f.add(at, "%s is no name of a variable: letters, digits and _, no digit first", quote(variable))
		case refusedVariable(variable):
			l.f.add(at, "%s may not be set from a field: it decides which code runs, or is ours", quote(variable))
		case taken[variable]:
			l.f.add(at, "%s is set by another field already", quote(variable))
		}
		taken[variable] = true
		r.scalarOnly(m.Name, p, "send the value by stdin or as an argument")
		l.out.env = append(l.out.env, envPlan{p, variable})
	}
}

func isVariable(s string) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', i > 0 && c >= '0' && c <= '9':
		default:
			return false
		}
	}
	return s != ""
}

// refusedVariable holds what would let a model choose code: the loader's
// variables, those of shells and interpreters, and the supervisor's own.
func refusedVariable(s string) bool {
	for _, prefix := range []string{"SNENS_", "LD_", "BASH_FUNC_", "GIT_CONFIG", "PYTHON", "PERL5", "RUBY", "NODE_", "JAVA_TOOL_"} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	switch s {
	case "PATH", "HOME", "SHELL", "IFS", "ENV", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "CDPATH",
		"GCONV_PATH", "GLIBC_TUNABLES", "LOCPATH", "NLSPATH", "PAGER", "EDITOR", "VISUAL", "GIT_SSH", "GIT_SSH_COMMAND",
		"GIT_EXEC_PATH", "GIT_PAGER", "GIT_EDITOR", "GIT_EXTERNAL_DIFF", "LESSOPEN", "LESSCLOSE", "MANPAGER", "TMPDIR":
		return true
	}
	return false
}
