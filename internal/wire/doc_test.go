package wire_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"snens/internal/fields"
	"snens/internal/testneed"
	"snens/internal/wire"
)

const page = "../../docs/protocol.md"

// Every example of the page is a line that we read, and its table of codes is
// the list of them.
func TestThePageIsTrue(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	examples, inside := 0, false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			inside = line == "```json"
			continue
		}
		if !inside {
			continue
		}
		examples++
		_, hello := wire.ParseHello([]byte(line))
		_, request := wire.ParseRequest([]byte(line))
		_, reply := wire.ParseReply([]byte(line))
		if hello != nil && request != nil && reply != nil {
			t.Errorf("%s is none of\nhello: %v\nrequest: %v\nreply: %v", line, hello, request, reply)
		}
	}
	if examples < 7 {
		t.Errorf("only %d examples were found", examples)
	}
	times := wire.DefaultTimes()
	for _, want := range []string{
		"| `" + string(wire.BadRequest) + "` |", "| `" + string(wire.BadVersion) + "` |", "| `" + string(wire.UnknownMethod) + "` |",
		"| `" + string(wire.TooLarge) + "` |", "| `" + string(wire.TooSlow) + "` |", "| `" + string(wire.Busy) + "` |",
		"| `" + string(wire.BadDescriptors) + "` |", "| `" + string(wire.Internal) + "` |",
		fmt.Sprintf("hello | %d bytes |", wire.MaxLineGreeting),
		fmt.Sprintf("both ways | %d,%03d bytes |", wire.MaxLine/1000, wire.MaxLine%1000),
		fmt.Sprintf("end of the hello | %g s |", times.Hello.Seconds()),
		fmt.Sprintf("the descriptor step | %g s |", times.Line.Seconds()),
		fmt.Sprintf("a line of the server | %g s |", times.Write.Seconds()),
		fmt.Sprintf("one uid, both ways | %d MiB |", wire.BudgetPerUID>>20),
		fmt.Sprintf("bytes of all but uid 0 | %d MiB |", wire.BudgetTotal>>20),
		fmt.Sprintf("at most %d levels of arrays and objects and %d,%03d values", wire.MaxDepth, wire.MaxTokens/1000, wire.MaxTokens%1000),
	} {
		if !strings.Contains(strings.ToLower(strings.Join(strings.Fields(string(text)), " ")), strings.ToLower(want)) {
			t.Errorf("%s does not say %q", page, want)
		}
	}
}

// A client written from the page alone, in another language.
const pythonClient = `
import array, json, os, socket, sys
s = socket.socket(fileno=3)
lines = s.makefile("r", encoding="utf-8", newline="\n")
def say(o): s.sendall((json.dumps(o) + "\n").encode())
say({"hello": {"version": 1, "capabilities": []}})
assert json.loads(lines.readline())["hello"]["version"] == 1
say({"id": 1, "method": "run", "params": {"argv": ["\u00e9\U0001f600", {"base64": "/w=="}]}})
asked = json.loads(lines.readline())
assert asked == {"id": 1, "more": True, "result": {"state": "send_fds"}}, asked
r, w = os.pipe()
s.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, w, 2]))])
os.close(w)
print(os.read(r, 100).decode(), json.loads(lines.readline())["result"]["state"])
`

func TestAClientInAnotherLanguage(t *testing.T) {
	python := testneed.Program(t, "python3")
	a, b := sockets(t)
	f, err := b.File()
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
	cmd := exec.Command(python, "-c", pythonClient)
	cmd.ExtraFiles = []*os.File{f}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	server := newConn(t, a, wire.Options{})
	served := serveRun(server)
	server.End()
	if err := cmd.Wait(); err != nil || served != nil || out.String() != "written exited\n" {
		t.Errorf("the client says %q, %v, the server %v", out.String(), err, served)
	}
}

// serveRun serves one run, whose command would write to its stdout.
func serveRun(server *wire.Conn) error {
	if _, err := server.Accept(); err != nil {
		return err
	}
	q, err := server.ReadRequest(0)
	if err != nil {
		return err
	}
	r := q.Fields()
	argv := r.Field("argv").Texts(10)
	if err := r.Close(); err != nil || strings.Join(argv, " ") != "é😀 \xff" {
		return fmt.Errorf("argv is %q, %w", argv, err)
	}
	files, err := server.TakeFDs(q.ID, 3)
	if err != nil {
		return err
	}
	defer files.Close()
	if err := files.CheckStdio(); err != nil {
		return err
	}
	if _, err := unix.Write(files.FD(1), []byte("written")); err != nil {
		return err
	}
	return server.Reply(q.ID, fields.Object(fields.Member("state", fields.Text("exited"))))
}
