package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// deafTree is three processes deep, one branch in a session of its own, every
// process deaf to TERM. Each writes its pid into a file.
const deafTree = `trap "" TERM HUP INT
sh -c 'echo $$ >a; trap "" TERM; while :; do sleep 1000; done' &
setsid sh -c 'echo $$ >b; trap "" TERM; (setsid sh -c "trap \"\" TERM; echo \$\$ >c; while :; do sleep 1000; done" &); while :; do sleep 1000; done' &
until [ -s a ] && [ -s b ] && [ -s c ]; do sleep 0.01; done
echo ready >ready
while :; do sleep 1000; done`

// snens is killed in mid-call. Its tree lives on until the next call, which
// ends it, every process of it, and nobody else's call.
func TestKilledInMidCall(t *testing.T) {
	modes(t, func(t *testing.T, w *world) {
		w.tool("deaf", deafTree)
		w.tool("quick", "echo quick")
		end := w.fifo("end")
		w.tool("hold", `echo here >hold.began; read -r line <`+end+`; echo "$line"`)

		bystander := w.command("call", "hold")
		var out strings.Builder
		bystander.Stdout = &out
		must(t, bystander.Start())
		waitFile(t, filepath.Join(w.work, "hold.began"))
		stranger := exec.Command("sleep", "1000") // as a program of the same user
		must(t, stranger.Start())
		defer func() { _ = stranger.Process.Kill(); _ = stranger.Wait() }()

		doomed := w.command("call", "deaf")
		must(t, doomed.Start())
		waitFile(t, filepath.Join(w.work, "ready"))
		must(t, doomed.Process.Kill())
		_ = doomed.Wait()
		var tree []int
		for _, name := range []string{"a", "b", "c"} {
			pid := number(t, waitFile(t, filepath.Join(w.work, name)))
			if tree = append(tree, pid); !alive(pid) {
				t.Errorf("%s is gone before the next call: nothing is shown", name)
			}
		}

		if r := w.run("tools"); r.status != 0 || !alive(tree[0]) {
			t.Errorf("a mere look at the tools ended leftovers: %d", r.status)
		}
		if r := w.run("call", "quick"); r.status != 0 || r.stdout != "quick\n" || r.stderr != "" {
			t.Errorf("the next call: %+v", r)
		}
		for _, pid := range tree {
			if alive(pid) {
				t.Errorf("process %d of the killed call still lives", pid)
			}
		}
		if !alive(stranger.Process.Pid) {
			t.Error("a process of nobody's call was ended")
		}
		say(t, end, "went on")
		if status := statusOf(t, bystander.Wait()); status != 0 || out.String() != "went on\n" {
			t.Errorf("the bystander: %d, %q", status, out.String())
		}
		w.nothingLeft()
	})
}
