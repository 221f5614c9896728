package docs_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"snens/approval/prompt"
	"snens/broker/action"
	"snens/broker/client"
	"snens/internal/escape"
	"snens/internal/fields"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func readPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("protocol.md")
	must(t, err)
	return string(text)
}

// example is a request of the page with its answers.
type example struct {
	socket  string // request or approval
	request wire.Request
	replies []wire.Reply
}

// examples are those of the methods, in their order.
func examples(t *testing.T) (all []example) {
	t.Helper()
	_, methods, found := strings.Cut(readPage(t), "\n## The socket of requests\n")
	if !found {
		t.Fatal("the page has no methods")
	}
	socket, inside := "request", false
	for line := range strings.Lines(methods) {
		line = strings.TrimSpace(line)
		switch {
		case line == "## The socket of approvals":
			socket = "approval"
		case strings.HasPrefix(line, "```"):
			inside = line == "```json"
		case inside && strings.Contains(line, `"method"`):
			q, err := wire.ParseRequest([]byte(line))
			must(t, err)
			all = append(all, example{socket: socket, request: q})
		case inside:
			r, err := wire.ParseReply([]byte(line))
			must(t, err)
			last := &all[len(all)-1]
			if r.ID != last.request.ID {
				t.Errorf("%s answers nothing", line)
			}
			last.replies = append(last.replies, r)
		}
	}
	return all
}

func TestEveryMethodHasAnExample(t *testing.T) {
	var shown []string
	for _, e := range examples(t) {
		shown = append(shown, e.socket+" "+e.request.Method)
		for i, r := range e.replies {
			if r.More == (i == len(e.replies)-1) {
				t.Errorf("%s %s: answer %d has more %v", e.socket, e.request.Method, i, r.More)
			}
		}
	}
	for _, m := range []string{
		"request run", "request check", "request rules", "request list", "request result", "request cancel",
		"approval list", "approval show", "approval answer", "approval kill", "approval watch",
	} {
		if !slices.Contains(shown, m) {
			t.Errorf("no example of %s", m)
		}
	}
}

// Our own client says what the examples of the request socket say, and
// understands their answers.
func TestTheClientSpeaksTheExamples(t *testing.T) {
	for _, e := range examples(t) {
		if e.socket != "request" {
			continue
		}
		c := against(t, e)
		ctx := context.Background()
		p := e.request.Fields()
		var err error
		switch e.request.Method {
		case "run":
			err = runExample(t, c, e)
		case "check":
			var j client.Judgement
			if j, err = c.Check(ctx, client.Command{Argv: p.Field("argv").Texts(10)}); j.Decision != client.Ask || !j.ReasonRequired {
				t.Errorf("check says %+v", j)
			}
		case "rules":
			var rules []client.Rule
			if rules, err = c.Rules(ctx); len(rules) != 1 || len(rules[0].Args[1].Values) != 2 || rules[0].Timeout.Seconds() != 60 {
				t.Errorf("rules says %+v", rules)
			}
		case "list":
			var list []action.Result
			if list, err = c.List(ctx); len(list) != 1 || list[0].State != action.Pending {
				t.Errorf("list says %+v", list)
			}
		case "result":
			var r action.Result
			if r, err = c.Result(ctx, request(p), true); r.Reason != action.ReasonCancelled {
				t.Errorf("result says %+v", r)
			}
		case "cancel":
			err = c.Cancel(ctx, request(p))
		default:
			t.Errorf("%s is not tried", e.request.Method)
		}
		if err != nil {
			t.Errorf("%s: %v", e.request.Method, err)
		}
		c.Close()
	}
}

func request(o *fields.Reader) action.RequestID {
	return fields.Word(o.Field("request"), action.ParseRequestID)
}

// runExample makes the run of an example.
func runExample(t *testing.T, c *client.Client, e example) error {
	var q client.Request
	p := e.request.Fields()
	if f, ok := p.Optional("rule"); ok {
		q.Rule = fields.Word(f, action.ParseRuleID)
		q.Slots = map[string][]string{"unit": p.Field("slots").Object().Field("unit").Texts(1)}
	}
	if f, ok := p.Optional("argv"); ok {
		q.Argv = f.Texts(10)
	}
	if f, ok := p.Optional("claims"); ok {
		q.Claims = action.ReadClaims(f.Object())
	}
	if f, ok := p.Optional("detach"); ok {
		q.Detach = f.Bool()
	}
	if p.Field("fds").Uint(3) == 3 {
		null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		must(t, err)
		defer null.Close()
		q.Files = [3]*os.File{null, null, null}
	}
	asked := 0
	result, err := c.Run(context.Background(), q, func(p client.Pending) {
		asked++
		if p.Asked != 1 || p.Digest != pendingExample(t).Request.Digest() {
			t.Errorf("pending is %+v", p)
		}
	})
	last := e.replies[len(e.replies)-1]
	if last.Err != nil {
		if client.ExitStatus(err) != action.ExitDenied {
			t.Errorf("the refusal is %v", err)
		}
		return nil
	}
	if v := result.Value(); string(v.JSON()) != string(last.Result.JSON()) || asked != len(e.replies)-2 {
		t.Errorf("the result is %s, %d times asked", v.JSON(), asked)
	}
	return err
}

// against is a client of a server that takes exactly the example's request.
func against(t *testing.T, e example) *client.Client {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	must(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := serve(l, e); err != nil {
			t.Errorf("%s: %v", e.request.Method, err)
		}
	})
	c, err := client.Dial(context.Background(), client.Options{Socket: l.Addr().String(), Listener: uint32(os.Getuid())})
	must(t, err)
	t.Cleanup(func() {
		c.Close()
		l.Close()
		wg.Wait()
	})
	return c
}

func serve(l *net.UnixListener, e example) error {
	uc, err := l.AcceptUnix()
	if err != nil {
		return err
	}
	c, err := wire.New(uc, wire.Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Accept(); err != nil {
		return err
	}
	q, err := c.ReadRequest(0)
	if err != nil {
		return err
	}
	if got, want := string(q.Params.JSON()), string(e.request.Params.JSON()); q.Method != e.request.Method || got != want {
		return fmt.Errorf("the client says %s %s; the page %s", q.Method, got, want)
	}
	for _, r := range e.replies {
		state := r.Result.Get("state")
		switch {
		case r.Err != nil:
			err = c.Fail(q.ID, r.Err)
		case !r.More:
			err = c.Reply(q.ID, r.Result)
		case state != nil && state.Text == "send_fds":
			var files *wire.Files
			if files, err = c.TakeFDs(q.ID, int(e.request.Fields().Field("fds").Uint(3))); err == nil {
				files.Close()
			}
		default:
			err = c.More(q.ID, r.Result)
		}
		if err != nil {
			return err
		}
	}
	_, _ = c.ReadRequest(0) // until the client has left
	return nil
}

// pendingExample is the request of the page as an approver's client reads it.
func pendingExample(t *testing.T) prompt.Pending {
	t.Helper()
	for _, e := range examples(t) {
		if e.request.Method == "show" {
			o := e.replies[0].Fields()
			p := prompt.ReadPending(o.Field("pending").Object())
			must(t, o.Close())
			return p
		}
	}
	t.Fatal("show has no example")
	return prompt.Pending{}
}

// Answers of the approval socket are what the types write, to the letter.
func TestTheExamplesOfTheApprovalSocket(t *testing.T) {
	pending := pendingExample(t)
	for _, e := range examples(t) {
		if e.socket != "approval" {
			continue
		}
		p := e.request.Fields()
		switch e.request.Method {
		case "show", "kill":
			request(p)
		case "list":
			p.Field("limit").Uint(1000)
		case "answer":
			request(p)
			if d := fields.Word(p.Field("digest"), action.ParseDigest); d != pending.Request.Digest() {
				t.Errorf("answer has another digest than the request, %s", pending.Request.Digest())
			}
			if fields.Word(p.Field("decision"), action.ParseDecision) == action.Approve {
				fields.Word(p.Field("lifespan"), action.ParseLifespan)
			}
		}
		if err := p.Close(); err != nil {
			t.Errorf("%s: %v", e.request.Method, err)
		}
		for _, r := range e.replies {
			if r.Err != nil {
				if _, err := action.ParseReason(string(r.Err.Code)); err != nil {
					t.Error(err)
				}
				continue
			}
			if got := string(again(t, e.request.Method, r)); got != string(r.Result.JSON()) {
				t.Errorf("%s answers\n%s, the page has\n%s", e.request.Method, got, r.Result.JSON())
			}
		}
	}
}

// again reads an answer by its type and writes it.
func again(t *testing.T, method string, r wire.Reply) []byte {
	t.Helper()
	o, out := r.Fields(), fields.Object()
	if f, ok := o.Optional("pending"); ok {
		p := prompt.ReadPending(f.Object())
		out.Members = append(out.Members, fields.Member("pending", p.Value()))
	}
	if f, ok := o.Optional("event"); ok {
		e := prompt.ReadEvent(f.Object())
		out.Members = append(out.Members, fields.Member("event", e.Value()))
	}
	if f, ok := o.Optional("state"); ok {
		state := f.String()
		if !slices.Contains([]string{"watching", "dropped"}, state) || method != "watch" {
			_, err := action.ParseState(state)
			must(t, err)
		}
		out.Members = append(out.Members, fields.Member("state", fields.Text(state)))
	}
	for _, name := range []string{"count", "total"} {
		if f, ok := o.Optional(name); ok {
			out.Members = append(out.Members, fields.Member(name, fields.Uint(f.Uint(1000))))
		}
	}
	must(t, o.Close())
	return (&strictjson.Value{Kind: out.Kind, Members: out.Members}).JSON()
}

// The text on the page is that of the request on the page.
func TestTheReviewTextIsThatOfTheExample(t *testing.T) {
	_, text, _ := strings.Cut(readPage(t), "```text\n")
	text, _, _ = strings.Cut(text, "```")
	if want := pendingExample(t).Request.Text(); text != want {
		t.Errorf("the page has\n%s, the request\n%s", text, want)
	}
	if got := escape.Escape("\\\xff"); got != `\u{5c}\x{ff}` {
		t.Errorf("the page is wrong about escapes: %s", got)
	}
}

// The table of reasons is that of the code.
func TestReasonsOfThePage(t *testing.T) {
	_, table, _ := strings.Cut(readPage(t), "\n## Reasons\n")
	var want strings.Builder
	for _, r := range action.Reasons() {
		var states []string
		for _, s := range r.States() {
			states = append(states, "`"+s.String()+"`")
		}
		exit := fmt.Sprint(r.ExitStatus())
		if r == action.ReasonExited || r == action.ReasonSignalled {
			exit = ""
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s |\n", r, strings.Join(states, ", "), r.Text(), exit)
	}
	_, rows, _ := strings.Cut(table, "|---|---|---|---|\n")
	if rows != want.String() {
		t.Errorf("the table must be\n%s", want.String())
	}
	page := readPage(t)
	for _, s := range action.States() {
		if !strings.Contains(page, "`"+s.String()+"`") {
			t.Errorf("the page does not name the state %s", s)
		}
	}
}

// The limits are those of the code.
func TestLimitsOfThePage(t *testing.T) {
	page := readPage(t)
	thousands := func(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }
	for _, want := range []string{
		"| the review text | " + thousands(action.MaxText) + " bytes |",
		"| one argument, variable or opened path | " + thousands(action.MaxArgument) + " bytes |",
		fmt.Sprintf("| arguments; variables of the command | %d |", action.MaxItems),
		fmt.Sprintf("| claims: `session`, `tool` | %d bytes each |", action.MaxClaim),
		fmt.Sprintf("| claims: `reason` | %d bytes |", action.MaxReason),
		fmt.Sprintf("| a `ttl` | %g h |", action.MaxDuration.Hours()),
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %s", want)
		}
	}
}
