package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"unicode"
	"unicode/utf8"

	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/strictjson"
	"snens/internal/testneed"
	"snens/internal/wire"
)

// tame fails when something in text would act on a terminal or hide in it.
func tame(t *testing.T, what, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s: no UTF-8: %q", what, text)
	}
	for _, r := range text {
		if r != '\n' && (unicode.In(r, unicode.C, unicode.Z) && r != ' ') {
			t.Errorf("%s: %q is on the screen: %q", what, r, text)
			return
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "requester user: 0") {
			t.Errorf("%s: a forged line: %q", what, text)
		}
	}
}

func TestApproveShowsNothingThatActs(t *testing.T) {
	p := hostilePending(t)
	d := &desk{pending: []prompt.Pending{p}, watch: func(c *wire.Conn, q wire.Request) {
		e := prompt.Event{Kind: action.EventPending, ID: p.ID, State: action.Pending}
		_ = c.More(q.ID, fields.Object(fields.Member("event", e.Value())))
		_ = c.Fail(q.ID, wire.Errorf("other", "%s", "bad \x1b[31m\u202e word"))
	}}
	r := approver(t, d)
	for _, args := range [][]string{
		{"list"},
		{"list", "--json"},
		{"show", p.ID.String()},
		{"show", p.ID.String(), "--json"},
		{"watch"},
		{"watch", "--json"},
		{},
		{"yes", p.ID.String(), "--digest", p.Request.Digest().Short()},
		{"no", p.ID.String()},
	} {
		_, stdout, stderr := r.approve(args...)
		tame(t, strings.Join(args, " "), stdout)
		tame(t, strings.Join(args, " ")+" (stderr)", stderr)
		if stdout == "" {
			t.Errorf("%q prints nothing: %s", args, stderr)
		}
	}
	_, stdout, _ := r.approve("show", p.ID.String())
	for _, want := range []string{
		`WARNING: argv[0]: `, `WARNING: cwd: `, `WARNING: claimed reason: `, `\u{202e}`, `\x{80}`, p.Request.Text(),
		`claimed by the requester, checked by nobody: reason "x\u{1b}`,
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("show does not say %s:\n%s", want, stdout)
		}
	}
}

func TestApproveJSONRoundTrips(t *testing.T) {
	p := hostilePending(t)
	r := approver(t, &desk{pending: []prompt.Pending{p}})
	_, stdout, _ := r.approve("list", "--json")
	v, err := strictjson.Parse([]byte(stdout), strictjson.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sealed := p.Request.Value()
	for _, name := range []string{"argv", "cwd", "env", "run_as", "stdin"} {
		if got, want := string(v.Items[0].Get(name).JSON()), string(sealed.Get(name).JSON()); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	var list []struct {
		ID, Digest, Rule, Since, Expires, Presence string
		Need                                       int
		Requester                                  struct{ UID int }
	}
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || len(list) != 1 {
		t.Fatal(err)
	}
	if e := list[0]; e.ID != p.ID.String() || e.Digest != p.Request.Digest().String() || e.Rule != "web" || e.Need != 1 || e.Requester.UID != 65534 || e.Presence != "peer" {
		t.Errorf("%+v", e)
	}
}

func TestApproveList(t *testing.T) {
	d := &desk{}
	r := approver(t, d)
	if status, stdout, _ := r.approve("list"); status != 0 || stdout != "nothing waits for you\n" {
		t.Errorf("%d %q", status, stdout)
	}
	d.mu.Lock()
	for i := range 101 {
		d.pending = append(d.pending, waits(t, byte(i+1), func(r *action.Request) {
			if i == 1 {
				r.Argv = []string{"a b", "", `"`, strings.Repeat("long", 200)}
			}
		}))
	}
	p := d.pending[0]
	d.mu.Unlock()
	_, stdout, _ := r.approve("list")
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	if len(lines) != 101 || lines[100] != "and 1 more: snens approve list --all" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
	if want := p.ID.String() + "  " + p.Request.Digest().Short() + "  web  "; !strings.HasPrefix(lines[0], want) ||
		!strings.HasSuffix(lines[0], " (65534)  3m  expires in 30m  systemctl restart nginx.service") {
		t.Errorf("got %q", lines[0])
	}
	if !strings.Contains(lines[1], `"a b" "" "\u{22}" longlong`) || !strings.HasSuffix(lines[1], "… [cut, 818 characters]") {
		t.Errorf("got %q", lines[1])
	}
	if _, stdout, _ := r.approve("list", "--all"); strings.Count(stdout, "\n") != 101 || strings.Contains(stdout, "more:") {
		t.Errorf("--all: %d lines", strings.Count(stdout, "\n"))
	}
	r.env = append(r.env, "SNENS_CONFIG="+userFile(t))
	if _, stdout, stderr := r.run("--no-color"); !strings.Contains(stdout, "\napprovals waiting for you: 101 (snens approve)\n") {
		t.Errorf("status:\n%s%s", stdout, stderr)
	}
}

// userFile is a configuration whose broker is one's own.
func userFile(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "snens.toml")
	if err := os.WriteFile(path, []byte("priv.user = true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestApproveAnswers(t *testing.T) {
	p, other := waits(t, 1, nil), waits(t, 2, nil)
	d := &desk{pending: []prompt.Pending{p, other}}
	r := approver(t, d)
	digest := p.Request.Digest().String()
	short, otherShort := digest[:12], other.Request.Digest().Short()
	for _, c := range []struct {
		args   string
		status int
		stdout string
		stderr string
		said   string
	}{
		{"yes " + p.ID.String(), 2, "", "here is nobody to be asked", ""},
		{"yes " + short + " --digest " + digest[:11], 2, "", "it takes the first 12 or more digits", ""},
		{"yes " + short + " --digest=", 2, "", "its value is empty", ""},
		{"yes " + short + " --digest " + otherShort, 1, "", "it is another text", ""},
		{"yes " + p.ID.String() + " --digest " + short, 0, "approved " + short + ": systemctl restart nginx.service\n", "", "approve " + digest},
		{"yes " + short + " --digest " + strings.ToUpper(digest), 0, "approved " + short + ": systemctl restart nginx.service\n", "", "approve " + digest},
		{"no " + short, 0, "denied " + short + ": systemctl restart nginx.service\n", "", "deny " + digest},
		{"deny " + p.ID.String(), 0, "denied " + short + ": systemctl restart nginx.service\n", "", "deny " + digest},
		{"kill " + p.ID.String(), 0, "ended " + p.ID.String() + "\n", "", "kill " + p.ID.String()},
		{"kill " + short, 2, "", "is named by the id", ""},
		{"show", 2, "", "give one id", ""},
		{"show x", 2, "", "cannot tell which request", ""},
		{"show 000000000000", 1, "", "nothing that waits for you has this digest", ""},
		{"show " + action.RequestID{0x84}.String(), 1, "", "there is no such request", ""},
		{"nosuch", 2, "", "", ""},
		{"list --nosuch", 2, "", "", ""},
	} {
		d.forget()
		status, stdout, stderr := r.approve(strings.Fields(c.args)...)
		if status != c.status || stdout != c.stdout || !strings.Contains(stderr, c.stderr) || strings.Join(d.said(), ",") != c.said {
			t.Errorf("%s: got %d, %q, %q, %q", c.args, status, stdout, stderr, d.said())
		}
	}
}

func TestApproveRefusals(t *testing.T) {
	p := waits(t, 1, nil)
	for code, want := range map[string]string{
		"self_approval": "who asks may not approve", "not_approver": "does not list you", "gone": "too late",
		"digest_mismatch": "about another text", "not_found": "no such request", "denied": "not allowed", "already_voted": "answered already",
	} {
		r := approver(t, &desk{pending: []prompt.Pending{p}, refuse: map[string]*wire.Error{"answer": wire.Errorf(wire.Code(code), "\x1b[31mit lies")}})
		status, stdout, stderr := r.approve("yes", p.ID.String(), "--digest", p.Request.Digest().Short())
		if status != 1 || stdout != "" || !strings.Contains(stderr, want) || !strings.Contains(stderr, "hint: ") || strings.Contains(stderr, "lies") {
			t.Errorf("%s: %d, %q, %q", code, status, stdout, stderr)
		}
	}
}

// A server that lies about what runs gets no approval that fits it.
func TestApproveOfALyingServer(t *testing.T) {
	p := waits(t, 1, nil)
	short := p.Request.Digest().Short()
	for _, extra := range []string{"digest", "text", "summary"} {
		d := &desk{pending: []prompt.Pending{p}, change: func(v *strictjson.Value) {
			v.Members = append(v.Members, fields.Member(extra, fields.Text("harmless")))
		}}
		r := approver(t, d)
		for _, args := range []string{"list", "show " + short, "show " + p.ID.String(), "yes " + short + " --digest " + short} {
			status, stdout, stderr := r.approve(strings.Fields(args)...)
			if status != 1 || stdout != "" || !strings.Contains(stderr, "cannot trust the broker's answer") || len(d.said()) > 0 {
				t.Errorf("%s with %s: %d, %q, %q", args, extra, status, stdout, stderr)
			}
		}
	}
	// Another object than the one that was read.
	d := &desk{pending: []prompt.Pending{waits(t, 1, func(r *action.Request) { r.Argv = []string{"rm", "-rf", "/"} })}}
	r := approver(t, d)
	status, _, stderr := r.approve("yes", p.ID.String(), "--digest", short)
	if status != 1 || !strings.Contains(stderr, "it is another text") || len(d.said()) > 0 {
		t.Errorf("%d, %q, %q", status, stderr, d.said())
	}
	// One request in place of another.
	d = &desk{pending: []prompt.Pending{p}, change: func(v *strictjson.Value) { v.Members[0].Value = fields.Text(action.RequestID{5}.String()) }}
	if status, _, stderr := approver(t, d).approve("show", p.ID.String()); status != 1 || !strings.Contains(stderr, "about another request") {
		t.Errorf("%d, %q", status, stderr)
	}
}

func TestApproveWatch(t *testing.T) {
	p, late := waits(t, 1, nil), waits(t, 2, nil)
	d := &desk{pending: []prompt.Pending{p}}
	var rounds atomic.Int32
	d.watch = func(c *wire.Conn, q wire.Request) {
		if rounds.Add(1) == 1 {
			e := prompt.Event{Kind: action.EventExited, ID: p.ID, State: action.Exited, Reason: action.ReasonTimedOut}
			_ = c.More(q.ID, fields.Object(fields.Member("event", e.Value())))
			d.mu.Lock()
			d.pending = []prompt.Pending{late}
			d.mu.Unlock()
			_ = c.Reply(q.ID, fields.Object(fields.Member("state", fields.Text("dropped"))))
			return
		}
		e := prompt.Event{Kind: action.EventPending, ID: late.ID, State: action.Pending}
		_ = c.More(q.ID, fields.Object(fields.Member("event", e.Value())))
		_ = c.Fail(q.ID, wire.Errorf("shutdown", "x"))
	}
	status, stdout, stderr := approver(t, d).approve("watch")
	want := []string{"exited     " + p.ID.String() + "  the command was ended: it ran longer", "pending    " + late.ID.String() + "  " + late.Request.Digest().Short()}
	if status != 1 || !strings.Contains(stderr, "stopping") || rounds.Load() != 2 {
		t.Errorf("%d, %q, %d rounds", status, stderr, rounds.Load())
	}
	for _, line := range want {
		if strings.Count(stdout, line) != 1 {
			t.Errorf("not once %q in\n%s", line, stdout)
		}
	}
}

func TestApproveFindsTheBroker(t *testing.T) {
	here := (&desk{}).serve(t)
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	for _, c := range []struct {
		name, conf string
		env, args  []string
		status     int
	}{
		{"option", "", []string{"SNENS_APPROVAL_SOCK=" + nowhere}, []string{"--socket", here, "--user"}, 0},
		{"variable", "priv.approval_socket = '" + nowhere + "'", []string{"SNENS_APPROVAL_SOCK=" + here}, []string{"--user"}, 0},
		{"configuration", "[priv]\napproval_socket = '" + here + "'\nuser = true", nil, nil, 0},
		{"not of a call", "priv.approval_socket = '" + nowhere + "'", []string{"SNENS_APPROVAL_SOCK=" + here, "SNENS_CALL_ID=1"}, []string{"--user"}, 69},
		{"not of a call without an id", "priv.approval_socket = '" + nowhere + "'", []string{"SNENS_APPROVAL_SOCK=" + here, "SNENS_CALL_ID="}, []string{"--user"}, 69},
		{"nor the requests'", "priv.approval_socket = '" + nowhere + "'", []string{"SNENS_PRIV=" + here}, []string{"--user"}, 69},
		{"but the option in a call", "", []string{"SNENS_CALL_ID=1"}, []string{"--socket", here, "--user"}, 0},
		{"nobody there", "", []string{"SNENS_APPROVAL_SOCK=" + nowhere}, []string{"--user"}, 69},
	} {
		r := newRunner(t)
		conf := filepath.Join(t.TempDir(), "snens.toml")
		if err := os.WriteFile(conf, []byte(c.conf+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r.env = append(c.env, append(r.env, "SNENS_CONFIG="+conf)...)
		for _, args := range [][]string{{"approve", "list"}, {"approve"}} {
			if status, _, stderr := r.run(append(args, c.args...)...); status != c.status {
				t.Errorf("%s: %d, %q", c.name, status, stderr)
			}
		}
	}
}

// A socket that another user serves gets nothing, whatever named it.
func TestApproveTrustsNoStranger(t *testing.T) {
	testneed.Root(t)
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	fake := filepath.Join(dir, "fake")
	listenAs(t, fake, 65534)
	r := newRunner(t)
	r.env = append(r.env, "SNENS_APPROVAL_SOCK="+fake)
	id := action.RequestID{1}.String()
	for _, args := range []string{"", "list", "--user list", "show " + id, "yes " + id + " --digest 000000000000", "no " + id, "kill " + id, "watch"} {
		status, stdout, stderr := r.run(append([]string{"approve"}, strings.Fields(args)...)...)
		if status != 69 || stdout != "" || !strings.Contains(stderr, "uid 65534 listens on it, not uid 0") {
			t.Errorf("%q: %d, %q, %q", args, status, stdout, stderr)
		}
	}
}
