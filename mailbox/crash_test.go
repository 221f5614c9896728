package mailbox_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"snens/mailbox"
)

// play is what the test binary does as another process.
func play(part string) int {
	dir := os.Getenv("MAILBOX_DIR")
	b, err := mailbox.Open(dir, mailbox.Options{MaxDeliveries: 1000})
	if err != nil {
		return report(err)
	}
	switch part {
	case "send-storm":
		return playSender(b)
	case "receive-storm":
		return playReceiver(b)
	}
	what, step, _ := strings.Cut(part, "@")
	b.OnStep(func(at string) {
		if at == step {
			die()
		}
	})
	if what == "send" {
		_, err = b.Send(text("body"))
	} else {
		var c *mailbox.Claim
		if c, err = b.Receive(0); err == nil {
			err = c.Ack()
		}
	}
	return report(err)
}

func report(err error) int {
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		return 1
	}
	return 0
}

// die ends this process as kill -9 does.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func player(t *testing.T, dir, part string, env ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), append(env, "MAILBOX_PART="+part, "MAILBOX_DIR="+dir, "GORACE=atexit_sleep_ms=0")...)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestSenderKilledAtEachStep(t *testing.T) {
	for step, arrived := range map[string]int{"create": 0, "write": 0, "sync": 0, "rename": 0, "syncdir": 1, "sent": 1} {
		b, dir := box(t, mailbox.Options{})
		killed(t, player(t, dir, "send@"+step).Run(), step)
		if got := files(t, dir, "new"); len(got) != arrived {
			t.Errorf("killed at %s: new holds %q, want %d", step, got, arrived)
		}
		for range arrived {
			c := receive(t, b)
			if c.Message.Body != "body" {
				t.Errorf("killed at %s: got %+v", step, c.Message)
			}
			must(t, c.Ack())
		}
		empty(t, b)
		if dead := files(t, dir, "dead"); dead != nil {
			t.Errorf("killed at %s: half a message was seen: %q", step, dead)
		}
	}
}

func TestReceiverKilledAtEachStep(t *testing.T) {
	for step, delivery := range map[string]int{"opened": 1, "locked": 1, "claim": 1, "claimed": 2, "ack": 2} {
		b, dir := box(t, mailbox.Options{})
		id := send(t, b, "body")
		killed(t, player(t, dir, "receive@"+step).Run(), step)
		c, err := b.Wait(t.Context(), time.Minute, 0)
		must(t, err)
		if c.Message.ID != id || c.Deliveries != delivery {
			t.Errorf("killed at %s: got %s at delivery %d, want %d", step, c.Message.ID, c.Deliveries, delivery)
		}
		must(t, c.Ack())
		empty(t, b)
	}
}

// Every step is one of the two tests above.
func TestEachStepIsKnown(t *testing.T) {
	b, _ := box(t, mailbox.Options{})
	var steps []string
	b.OnStep(func(s string) { steps = append(steps, s) })
	send(t, b, "x")
	must(t, receive(t, b).Ack())
	want := []string{"create", "write", "sync", "rename", "syncdir", "sent", "opened", "locked", "claim", "claimed", "ack"}
	if !slices.Equal(steps, want) {
		t.Errorf("steps %q, want %q", steps, want)
	}
}

func killed(t *testing.T, err error, step string) {
	t.Helper()
	exit, ok := err.(*exec.ExitError)
	if !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("at %s: ended with %v, want to be killed", step, err)
	}
}
