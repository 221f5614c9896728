package snens_test

import (
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// generate says that generated files are to be rewritten (make gen) rather
// than compared.
func generate() bool { return os.Getenv("SNENS_GENERATE") == "1" }

// heavy must never be linked into a program that people start for every call:
// what needs one of these belongs into a sibling program.
var heavy = []string{
	"net/http", "net/rpc", "database/sql", "plugin", "expvar",
	"google.golang.org", "github.com/santhosh-tekuri", "github.com/hashicorp/go-plugin",
	"github.com/dop251/goja", "modernc.org", "github.com/evanw/esbuild",
	"github.com/charmbracelet", "github.com/gdamore", "github.com/modelcontextprotocol",
	"github.com/cpuguy83", "go.yaml.in", "gopkg.in",
	"testing", "snens/internal/testneed", "snens/internal/manual", "snens/internal/dev",
}

// light are packages that only look heavy.
var light = map[string]string{
	"database/sql/driver": "interfaces alone; ids from ulid offer them",
}

// TestGeneratedLinkedPackages holds closed what each program links. The lists
// are written by make gen; a longer list in a change is a question to ask.
func TestGeneratedLinkedPackages(t *testing.T) {
	mains, err := filepath.Glob("cmd/*/main.go")
	if err != nil || len(mains) == 0 {
		t.Fatalf("cannot find a program in cmd/: %v", err)
	}
	for _, main := range mains {
		program := filepath.Base(filepath.Dir(main))
		t.Run(program, func(t *testing.T) {
			linked := linkedPackages(t, "./cmd/"+program)
			for _, pkg := range linked {
				if light[pkg] == "" && slices.ContainsFunc(heavy, func(h string) bool { return within(pkg, h) }) {
					t.Errorf("%s links %s, which no program here may; go list -deps -f '{{.ImportPath}} {{.Imports}}' ./cmd/%s shows through whom", program, pkg, program)
				}
			}
			compare(t, filepath.Join("docs", "linked", program+".txt"), strings.Join(linked, "\n")+"\n")
		})
	}
}

// rootSide is all that may be linked into the program that runs as root, besides
// the standard library. A new line here is a question to ask: is it needed by
// what judges, asks, runs or records?
var rootSide = []string{
	"snens/cmd/snens-priv",
	"snens/broker", "snens/broker/action", "snens/broker/execute", "snens/broker/policy", "snens/broker/prepare",
	"snens/approval", "snens/approval/identity", "snens/approval/prompt", "snens/approval/queue", "snens/approval/store",
	"snens/internal/accounts", "snens/internal/audit", "snens/internal/cgroup", "snens/internal/escape",
	"snens/internal/fields", "snens/internal/peer", "snens/internal/rlimit", "snens/internal/safefile",
	"snens/internal/sockets", "snens/internal/spawn", "snens/internal/spelling", "snens/internal/strictjson",
	"snens/internal/tomlread", "snens/internal/wire",

	"github.com/BurntSushi/toml", "github.com/BurntSushi/toml/internal",
	"github.com/hashicorp/go-hclog",
	"github.com/fatih/color", "github.com/mattn/go-colorable", "github.com/mattn/go-isatty", // hclog's
	"golang.org/x/sys/unix",
}

// notForRoot are packages of the standard library that have no place there.
var notForRoot = []string{"net/http", "net/rpc", "runtime/cgo", "plugin", "os/exec", "testing", "database/sql", "html/template", "text/template"}

func TestTheRootProgramIsClosed(t *testing.T) {
	linked := linkedPackages(t, "./cmd/snens-priv")
	for _, pkg := range linked {
		first, _, _ := strings.Cut(pkg, "/")
		std := !strings.Contains(first, ".") && first != "snens"
		switch {
		case std && slices.ContainsFunc(notForRoot, func(p string) bool { return within(pkg, p) }):
			t.Errorf("snens-priv links %s, which has no place in a program of root", pkg)
		case !std && !slices.Contains(rootSide, pkg):
			t.Errorf("snens-priv links %s; the list rootSide holds what may be", pkg)
		}
	}
	for _, pkg := range rootSide {
		if !slices.Contains(linked, pkg) {
			t.Errorf("rootSide lists %s, which snens-priv does not link", pkg)
		}
	}
}

// serverSide is what only the root program may link: who can write a request
// needs none of what judges, keeps and runs it.
var serverSide = []string{
	"snens/broker", "snens/broker/execute", "snens/broker/policy", "snens/broker/prepare",
	"snens/approval", "snens/approval/identity", "snens/approval/queue", "snens/approval/store",
	"snens/internal/sockets", "snens/internal/spawn",
}

func TestOnlyTheRootProgramServes(t *testing.T) {
	for _, program := range []string{"snens", "snens-tools", "snens-audit"} {
		for _, pkg := range linkedPackages(t, "./cmd/"+program) {
			if slices.Contains(serverSide, pkg) {
				t.Errorf("%s links %s, which belongs to the root program alone", program, pkg)
			}
		}
	}
}

// costly are calls that take a tenth of a millisecond or more: too much for
// every start of a program that may need their result once in a hundred runs.
var costly = []string{"regexp.MustCompile", "regexp.MustCompilePOSIX", "template.Must", "crc32.MakeTable", "crc64.MakeTable", "time.LoadLocation"}

func TestNothingCostlyIsPreparedAtStart(t *testing.T) {
	linked := strings.Fields(readFile(t, "docs/linked/snens.txt"))
	for _, src := range allSources(t) {
		if src.test || !slices.Contains(linked, "snens/"+src.pkg) {
			continue
		}
		for _, decl := range src.file.Decls {
			vars, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			ast.Inspect(vars, func(n ast.Node) bool {
				if _, later := n.(*ast.FuncLit); later {
					return false // runs when it is called
				}
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := sel.X.(*ast.Ident); ok && slices.Contains(costly, x.Name+"."+sel.Sel.Name) {
						t.Errorf("%s: %s.%s at package level runs at every start of snens; prepare it when it is needed (sync.OnceValue)", src.at(n), x.Name, sel.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

// linkedPackages lists what a program links, sorted, without the standard
// library's internals, which change with every release of Go.
func linkedPackages(t *testing.T, program string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", program)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("cannot list what %s links: %v\n%s", program, err, errs.String())
	}
	linked := strings.Fields(string(out))
	slices.Sort(linked)
	return slices.DeleteFunc(linked, func(pkg string) bool {
		first, _, _ := strings.Cut(pkg, "/")
		std := !strings.Contains(first, ".") && first != "snens"
		return std && (first == "vendor" || slices.Contains(strings.Split(pkg, "/"), "internal"))
	})
}

// compare holds a generated file equal to what would be generated now.
func compare(t *testing.T, name, want string) {
	t.Helper()
	if generate() {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("cannot read %s (make gen writes it): %v", name, err)
	}
	if string(got) == want {
		return
	}
	have, now := strings.Split(string(got), "\n"), strings.Split(want, "\n")
	for _, line := range now {
		if !slices.Contains(have, line) {
			t.Errorf("%s: new: %s", name, line)
		}
	}
	for _, line := range have {
		if !slices.Contains(now, line) {
			t.Errorf("%s: gone: %s", name, line)
		}
	}
	t.Errorf("%s is not what would be generated now; run make gen and look at the difference", name)
}
