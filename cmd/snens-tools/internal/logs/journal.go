package logs

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// maxEntry is the longest line of journalctl's JSON that is read.
const maxEntry = 4 << 20

// journal reads newest first, so that a bounded number of entries costs the
// same in a large journal.
func (s Source) journal(c *collector) error {
	cmd := exec.Command(s.Journalctl, journalArguments(c.request)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "SYSTEMD_COLORS=0", "SYSTEMD_PAGER=cat")
	var stderr limitedBuffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("cannot make a pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return refuse("", "cannot start journalctl: %v", err)
	}
	stopped, readErr := readEntries(out, c)
	if stopped {
		// It would go on to the beginning of the journal.
		_ = cmd.Process.Kill()
	}
	err = cmd.Wait()
	said := strings.TrimSpace(stderr.String())
	var exit *exec.ExitError
	switch {
	case readErr != nil:
		return fmt.Errorf("cannot read what journalctl prints: %w", readErr)
	case stopped || err == nil:
	case errors.As(err, &exit) && exit.ExitCode() == 1 && said == "":
		// Some releases end so when nothing was found.
	default:
		return refuse("", "journalctl failed: %v: %s", err, said)
	}
	for line := range strings.Lines(said) {
		c.notes = append(c.notes, "journalctl: "+strings.TrimSpace(line))
	}
	return nil
}

func journalArguments(r Request) []string {
	args := []string{
		"--no-pager", "--quiet", "--reverse", "--output=json", "--all",
		"--output-fields=MESSAGE,PRIORITY,SYSLOG_IDENTIFIER,_COMM,_PID,SYSLOG_PID",
	}
	if r.Unit != "" {
		args = append(args, "--unit="+r.Unit)
	}
	if r.Priority != "" {
		args = append(args, "--priority="+r.Priority)
	}
	if !r.Since.IsZero() {
		args = append(args, fmt.Sprintf("--since=@%d", r.Since.Unix()))
	}
	if !r.Until.IsZero() {
		args = append(args, fmt.Sprintf("--until=@%d", r.Until.Unix()))
	}
	return args
}

// readEntries hands entries to c until it has enough, or scanEntries were
// looked at; then it says that it stopped before the end.
func readEntries(r io.Reader, c *collector) (stopped bool, err error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxEntry)
	damaged := 0
	defer func() {
		if damaged > 0 {
			c.notes = append(c.notes, fmt.Sprintf("%d entries could not be read", damaged))
		}
	}()
	for n := 0; in.Scan(); n++ {
		if n == scanEntries {
			c.notes = append(c.notes, fmt.Sprintf("only the newest %d entries were searched; use until to go further back", n))
			return true, nil
		}
		text, at, err := entryText(in.Bytes())
		if err != nil {
			damaged++
			continue
		}
		if !c.take(text, at) {
			return true, nil
		}
	}
	return false, in.Err()
}

// journalEntry is one line of journalctl --output=json. Fields are strings;
// where the value is not UTF-8 an array of bytes, where a field occurs several
// times an array of such.
type journalEntry struct {
	Time       json.RawMessage `json:"__REALTIME_TIMESTAMP"` // microseconds since 1970
	Message    json.RawMessage `json:"MESSAGE"`
	Priority   json.RawMessage `json:"PRIORITY"`
	Identifier json.RawMessage `json:"SYSLOG_IDENTIFIER"`
	Comm       json.RawMessage `json:"_COMM"`
	PID        json.RawMessage `json:"_PID"`
	SyslogPID  json.RawMessage `json:"SYSLOG_PID"`
}

// entryText is "TIME NAME[PID]: LEVEL: MESSAGE"; the level is named from
// warning upwards.
func entryText(line []byte) (string, time.Time, error) {
	var e journalEntry
	if err := json.Unmarshal(line, &e); err != nil {
		return "", time.Time{}, err
	}
	micros, err := strconv.ParseInt(journalValue(e.Time), 10, 64)
	if err != nil {
		return "", time.Time{}, err
	}
	at := time.UnixMicro(micros)
	var b strings.Builder
	b.WriteString(at.Format(time.RFC3339))
	if name := first(journalValue(e.Identifier), journalValue(e.Comm)); name != "" {
		b.WriteString(" " + name)
	}
	if pid := first(journalValue(e.PID), journalValue(e.SyslogPID)); pid != "" {
		b.WriteString("[" + pid + "]")
	}
	b.WriteString(": ")
	if p, err := strconv.Atoi(journalValue(e.Priority)); err == nil && p >= 0 && p <= 4 {
		b.WriteString(Priorities()[p] + ": ")
	}
	b.WriteString(journalValue(e.Message))
	return b.String(), at, nil
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

func journalValue(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var numbers []int
	if json.Unmarshal(raw, &numbers) == nil {
		b := make([]byte, len(numbers))
		for i, n := range numbers {
			b[i] = byte(n)
		}
		return string(b)
	}
	var many []json.RawMessage
	if json.Unmarshal(raw, &many) == nil && len(many) > 0 && many[0][0] != '[' {
		return journalValue(many[0])
	}
	return ""
}

// limitedBuffer keeps the first few hundred bytes.
type limitedBuffer struct{ strings.Builder }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	const most = 600
	b.Builder.Write(p[:min(len(p), most-min(b.Len(), most))])
	return len(p), nil
}
