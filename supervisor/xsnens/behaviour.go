package xsnens

import (
	"math"
	"strconv"
	"strings"
	"time"

	"snens/internal/strictjson"
	"snens/supervisor/call"
)

// Output says what a tool prints.
type Output string

// The outputs; OutputText is what holds when the file says nothing.
const (
	OutputText   Output = "text"
	OutputJSON   Output = "json"
	OutputBinary Output = "binary"
)

// Limits are wishes of the tool's author. Zero means that nothing is said.
type Limits struct {
	Timeout time.Duration
	Grace   time.Duration
	Output  int64 // bytes kept of each stream
	Memory  int64 // bytes
	PIDs    int
}

// Hints are statements of the tool's author about its effects; nil means that
// nothing is said. They are shown, never trusted.
type Hints struct {
	ReadOnly    *bool `json:"read_only,omitempty"`
	Destructive *bool `json:"destructive,omitempty"`
	Idempotent  *bool `json:"idempotent,omitempty"`
	Network     *bool `json:"network,omitempty"`
}

// exit reads {"1": "empty", ...}.
func (l *loader) exit(v *strictjson.Value, path string) {
	r := l.object(v, path)
	if r == nil {
		return
	}
	l.out.exit = make(map[int]call.Class)
	for _, m := range v.Members {
		code, err := strconv.Atoi(m.Name)
		if err != nil || code < 0 || code > 255 || strconv.Itoa(code) != m.Name {
			r.fault(m.Name, "is no exit code; the keys are numbers from 0 to 255 in double quotes")
			continue
		}
		word, ok := r.word(m.Name, string(call.ClassOK), string(call.ClassEmpty), string(call.ClassRetry),
			string(call.ClassUsage), string(call.ClassError))
		if ok {
			l.out.exit[code] = call.Class(word)
		}
	}
}

func (l *loader) limits(v *strictjson.Value, path string) {
	r := l.object(v, path)
	if r == nil {
		return
	}
	r.only("timeout", "grace", "output", "memory", "pids")
	l.out.limits = Limits{
		Timeout: r.duration("timeout"),
		Grace:   r.duration("grace"),
		Output:  r.size("output"),
		Memory:  r.size("memory"),
	}
	if pids := r.v.Get("pids"); pids != nil {
		c := &compiler{f: &l.f}
		n, ok := c.count(pids, r.at("pids"))
		if ok && n == 0 {
			r.fault("pids", "must be at least 1")
		}
		l.out.limits.PIDs = n
	}
}

// maxDuration bounds a limit in time.
const maxDuration = 7 * 24 * time.Hour

// duration reads "90s", "1m30s", "1.5h" or a number of whole seconds.
func (r *reader) duration(key string) time.Duration {
	v := r.v.Get(key)
	if v == nil {
		return 0
	}
	var d time.Duration
	var err error
	text, ok := plainText(v)
	if ok && v.Kind == strictjson.Number {
		text += "s"
	}
	if ok {
		d, err = time.ParseDuration(text)
	}
	if !ok || err != nil || d <= 0 || d > maxDuration {
		r.fault(key, "must be a time such as \"30s\" or \"5m\", above zero and at most 168h, not %s", describe(v, false))
		return 0
	}
	return d
}

// size reads "64KiB" (units B, KiB, MiB, GiB) or a number of bytes.
func (r *reader) size(key string) int64 {
	v := r.v.Get(key)
	if v == nil {
		return 0
	}
	text, ok := plainText(v)
	shift := 0
	if ok && v.Kind == strictjson.String {
		switch {
		case strings.HasSuffix(text, "KiB"):
			shift = 10
		case strings.HasSuffix(text, "MiB"):
			shift = 20
		case strings.HasSuffix(text, "GiB"):
			shift = 30
		case strings.HasSuffix(text, "B"):
		default:
			ok = false
		}
		text = strings.TrimRight(text, "KMGiB")
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if !ok || err != nil || n <= 0 || n > math.MaxInt64>>shift {
		r.fault(key, "must be a size such as \"64KiB\" or \"512MiB\", or a number of bytes, above zero, not %s", describe(v, false))
		return 0
	}
	return n << shift
}

func (l *loader) hints(v *strictjson.Value, path string) {
	r := l.object(v, path)
	if r == nil {
		return
	}
	r.only("read_only", "destructive", "idempotent", "network")
	h := &l.out.hints
	for key, to := range map[string]**bool{
		"read_only": &h.ReadOnly, "destructive": &h.Destructive, "idempotent": &h.Idempotent, "network": &h.Network,
	} {
		m := v.Get(key)
		if m == nil {
			continue
		}
		if m.Kind != strictjson.Bool {
			r.fault(key, "must be true or false, not %s", describe(m, false))
			continue
		}
		b := m.Bool
		*to = &b
	}
	if h.ReadOnly != nil && *h.ReadOnly && h.Destructive != nil && *h.Destructive {
		r.fault("destructive", "a tool that only reads destroys nothing; keep one of the two")
	}
}
