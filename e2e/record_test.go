package e2e

import (
	"encoding/json"
	"testing"
)

// record is the result of a call as its JSON has it.
type record struct {
	Tool       string
	CallID     string `json:"call_id"`
	OK         bool
	Class      string
	ExitCode   *int `json:"exit_code"`
	Signal     *string
	TimedOut   bool `json:"timed_out"`
	Cancelled  bool
	OOM        bool
	OutputOpen bool `json:"output_open"`
	Survivors  []struct {
		PID  int
		Name string
	}
	Capture        bool
	Content        string
	Stdout, Stderr *string
	Truncated      *struct{ Stdout, Stderr int64 }
	Spill          *struct {
		Stdout, Stderr string
		StdoutCapped   bool `json:"stdout_capped"`
		StderrCapped   bool `json:"stderr_capped"`
	}
	Data json.RawMessage
	Cwd  string
}

// out is the captured stdout.
func (r record) out() string {
	if r.Stdout == nil {
		return ""
	}
	return *r.Stdout
}

func readRecord(t testing.TB, text string) record {
	t.Helper()
	var r record
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("cannot read the record: %v\n%s", err, text)
	}
	return r
}

// call runs snens call --json and returns the exit status and the record.
func (w *world) call(args ...string) (int, record) {
	w.t.Helper()
	r := w.run(append([]string{"call", "--json"}, args...)...)
	return r.status, readRecord(w.t, r.stdout)
}
