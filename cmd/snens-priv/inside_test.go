package main

import (
	"fmt"
	"testing"

	"snens/internal/testneed"
)

// What runs as root for somebody neither answers his next request nor asks for
// more: it is refused at accept on both sockets, though root may be on each.
func TestAnActionGetsNothingOnEitherSocket(t *testing.T) {
	python := testneed.Program(t, "python3")
	p := newRoot(t, policyText+fmt.Sprintf(`
[[rule]]
id = "inside"
decision = "allow"
command = %q
args = ["-c", {slot = "text", kind = "word", pattern = ".*", max = 1000}]
from = ["uid:%d"]
run_as = {user = "root", group = "root"}
i_know = true
`, python, uidAsker))
	p.start()
	_, pending := p.asker().begin(`{"rule":"whoami"}`)
	const refusal = `{"id":null,"error":{"code":"denied","message":"this is not allowed"}}` + "\n"
	for _, socket := range []string{"request", "approval"} {
		// A child that has left the session.
		script := fmt.Sprintf(`import os,socket; p=os.fork(); p and os._exit(os.waitpid(p,0)[1]); os.setsid(); s=socket.socket(socket.AF_UNIX); s.connect('%s'); f=s.makefile(); print(f.readline()+f.read(),end='')`, p.path("run/"+socket+".sock"))
		out, v := p.asker().begin(fmt.Sprintf(`{"rule":"inside","slots":{"text":[%q]}}`, script))
		if got := output(t, out); got != refusal {
			t.Errorf("%s: told %q, and it ended %s", socket, got, v.JSON())
		}
	}
	if got := p.approver().answer(pending, "deny"); got != "denied" {
		t.Errorf("the request is %s after the answer", got)
	}
	p.stop()
}
