package audit_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"snens/broker/action"
	"snens/internal/audit"
)

var (
	id     = action.RequestID{1}
	digest = action.DigestOf("x")
)

func sealed(t testing.TB) *action.Sealed {
	t.Helper()
	s, err := action.Seal(action.Request{
		Argv: []string{"true", "\x80"}, Executable: action.File{Path: "/bin/true", SHA256: digest}, Cwd: "/", Timeout: time.Second,
		Stdin: action.Stdin{Mode: action.StdinSealed, Content: "a\nb"}, Rule: "r", RuleDigest: digest,
		Expires: time.Unix(2e9, 0).UTC(), Nonce: action.Nonce{1}, Install: action.InstallID{1},
	})
	must(t, err)
	return s
}

func ended(state action.State, why action.Reason) *action.Result {
	return &action.Result{ID: id, State: state, Reason: why, Started: now}
}

// samples has one entry of each kind with every field that it may have.
func samples(t testing.TB) []audit.Entry {
	seen := &action.Seen{PID: 7, Exe: "/bin/\xff", Login: action.Login{UID: 0, Set: true}}
	sum := []audit.ReasonCount{{Reason: action.ReasonDenied, Count: 3}}
	return []audit.Entry{
		{Kind: audit.Received, ID: id, UID: 0, GID: 0, Argv: []string{"x\n", ""}, Rule: "r", Claims: &action.Claims{Reason: "\x1b"}, Seen: seen},
		{Kind: audit.Decided, ID: id, Decision: "ask", Rule: "r", RuleDigest: digest, Request: sealed(t), Digest: digest, Reason: action.ReasonDenied, Detail: "d"},
		{Kind: audit.Pending, ID: id, Digest: digest},
		{Kind: audit.Vote, ID: id, UID: 7, Digest: digest, Vote: action.Approve, Principal: "a@b", Presence: "sshsig", Seen: seen},
		{Kind: audit.VoteRefused, ID: id, UID: 7, Reason: action.ReasonSelfApproval, Digest: digest, Principal: "a", Seen: seen, Detail: "d"},
		{Kind: audit.Approved, ID: id, Digest: digest, Lifespan: action.Once, Detail: "d"},
		{Kind: audit.Spent, ID: id, Digest: digest},
		{Kind: audit.Started, ID: id, PID: 1, Detail: "/cgroup"},
		{Kind: audit.Exited, ID: id, Result: ended(action.Exited, action.ReasonExited), Detail: "d"},
		{Kind: audit.Denied, ID: id, Result: ended(action.Denied, action.ReasonDenied), UID: 7, Detail: "d"},
		{Kind: audit.Expired, ID: id, Result: ended(action.Expired, action.ReasonExpired), Detail: "d"},
		{Kind: audit.Cancelled, ID: id, Result: ended(action.Cancelled, action.ReasonShutdown), Detail: "d"},
		{Kind: audit.Stale, ID: id, Result: ended(action.Stale, action.ReasonStaleFile), Digest: digest, NewDigest: digest, Detail: "d"},
		{Kind: audit.FailedToStart, ID: id, Result: ended(action.FailedToStart, action.ReasonCannotStart), Detail: "d"},
		{Kind: audit.Lost, ID: id, Result: ended(action.Lost, action.ReasonLost), Detail: "d"},
		{Kind: audit.Kill, ID: id, UID: 0, Seen: seen, Detail: "d"},
		{Kind: audit.Granted, ID: id, UID: 7, Digest: digest, Lifespan: action.Lifespan(time.Hour), Detail: "d"},
		{Kind: audit.Revoked, ID: id, UID: 7, Seen: seen, Detail: "d"},
		{Kind: audit.Refused, UID: 7, Reason: action.ReasonDenied, ID: id, Seen: seen, Detail: "d"},
		{Kind: audit.RefusedSummary, UID: 7, Count: 3, First: now, Last: now.Add(time.Second), Reasons: sum},
		{Kind: audit.RefusedOthers, Count: 3, First: now, Last: now, Reasons: sum},
		{Kind: audit.Start, Version: "1", Install: action.InstallID{1}, Detail: "boundary: none"},
		{Kind: audit.Stop, Detail: "d"},
		{Kind: audit.Reload, Digest: digest, Detail: "d"},
		{Kind: audit.ReloadFailed, Digest: digest, Detail: "d"},
		{Kind: audit.Rotated, File: "audit-1.jsonl"},
		{Kind: audit.Torn, File: "f", Offset: 0, Bytes: 4, Digest: digest, Detail: "{\"\x00"},
		{Kind: audit.Gap, MissingFrom: 1, MissingTo: 2, Unsynced: false},
		{Kind: audit.Damaged, File: "f", Line: 3, Detail: "d"},
		{Kind: audit.HeadLost, Detail: "d"},
	}
}

func TestEveryKindComesBack(t *testing.T) {
	dir := t.TempDir()
	o := options(dir, 1<<20)
	o.Boundary = audit.BoundaryNone
	w := open(t, o)
	want := samples(t)
	for _, e := range want {
		if err := w.Append(now, e); err != nil {
			t.Errorf("%s: %v", e.Kind, err)
		}
	}
	must(t, w.Close())
	got := records(t, dir)
	seen := map[audit.Kind]bool{}
	for i, r := range got {
		seen[r.Kind] = true
		if r.Seq != uint64(i+1) || !r.Time.Equal(now) || r.Boundary != "none" {
			t.Errorf("record %d: %d, %v, %q", i+1, r.Seq, r.Time, r.Boundary)
		}
		if a, b := r.Request, want[i].Request; a != nil && b != nil && a.Digest() == b.Digest() {
			r.Request = b
		}
		if !reflect.DeepEqual(r.Entry, want[i]) {
			t.Errorf("came back as %+v\nwas %+v", r.Entry, want[i])
		}
	}
	for _, k := range audit.Kinds() {
		if !seen[k] {
			t.Errorf("there is no sample of %s", k)
		}
	}
	sound(t, dir)
}

// The format by its description alone: the hash covers the line up to the comma
// before it, prev is that of the line before.
func TestTheLineByHand(t *testing.T) {
	dir := t.TempDir()
	w := open(t, options(dir, 1<<20))
	must(t, w.Append(now, audit.Entry{Kind: audit.Stop}))
	must(t, w.Append(now, audit.Entry{Kind: audit.ReloadFailed, Detail: "a\n<b>"}))
	prev := strings.Repeat("0", 64)
	want := ""
	for i, middle := range []string{`"kind":"stop"`, `"kind":"reload_failed","detail":"a\n<b>"`} {
		body := fmt.Sprintf(`{"seq":%d,"time":"2030-01-02T03:04:05.678901Z",%s,"prev":"%s"`, i+1, middle, prev)
		prev = fmt.Sprintf("%x", sha256.Sum256([]byte(body)))
		want += body + `,"hash":"` + prev + "\"}\n"
	}
	got, err := os.ReadFile(segments(t, dir)[0])
	must(t, err)
	if string(got) != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for line := range bytes.Lines(got) {
		if !json.Valid(line) {
			t.Errorf("no JSON: %s", line)
		}
	}
}

func TestEntriesThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	w := open(t, options(dir, 1<<20))
	for _, c := range []struct {
		want string
		e    audit.Entry
	}{
		{"no kind", audit.Entry{}},
		{"no kind", audit.Entry{Kind: "allowed"}},
		{"needs id", audit.Entry{Kind: audit.Spent, Digest: digest}},
		{"needs digest", audit.Entry{Kind: audit.Spent, ID: id}},
		{"has no uid", audit.Entry{Kind: audit.Spent, ID: id, Digest: digest, UID: 1}},
		{"has no detail", audit.Entry{Kind: audit.Spent, ID: id, Digest: digest, Detail: "x"}},
		{"needs vote", audit.Entry{Kind: audit.Vote, ID: id, Digest: digest}},
		{"needs result", audit.Entry{Kind: audit.Exited, ID: id}},
		{"another request or state", audit.Entry{Kind: audit.Exited, ID: action.RequestID{9}, Result: ended(action.Exited, action.ReasonExited)}},
		{"another request or state", audit.Entry{Kind: audit.Exited, ID: id, Result: ended(action.Denied, action.ReasonDenied)}},
		{"no reason for the state", audit.Entry{Kind: audit.Denied, ID: id, Result: ended(action.Denied, action.ReasonExited)}},
		{"an id that is none", audit.Entry{Kind: audit.Kill, ID: id, UID: action.NoID}},
		{"at most", audit.Entry{Kind: audit.Received, ID: id, Argv: []string{strings.Repeat("x", audit.MaxLine)}}},
		{"allowed are [allow ask deny]", audit.Entry{Kind: audit.Decided, ID: id, Decision: "maybe"}},
		{"no rule id", audit.Entry{Kind: audit.Decided, ID: id, Decision: "ask", Rule: "-"}},
		{"no decision", audit.Entry{Kind: audit.Vote, ID: id, Digest: digest, Vote: 9}},
		{"no reason code", audit.Entry{Kind: audit.Refused, Reason: 200}},
		{"no lifespan", audit.Entry{Kind: audit.Approved, ID: id, Digest: digest, Lifespan: 2}},
	} {
		if err := w.Append(now, c.e); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.e, err, c.want)
		}
	}
	if w.Head().Count != 0 {
		t.Errorf("%d records", w.Head().Count)
	}
}

func TestLongDetailsAreCut(t *testing.T) {
	dir := t.TempDir()
	w := open(t, options(dir, 1<<20))
	for _, fill := range []string{"x", "é", "\u202e", "\x80", "\x00"} {
		must(t, w.Append(now, audit.Entry{Kind: audit.Stop, Detail: strings.Repeat(fill, audit.MaxDetail)}))
		must(t, w.Append(now, audit.Entry{Kind: audit.Stop, Detail: strings.Repeat(fill, 3000)}))
	}
	for i, r := range records(t, dir) {
		whole := i%2 == 0 && (i == 0 || i > 5)
		if len(r.Detail) > audit.MaxDetail || strings.HasSuffix(r.Detail, " [cut]") == whole {
			t.Errorf("record %d has a detail of %d bytes, ending in %q", i+1, len(r.Detail), r.Detail[len(r.Detail)-8:])
		}
	}
}

func TestParseRecordRefuses(t *testing.T) {
	dir := written(t, 2, 1<<20)
	data, err := os.ReadFile(segments(t, dir)[0])
	must(t, err)
	line, _, _ := strings.Cut(string(data), "\n")
	body, _, _ := strings.Cut(line, `,"hash"`)
	rehash := func(body string) string {
		return fmt.Sprintf(`%s,"hash":"%x"}`, body, sha256.Sum256([]byte(body)))
	}
	if _, err := audit.ParseRecord([]byte(rehash(body))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to string }{
		{`"seq":1`, `"seq":1.0`},
		{`"seq":1`, `"seq":01`},
		{`"seq":1`, `"seq": 1`},
		{`"kind":"spent"`, `"kind":"spend"`},
		{`"kind":"spent"`, `"kind":"pending","x":1`},
		{`"kind":"spent"`, `"kind":"spent","uid":1`},
		{`"time":"2030-01-02T03:04:05.678901Z"`, `"time":"2030-01-02T03:04:05Z"`},
		{`"seq":1,`, `"seq":1,"seq":1,`},
		{`{"seq":1,`, `{"boundary":"none","seq":1,`},
		{`,"prev"`, `,"boundary":"some","prev"`},
	} {
		changed := strings.Replace(body, c.from, c.to, 1)
		if changed == body {
			t.Errorf("%s is not in %s", c.from, body)
		}
		if r, err := audit.ParseRecord([]byte(rehash(changed))); err == nil {
			t.Errorf("accepted %s as %+v", changed, r)
		}
	}
	for _, bad := range []string{"", "{}", line[1:], line + " ", line + "\n\n", strings.ToUpper(line)} {
		if _, err := audit.ParseRecord([]byte(bad)); err == nil {
			t.Errorf("accepted %q", bad)
		}
	}
}

func FuzzParseRecord(f *testing.F) {
	dir := f.TempDir()
	w, err := audit.Open(options(dir, 1<<20), now)
	must(f, err)
	for _, e := range samples(f) {
		must(f, w.Append(now, e))
	}
	data, err := os.ReadFile(segments(f, dir)[0])
	must(f, err)
	must(f, w.Close())
	for line := range bytes.Lines(data) {
		body, _, _ := bytes.Cut(line, []byte(`,"hash"`))
		f.Add(body)
	}
	// The fuzzer cannot guess a hash: it changes what the hash is made of.
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := audit.ParseRecord(body); err == nil {
			t.Fatalf("without a hash: %q", body)
		}
		line := fmt.Appendf(bytes.Clone(body), `,"hash":"%x"}`, sha256.Sum256(body))
		r, err := audit.ParseRecord(line)
		if err == nil && (r.Hash != sha256.Sum256(body) || !json.Valid(line)) {
			t.Fatalf("%q became %+v", line, r)
		}
	})
}
