package audit_test

import (
	"reflect"
	"testing"
	"time"

	"snens/broker/action"
	"snens/internal/audit"
)

func TestRefusalsAreSummarised(t *testing.T) {
	var r audit.Refusals
	second := now.Truncate(time.Second)
	at := func(ms int) time.Time { return second.Add(time.Duration(ms) * time.Millisecond) }
	if _, due := r.Due(); due || r.Flush() != nil {
		t.Error("nothing was counted")
	}
	for i := range 10_000 {
		if out := r.Add(at(i/11), 1000, action.ReasonBusy); out != nil {
			t.Fatalf("a record within the second: %+v", out)
		}
	}
	r.Add(at(500), 1001, action.ReasonDenied)
	r.Add(at(200), 1001, action.ReasonBusy) // the clock was set back
	r.Add(at(-5000), 1001, action.ReasonDenied)
	r.Add(at(999), 1001, 0)
	if due, ok := r.Due(); !ok || !due.Equal(at(1000)) {
		t.Errorf("due at %v, %v", due, ok)
	}
	want := []audit.Entry{
		{Kind: audit.RefusedSummary, UID: 1000, Count: 10_000, First: at(0), Last: at(909), Reasons: []audit.ReasonCount{{Reason: action.ReasonBusy, Count: 10_000}}},
		{Kind: audit.RefusedSummary, UID: 1001, Count: 4, First: at(500), Last: at(999), Reasons: []audit.ReasonCount{
			{Reason: action.ReasonDenied, Count: 2}, {Reason: action.ReasonBusy, Count: 1}, {Reason: action.ReasonInternal, Count: 1},
		}},
	}
	if got := r.Add(at(1000), 1000, action.ReasonBusy); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := r.Flush(); len(got) != 1 || got[0].Count != 1 || !got[0].First.Equal(at(1000)) {
		t.Errorf("the next second: %+v", got)
	}
}

// Many uids in one second are bounded too, and nobody is counted twice.
func TestRefusalsOfManyUIDs(t *testing.T) {
	var r audit.Refusals
	for uid := range action.UID(5000) {
		r.Add(now, uid, action.ReasonDenied)
	}
	dir := t.TempDir()
	w := open(t, options(dir, 1<<20))
	out := r.Flush()
	var sum uint64
	for _, e := range out {
		sum += e.Count
		must(t, w.Append(now, e))
	}
	if len(out) != 257 || out[256].Kind != audit.RefusedOthers || sum != 5000 {
		t.Errorf("%d records of %d refusals, the last is %s", len(out), sum, out[len(out)-1].Kind)
	}
}
