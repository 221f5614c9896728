package execute_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"snens/broker/action"
	"snens/broker/execute"
	"snens/internal/cgroup"
	"snens/internal/spawn"
)

// An earlier process's tree is a group with processes that no Run knows.
func TestClearEndsALeftoverTree(t *testing.T) {
	w := groups(t)
	id := w.id()
	g, err := w.tree.New(w.GroupName(id), cgroup.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	read, write := pipe(t)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", `trap '' TERM
( setsid sh -c 'trap "" TERM; echo $$; while :; do sleep 1000; done' & )
while :; do sleep 1000; done`}, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{null.Fd(), write.Fd(), null.Fd()},
		Sys: &syscall.SysProcAttr{Setsid: true, UseCgroupFD: true, CgroupFD: g.FD()},
	})
	write.Close()
	if err != nil {
		t.Fatal(err)
	}
	hidden, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	path := g.Path()
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if ids, err := w.Leftovers(); err != nil || !slices.Contains(ids, id) {
		t.Errorf("leftovers %v, %v", ids, err)
	}
	if err := w.Clear(context.Background(), id); err != nil {
		t.Error(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil || status.Signal() != syscall.SIGKILL {
		t.Errorf("%v, %v", status, err)
	}
	if alive(hidden) {
		t.Errorf("process %s lives", hidden)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", path, err)
	}
	if ids, err := w.Leftovers(); err != nil || slices.Contains(ids, id) {
		t.Errorf("leftovers %v, %v", ids, err)
	}
	if err := w.Clear(context.Background(), id); err != nil {
		t.Error(err)
	}
}

func TestClearInTheFallbackSaysThatItCannot(t *testing.T) {
	w := newWorld(t, nil, nil)
	if err := w.Clear(context.Background(), w.id()); err == nil || !strings.Contains(err.Error(), "without control groups") {
		t.Error(err)
	}
	if ids, err := w.Leftovers(); err != nil || ids != nil {
		t.Errorf("%v, %v", ids, err)
	}
}

func TestClearLeavesARunOfOursAlone(t *testing.T) {
	w := groups(t)
	j := w.sh("exec sleep 1000", nil)
	ctx, leave := because(action.ReasonKilled)
	got := make(chan execute.Ending, 1)
	go func() { got <- j.run(ctx) }()
	pid := <-j.started
	if err := w.Clear(context.Background(), j.id); err == nil || !strings.Contains(err.Error(), "runs here") {
		t.Error(err)
	}
	if ids, err := w.Leftovers(); err != nil || slices.Contains(ids, j.id) {
		t.Errorf("leftovers %v, %v", ids, err)
	}
	if !w.InSession(int(pid)) {
		t.Error("the child is not in its session")
	}
	leave()
	if e := <-got; e.Reason != action.ReasonKilled {
		t.Errorf("%+v", e)
	}
}

// A second broker beside the first, on the same host and in the same place for
// groups, leaves what the first runs alone, and each sees the other's children.
func TestAnotherBrokersActionIsLeftAlone(t *testing.T) {
	first := groups(t)
	second := newWorld(t, first.tree, func(o *execute.Options) { o.Install = action.InstallID{2} })
	again := newWorld(t, first.tree, nil) // as after a crash of the first
	j := first.sh("exec sleep 1000", nil)
	ctx, leave := because(action.ReasonKilled)
	defer leave()
	got := make(chan execute.Ending, 1)
	go func() { got <- j.run(ctx) }()
	pid := <-j.started
	if ids, err := second.Leftovers(); err != nil || slices.Contains(ids, j.id) {
		t.Errorf("leftovers of another: %v, %v", ids, err)
	}
	if ids, err := again.Leftovers(); err != nil || !slices.Contains(ids, j.id) {
		t.Errorf("leftovers of its own: %v, %v", ids, err)
	}
	if err := second.Clear(context.Background(), j.id); err != nil {
		t.Error(err)
	}
	if !alive(strconv.Itoa(int(pid))) {
		t.Error("the action was ended")
	}
	group, err := os.ReadFile("/proc/" + strconv.Itoa(int(pid)) + "/cgroup")
	if err != nil || !strings.Contains(string(group), first.GroupName(j.id)) {
		t.Fatalf("%s, %v", group, err)
	}
	if !execute.InAction("/" + "snens-" + first.GroupName(j.id)) {
		t.Error("its group is not known")
	}
	leave()
	if e := <-got; e.Reason != action.ReasonKilled {
		t.Errorf("%+v", e)
	}
}

func TestInAction(t *testing.T) {
	id := "0123456789abcdef-" + action.RequestID{1, 2, 3}.String()
	for path, want := range map[string]bool{
		"/snens-priv-" + id: true,
		"/system.slice/snens-priv.service/snens-priv-" + id: true,
		"/snens-priv-" + id + "/deeper/still":               true,
		"/../other/snens-priv-" + id:                        true,
		"/snens-priv-" + id + " (deleted)":                  true,
		"":                                                  false,
		"/":                                                 false,
		"/system.slice/snens-priv.service":                  false,
		"/system.slice/snens-priv.service/snens.self":  false,
		"/system.slice/snens-priv-request.socket":      false,
		"/user.slice/snens-01ARZ3NDEKTSV4RRFFQ69G5FAV": false,
		"/xsnens-priv-" + id:                           false,
		"/snens-priv-" + id[1:]:                        false,
		"/snens-priv-0" + id:                           false,
		"/snens-priv-X" + id[1:]:                       false,
		"/snens-priv-" + action.RequestID{1}.String():  false,
	} {
		if got := execute.InAction(path); got != want {
			t.Errorf("%q: %t", path, got)
		}
	}
}

// What the kernel says of a child of an action, and of us.
func TestInActionOfLiveProcesses(t *testing.T) {
	w := groups(t)
	p := w.open("/bin/sh")
	read, write := pipe(t)
	j := w.keep(w.request(p, "sh", "-c", "(setsid sh -c 'sed -n s/^0:://p /proc/self/cgroup'; wait) & wait"), p, nil, int(write.Fd()), int(write.Fd()))
	write.Close()
	out := drain(read)
	if e := j.run(context.Background()); e.Reason != action.ReasonExited || e.Code != 0 {
		t.Errorf("%+v", e)
	}
	if group := strings.TrimSpace(<-out); !execute.InAction(group) {
		t.Errorf("a grandchild in %q is not seen", group)
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(own)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok && execute.InAction(path) {
			t.Errorf("we are in an action: %q", path)
		}
	}
}

func TestInSession(t *testing.T) {
	both(t, func(w *world) {
		p := w.open("/bin/sh")
		read, write := pipe(w.t)
		j := w.keep(w.request(p, "sh", "-c", "sh -c 'echo $$; exec sleep 1000' & setsid sh -c 'echo $$; exec sleep 1000' & wait"), p, nil, int(write.Fd()), int(write.Fd()))
		write.Close()
		ctx, leave := because(action.ReasonKilled)
		got := make(chan execute.Ending, 1)
		go func() { got <- j.run(ctx) }()
		lines := bufio.NewScanner(read)
		for range 2 {
			if !lines.Scan() {
				w.t.Fatal(lines.Err())
			}
			var pid int
			for _, c := range lines.Text() {
				pid = pid*10 + int(c-'0')
			}
			if !w.InSession(pid) {
				w.t.Errorf("process %d is not seen", pid)
			}
		}
		if w.InSession(os.Getpid()) || w.InSession(1) || w.InSession(0) {
			w.t.Error("others are seen")
		}
		leave()
		<-got
	})
}

func TestEndingOfEveryOutcome(t *testing.T) {
	for _, c := range []struct {
		result spawn.Result
		want   execute.Ending
	}{
		{spawn.Result{}, execute.Ending{Reason: action.ReasonLost}},
		{spawn.Result{Outcome: spawn.Exited, ExitCode: -1}, execute.Ending{Reason: action.ReasonLost, Detail: "somebody else took its exit status"}},
		{
			spawn.Result{Outcome: spawn.Signalled, ExitCode: -1, Signal: 9, OOM: true},
			execute.Ending{Reason: action.ReasonSignalled, Signal: 9, Detail: "the kernel ended a process of it at the limit on memory"},
		},
		{
			spawn.Result{Outcome: spawn.Unkillable, ExitCode: -1, Left: []int{5, 6}},
			execute.Ending{Reason: action.ReasonUnkillable, Detail: "cannot be ended: 2 processes (5, 6)"},
		},
		{spawn.Result{Outcome: spawn.Cancelled, ExitCode: 3}, execute.Ending{Reason: action.ReasonCancelled, Detail: "the command ended with exit status 3"}},
	} {
		if got := execute.EndingOf(c.result); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.result, got, c.want)
		}
		state := action.Exited
		if c.want.Reason == action.ReasonLost {
			state = action.Lost
		}
		r := action.Result{ID: action.RequestID{1}, State: state, Reason: c.want.Reason, Code: c.want.Code, Signal: c.want.Signal}
		if err := r.Check(); err != nil {
			t.Error(err)
		}
	}
}
