package snens_test

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layer says what a package may import besides the standard library. Words
// are separated by blanks; "a/..." is a and everything below it.
type layer struct {
	pkg    string
	ours   string // packages of this module
	theirs string // modules of others
	pure   bool   // no files, processes, network or clock
}

const (
	sys    = "golang.org/x/sys"
	hclog  = "github.com/hashicorp/go-hclog"
	ulid   = "github.com/oklog/ulid/v2"
	words  = "supervisor/call supervisor/tool" // the vocabulary
	leaves = "internal/cgroup internal/confine internal/escape internal/rlimit internal/safefile internal/spelling internal/strictjson internal/tomlread"
)

// layers is the map of the module: imports go downwards only. A new package
// needs a row, and the row is where its place is argued about.
var layers = []layer{
	{pkg: "."},
	{
		pkg: "cmd/snens", ours: "approval/client approval/prompt broker/action broker/client internal/accounts internal/fields supervisor/... session " + leaves,
		theirs: "github.com/spf13/cobra github.com/spf13/pflag golang.org/x/term " + sys + " " + hclog,
	},
	{
		pkg: "cmd/snens-tools/...", ours: "broker/action broker/client cmd/snens-tools/... supervisor/config " + leaves,
		theirs: sys + " github.com/rogpeppe/go-internal/diff",
	},
	{
		pkg: "cmd/snens-priv", ours: "broker/... approval/... " + leaves + " internal/accounts internal/audit internal/fields internal/peer internal/sockets internal/spawn internal/wire",
		theirs: sys + " " + hclog,
	},
	{
		pkg: "cmd/snens-audit", ours: "broker/action internal/accounts internal/audit internal/escape internal/strictjson",
		theirs: sys,
	},

	{pkg: "supervisor", ours: "supervisor/... session " + leaves, theirs: hclog + " " + sys},
	{
		pkg: "supervisor/discovery", ours: "supervisor/engine supervisor/pathdir " + words + " " + leaves,
		theirs: sys + " " + hclog,
	},
	{pkg: "supervisor/pathdir", ours: words + " " + leaves, theirs: sys},
	{pkg: "supervisor/xsnens", ours: words + " " + leaves, theirs: "github.com/google/jsonschema-go"},
	{pkg: "supervisor/engine", ours: words + " " + leaves, theirs: sys + " " + hclog},
	{pkg: "supervisor/environ", ours: "supervisor/config " + words + " " + leaves},
	{pkg: "supervisor/config", ours: words + " " + leaves, theirs: sys},
	{pkg: "mailbox", ours: "internal/fields internal/safefile internal/strictjson", theirs: sys},
	{pkg: "session", ours: words + " " + leaves, theirs: ulid + " " + sys},

	{pkg: "supervisor/call", pure: true},
	{pkg: "supervisor/tool", pure: true},

	{pkg: "broker/client", ours: "broker/action internal/dial internal/fields internal/peer internal/strictjson internal/wire", theirs: sys},
	{pkg: "broker", ours: "approval/identity approval/prompt broker/action broker/execute broker/policy broker/prepare internal/audit internal/escape internal/fields internal/peer internal/sockets internal/strictjson internal/wire"},
	{pkg: "broker/action", ours: "internal/escape internal/fields internal/strictjson", pure: true},
	{pkg: "broker/execute", ours: "broker/action internal/cgroup internal/spawn internal/wire", theirs: sys},
	{pkg: "broker/policy", ours: "broker/action internal/accounts internal/escape internal/safefile internal/tomlread", theirs: sys},
	{pkg: "broker/prepare", ours: "broker/action broker/policy internal/escape internal/safefile internal/spawn", theirs: sys},

	{pkg: "approval", ours: "approval/identity approval/prompt broker/action internal/audit internal/fields internal/peer internal/sockets internal/strictjson internal/wire"},
	{pkg: "approval/identity", ours: "approval/prompt broker/action internal/peer"},
	{pkg: "approval/prompt", ours: "broker/action internal/fields internal/strictjson", pure: true},
	{pkg: "approval/client", ours: "approval/prompt broker/action internal/dial internal/fields internal/peer internal/strictjson internal/wire", theirs: sys},
	{pkg: "approval/store", ours: "approval/prompt broker/action internal/fields internal/safefile internal/strictjson"},
	{pkg: "approval/queue", ours: "approval/prompt approval/store broker/action internal/audit"},

	{pkg: "scripting/engine", theirs: sys},
	{pkg: "scripting/engine/lower", ours: "scripting/engine", theirs: "github.com/evanw/esbuild/pkg/api"},
	{pkg: "scripting/engine/gojs", ours: "scripting/engine scripting/engine/lower", theirs: "github.com/dop251/goja"},
	{pkg: "scripting/engine/quickjs", ours: "scripting/engine scripting/engine/lower", theirs: "modernc.org/quickjs"},
	{pkg: "scripting/contract", ours: "scripting/engine"},

	{pkg: "internal/accounts", ours: "internal/safefile", theirs: sys},
	{pkg: "internal/audit", ours: "broker/action internal/fields internal/safefile internal/strictjson", theirs: sys},
	{pkg: "internal/cgroup", theirs: sys},
	{pkg: "internal/confine", theirs: sys},
	{pkg: "internal/dial", ours: "internal/peer", theirs: sys},
	{pkg: "internal/escape", theirs: sys},
	{pkg: "internal/fields", ours: "internal/strictjson"},
	{pkg: "internal/peer", theirs: sys},
	{pkg: "internal/rlimit", theirs: sys},
	{pkg: "internal/safefile", theirs: sys},
	{pkg: "internal/sockets", ours: "internal/peer internal/safefile", theirs: sys},
	{pkg: "internal/spawn", ours: "internal/cgroup internal/rlimit internal/safefile", theirs: sys},
	{pkg: "internal/strictjson", theirs: sys},
	{pkg: "internal/spelling", pure: true},
	{pkg: "internal/tomlread", ours: "internal/escape internal/spelling", theirs: "github.com/BurntSushi/toml"},
	{pkg: "internal/wire", ours: "internal/fields internal/strictjson", theirs: sys},

	{pkg: "internal/testneed"},
	{pkg: "internal/dev/testrun"},
	{pkg: "internal/dev/bench", ours: "broker/action broker/client internal/audit internal/fields internal/wire supervisor/... session " + leaves, theirs: sys},
	{pkg: "internal/manual", theirs: "github.com/spf13/cobra github.com/spf13/pflag"},
	{pkg: "docs"},
	{pkg: "e2e"},
	{pkg: "e2e/nspawn"},
	{pkg: "examples"},
}

// impure are the packages whose import would bring the outside world into the
// vocabulary; clockwork are the functions of package time that read a clock.
var (
	impure    = []string{"io/fs", "io/ioutil", "log", "net", "os", "path/filepath", "runtime", "syscall", "unsafe"}
	clockwork = []string{"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"}
)

func TestImportsGoDownwards(t *testing.T) {
	homeless := map[string]bool{}
	for _, src := range allSources(t) {
		row := slices.IndexFunc(layers, func(l layer) bool { return allows(l.pkg, src.pkg) })
		if row < 0 {
			if !homeless[src.pkg] {
				t.Errorf("package %s has no row in the table of layers (rules_imports_test.go); give it one", src.pkg)
			}
			homeless[src.pkg] = true
			continue
		}
		for _, spec := range src.file.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			if why := layers[row].refuses(imp, src.test); why != "" {
				t.Errorf("%s: package %s must not import %q: %s", src.at(spec), src.pkg, imp, why)
			}
		}
	}
}

// refuses says why the layer may not import imp, "" when it may.
func (l layer) refuses(imp string, test bool) string {
	ours, isOurs := strings.CutPrefix(imp, "snens/")
	switch {
	case isOurs && strings.HasPrefix(ours, "cmd/") && !allows(l.pkg, ours):
		return "nothing imports a program"
	case test:
		return "" // tests may look sideways and use what they like
	case isOurs:
		if !allows(l.ours, ours) {
			return "its row allows " + orNothing(l.ours)
		}
	case strings.Contains(strings.SplitN(imp, "/", 2)[0], "."):
		if !slices.ContainsFunc(strings.Fields(l.theirs), func(m string) bool { return within(imp, m) }) {
			return "its row allows " + orNothing(l.theirs)
		}
	case imp == "C":
		return "every program is built without cgo"
	case l.pure && slices.ContainsFunc(impure, func(p string) bool { return within(imp, p) }):
		return "it is vocabulary: no I/O and no clock"
	}
	return ""
}

func allows(list, pkg string) bool {
	return slices.ContainsFunc(strings.Fields(list), func(word string) bool {
		if parent, ok := strings.CutSuffix(word, "/..."); ok {
			return within(pkg, parent)
		}
		return word == pkg
	})
}

func within(pkg, parent string) bool {
	return pkg == parent || strings.HasPrefix(pkg, parent+"/")
}

func orNothing(list string) string {
	if list == "" {
		return "nothing of that kind"
	}
	return list
}

func TestVocabularyReadsNoClock(t *testing.T) {
	for _, src := range allSources(t) {
		row := slices.IndexFunc(layers, func(l layer) bool { return allows(l.pkg, src.pkg) })
		if row < 0 || !layers[row].pure || src.test {
			continue
		}
		calls(src, func(pkg, name string, at ast.Node) {
			if pkg == "time" && slices.Contains(clockwork, name) {
				t.Errorf("%s: time.%s in package %s, which is vocabulary; pass the time in", src.at(at), name, src.pkg)
			}
		})
	}
}

// calls reports every selector pkg.Name of a file whose left side is a plain name.
func calls(src source, found func(pkg, name string, at ast.Node)) {
	ast.Inspect(src.file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok {
				found(x.Name, sel.Sel.Name, n)
			}
		}
		return true
	})
}

func TestTheLayerRuleCanFail(t *testing.T) {
	for _, c := range []struct {
		l    layer
		imp  string
		test bool
		ok   bool
	}{
		{layer{pure: true}, "fmt", false, true},
		{layer{pure: true}, "os", false, false},
		{layer{pure: true}, "os/exec", false, false},
		{layer{pure: true}, "osmosis", false, true},
		{layer{}, "net/http", false, true}, // the linked-package rule is what catches it
		{layer{ours: "supervisor/..."}, "snens/supervisor", false, true},
		{layer{ours: "supervisor/..."}, "snens/supervisor/tool", false, true},
		{layer{ours: "supervisor/tool"}, "snens/supervisor/toolbox", false, false},
		{layer{ours: "supervisor"}, "snens/cmd/snens", false, false},
		{layer{pkg: "cmd/a/...", ours: "cmd/a/..."}, "snens/cmd/a/internal/b", false, true},
		{layer{pkg: "cmd/a/...", ours: "cmd/a/..."}, "snens/cmd/b", true, false},
		{layer{}, "snens/cmd/snens", true, false},
		{layer{}, "snens/session", true, true},
		{layer{theirs: sys}, "golang.org/x/sys/unix", false, true},
		{layer{theirs: sys}, "golang.org/x/term", false, false},
		{layer{}, "C", false, false},
	} {
		if got := c.l.refuses(c.imp, c.test); (got == "") != c.ok {
			t.Errorf("layer %+v, import %q, test %v: got %q", c.l, c.imp, c.test, got)
		}
	}
}
