package snens_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// signallers are the places of the root program's side from which a signal can
// reach a process: "file function", and why it cannot be the wrong one. Process
// groups, and ids that may have gone to others, are in none of them.
var signallers = map[string]string{
	"internal/cgroup/group.go prepare":    "a new group of ours, which nobody is in yet",
	"internal/cgroup/kill.go Kill":        "cgroup.kill of a group that is held open by its folder",
	"internal/cgroup/kill.go signalEach":  "by pidfd, and only to who is still in the group after it was opened",
	"internal/rlimit/start.go letGo":      "a child that stands stopped under our trace, so its number is its own",
	"internal/rlimit/start.go destroy":    "a child that was not waited for, so its number is its own",
	"internal/rlimit/start.go execStop":   "lets the same child go on to its exec, with no signal",
	"internal/spawn/procfs.go send":       "by pidfd, after a look that it is the process that was seen",
	"internal/spawn/process.go sendChild": "by the pidfd of the child's start",
	"internal/wire/closer.go nudge":       "a thread of ours, with the signal of the runtime's own preemption",
}

// signalCalls are the names by which package unix, syscall or os sends one, or
// gets at a process of which only the number is known.
var signalCalls = []string{
	"Kill", "Tgkill", "PidfdSendSignal", "PtraceCont", "PtraceSyscall", "PtraceSingleStep",
	"FindProcess", "StartProcess", "F_SETOWN", "F_SETOWN_EX", "TIOCSIG",
	"SYS_KILL", "SYS_TKILL", "SYS_TGKILL", "SYS_PIDFD_SEND_SIGNAL", "SYS_RT_SIGQUEUEINFO", "SYS_RT_TGSIGQUEUEINFO",
}

// signalPackages are where those names are of that kind.
var signalPackages = []string{"unix", "syscall", "os"}

// TestSignalsComeFromOnePlace: what runs as root signals by a handle (pidfd or
// control group), in few functions, which are read with care.
func TestSignalsComeFromOnePlace(t *testing.T) {
	seen := map[string]bool{}
	for _, src := range allSources(t) {
		if src.test || !slices.Contains(rootSide, "snens/"+src.pkg) {
			continue
		}
		for _, s := range signals(src.file) {
			key := src.path + " " + s.function
			seen[key] = true
			if signallers[key] == "" {
				t.Errorf("%s: %s in %s; signals are sent by handle, in internal/cgroup and internal/spawn (signallers lists where and why)", src.at(s.at), s.what, s.function)
			}
		}
	}
	unused(t, "signallers", signallers, seen)
}

// signal is one place that sends a signal.
type signal struct {
	function, what string
	at             ast.Node
}

// signals finds the places in a file. What stands outside functions has the
// function "".
func signals(file *ast.File) (found []signal) {
	for _, decl := range file.Decls {
		name := ""
		if fn, ok := decl.(*ast.FuncDecl); ok {
			name = fn.Name.Name
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && slices.Contains(signalPackages, x.Name) && slices.Contains(signalCalls, n.Sel.Name) {
					found = append(found, signal{name, x.Name + "." + n.Sel.Name, n})
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && strings.Contains(text, "cgroup.kill") {
					found = append(found, signal{name, "cgroup.kill", n})
				}
			case *ast.ImportSpec:
				// Under another name the calls would not be found.
				if path, _ := strconv.Unquote(n.Path.Value); n.Name != nil && slices.Contains([]string{"os", "syscall", "golang.org/x/sys/unix"}, path) {
					found = append(found, signal{name, "import " + n.Name.Name + " " + path, n})
				}
			}
			return true
		})
	}
	return found
}

func TestTheSignalRuleCanFail(t *testing.T) {
	for text, want := range map[string]string{
		`func f() { unix.Kill(-1, 9) }`:                            "f: unix.Kill",
		`func f() { go func() { syscall.Kill(0, 9) }() }`:          "f: syscall.Kill",
		`var f = unix.PidfdSendSignal`:                             ": unix.PidfdSendSignal",
		`func f() { p, _ := os.FindProcess(1); p.Kill() }`:         "f: os.FindProcess",
		`func f() { unix.RawSyscall(unix.SYS_TGKILL, 1, 1, 9) }`:   "f: unix.SYS_TGKILL",
		"func f() { write(dir+`/cgroup.kill`, one) }":              "f: cgroup.kill",
		`import u "golang.org/x/sys/unix"`:                         ": import u golang.org/x/sys/unix",
		`func f(g *cgroup.Group) { g.Kill(); unix.Getpid() }`:      "",
		"import \"golang.org/x/sys/unix\"\n\nvar _ = unix.SIGKILL": "",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n\n"+text, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, s := range signals(file) {
			got += s.function + ": " + s.what
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
