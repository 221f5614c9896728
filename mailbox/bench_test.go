package mailbox_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"snens/mailbox"
)

// BenchmarkSendReceiveAck reports "ratio": the time of a message that is sent,
// claimed and acknowledged, over that of the same file operations bare, the two
// taken in turns.
func BenchmarkSendReceiveAck(b *testing.B) {
	box, dir := box(b, mailbox.Options{})
	m := text("a task of ordinary size, " + dir)
	sample, err := m.Encode()
	if err != nil {
		sample = make([]byte, 300)
	}
	var ours, bare time.Duration
	i := 0
	for b.Loop() {
		begin := time.Now()
		_, err := box.Send(m)
		must(b, err)
		c, err := box.Receive(0)
		must(b, err)
		must(b, c.Ack())
		middle := time.Now()
		bareMessage(b, dir, "bare"+strconv.Itoa(i), sample)
		ours += middle.Sub(begin)
		bare += time.Since(middle)
		i++
	}
	b.ReportMetric(float64(ours)/float64(bare), "ratio")
}

func bareMessage(b *testing.B, dir, name string, data []byte) {
	tmp, fresh, cur := filepath.Join(dir, "tmp", name), filepath.Join(dir, "new", name), filepath.Join(dir, "cur", name)
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	must(b, err)
	_, err = f.Write(data)
	must(b, err)
	must(b, f.Sync())
	must(b, f.Close())
	must(b, os.Rename(tmp, fresh))
	d, err := os.Open(filepath.Join(dir, "new"))
	must(b, err)
	must(b, d.Sync())
	must(b, d.Close())
	must(b, os.Rename(fresh, cur))
	_, err = os.ReadFile(cur)
	must(b, err)
	must(b, os.Remove(cur))
}
