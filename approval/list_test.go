package approval_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"snens/approval"
	"snens/approval/prompt"
	"snens/broker/action"
)

// crowded is a world in which 10,000 requests wait, five of each uid.
func crowded(t testing.TB) *world {
	w := newWorld(t, func(w *world, _ *approval.Options) { w.disk = false })
	for i := range 10_000 {
		s := w.submission(action.UID(100_000+i/5), fmt.Sprint(i))
		s.Claims.Reason = strings.Repeat("because ", 10)
		_, err := w.q.Submit(s)
		must(t, err)
	}
	return w
}

// A list is short when it is asked to be, however much there is.
func TestListOfMany(t *testing.T) {
	w := crowded(t)
	c := w.as(ann)
	began := time.Now()
	ids, last := c.list(`{"limit":100}`)
	t.Logf("100 of 10,000 took %s", time.Since(began))
	says(t, last, `{"count":100,"total":10000}`)
	began = time.Now()
	all, last := c.list(`{}`)
	t.Logf("all took %s", time.Since(began))
	says(t, last, `{"count":10000,"total":10000}`)
	if !slices.Equal(all[:100], ids) {
		t.Error("the oldest are not the first")
	}
	if ids, last := c.list(`{"limit":0}`); len(ids) != 0 || said(last) != `{"count":0,"total":10000}` {
		t.Errorf("listed %q, %s", ids, said(last))
	}
}

// What an approver waits for when 10,000 requests do.
func BenchmarkList100Of10000(b *testing.B) {
	w := crowded(b)
	c := w.as(ann)
	for b.Loop() {
		if ids, _ := c.list(`{"limit":100}`); len(ids) != 100 {
			b.Fatal(len(ids))
		}
	}
}

func TestListIsOldestFirst(t *testing.T) {
	w := newWorld(t)
	var want []string
	for i := range 5 {
		s, _ := w.pending(fmt.Sprint(i))
		want = append(want, s.ID.String())
	}
	for _, who := range []*client{w.as(ann), w.as(carl, ops), w.as(0)} {
		if ids, _ := who.list(`{}`); !slices.Equal(ids, want) {
			t.Errorf("listed %q, want %q", ids, want)
		}
	}
	ids, last := w.as(ann).list(`{"limit":2}`)
	if !slices.Equal(ids, want[:2]) {
		t.Errorf("listed %q", ids)
	}
	says(t, last, `{"count":2,"total":5}`)
}

// huge shows, besides what there is, a request that no line can hold.
type huge struct{ asQueue }

func (h huge) Pending(p prompt.Peer) []prompt.Pending {
	all := h.asQueue.Pending(p)
	first := all[0]
	first.About = strings.Repeat("x", 300<<10)
	return append([]prompt.Pending{first}, all...)
}

func (h huge) Show(p prompt.Peer, id action.RequestID) (prompt.Pending, error) {
	return h.Pending(p)[0], nil
}

// What cannot be shown hides nothing else.
func TestListGoesOnAfterWhatCannotBeShown(t *testing.T) {
	w := newWorld(t, func(w *world, _ *approval.Options) { w.huge = true })
	s, _ := w.pending("a")
	c := w.as(ann)
	ids, last := c.list(`{}`)
	if len(ids) != 1 || ids[0] != s.ID.String() {
		t.Errorf("listed %q", ids)
	}
	says(t, last, `{"count":1,"total":2}`)
	says(t, c.ask("show", about(s.ID)), "internal: "+action.ReasonInternal.Text())
	w.close()
	if len(w.problems) != 2 {
		t.Errorf("told of %v", w.problems)
	}
}
