package discovery

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"strings"

	"snens/supervisor/tool"
)

// The cache file: magic, entries, CRC-32 of both. An entry is a row of
// strings (uvarint length, bytes) and 8-byte little-endian numbers, in the
// order of appendEntry. Nothing in it is trusted further than that a wrong
// byte makes the whole file worthless.
const cacheMagic = "snens tools cache 3\n"

// typicalEntry is the size of an entry of a small tool, to guess their number.
const typicalEntry = 400

var errCacheDamaged = errors.New("the cache is damaged")

func encodeCache(entries []entry) []byte {
	out := []byte(cacheMagic)
	for i := range entries {
		out = appendEntry(out, &entries[i])
	}
	// The IEEE polynomial: preparing Castagnoli's takes ten times as long, which
	// every start would pay.
	return binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}

func appendEntry(out []byte, e *entry) []byte {
	for _, s := range []string{e.path, e.scope, e.link, e.interp, e.env} {
		out = appendString(out, s)
	}
	for _, id := range []fileID{e.target, e.schemaID, e.helpID, e.interpID} {
		for _, n := range []uint64{id.dev, id.ino, uint64(id.size), uint64(id.mtime), uint64(id.ctim)} {
			out = binary.LittleEndian.AppendUint64(out, n)
		}
	}
	out = binary.LittleEndian.AppendUint64(out, uint64(e.written))
	stdin := ""
	if e.desc.NeedsStdin {
		stdin = "stdin"
	}
	for _, s := range []string{e.cause, e.desc.Essence, e.desc.Usage, string(e.desc.Source), stdin, e.schema, e.schemaNote} {
		out = appendString(out, s)
	}
	return out
}

func appendString(out []byte, s string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(s))), s...)
}

// decodeCache is the inverse of encodeCache. The entries share data's memory.
func decodeCache(data []byte) ([]entry, error) {
	if len(data) < len(cacheMagic)+4 || string(data[:len(cacheMagic)]) != cacheMagic {
		return nil, errCacheDamaged
	}
	body := data[:len(data)-4]
	if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(data[len(body):]) {
		return nil, errCacheDamaged
	}
	return decodeEntries(string(body[len(cacheMagic):]))
}

func decodeEntries(body string) ([]entry, error) {
	d := decoder{rest: body}
	entries := make([]entry, 0, len(body)/typicalEntry+1)
	for d.rest != "" && !d.bad {
		var e entry
		e.path, e.scope, e.link, e.interp, e.env = d.text(), d.text(), d.text(), d.text(), d.text()
		e.target, e.schemaID, e.helpID, e.interpID = d.id(), d.id(), d.id(), d.id()
		e.written = int64(d.number())
		e.cause, e.desc.Essence, e.desc.Usage = d.text(), d.text(), d.text()
		e.desc.Source = tool.Source(d.text())
		e.desc.NeedsStdin = d.flag("stdin")
		e.schema, e.schemaNote = d.text(), d.text()
		if d.bad || !e.sound() {
			return nil, errCacheDamaged
		}
		entries = append(entries, e)
	}
	return entries, nil
}

var sources = []tool.Source{tool.SourceHelpFile, tool.SourceComments, tool.SourceHelp}

// sound: the entry is one that this package writes.
func (e *entry) sound() bool {
	if e.path == "" || e.path[0] != '/' {
		return false
	}
	for _, s := range []string{e.cause, e.desc.Essence, e.desc.Usage, e.schemaNote} {
		if strings.ContainsAny(s, "\n\r") {
			return false
		}
	}
	return e.cause != "" || e.desc.Essence != "" && slices.Contains(sources, e.desc.Source)
}

// decoder reads from a string; after a fault it yields zero values.
type decoder struct {
	rest string
	bad  bool
}

func (d *decoder) take(n uint64) string {
	if n > uint64(len(d.rest)) {
		d.bad, d.rest = true, ""
		return ""
	}
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) text() string {
	var n uint64
	for shift := 0; ; shift += 7 {
		b := d.take(1)
		if b == "" || shift > 28 {
			d.bad = true
			return ""
		}
		n |= uint64(b[0]&0x7f) << shift
		if b[0] < 0x80 {
			if b[0] == 0 && shift > 0 { // one spelling for each length
				d.bad = true
			}
			return d.take(n)
		}
	}
}

func (d *decoder) number() uint64 {
	s := d.take(8)
	if s == "" {
		return 0
	}
	return binary.LittleEndian.Uint64([]byte(s))
}

func (d *decoder) id() fileID {
	return fileID{
		dev: d.number(), ino: d.number(), size: int64(d.number()),
		mtime: int64(d.number()), ctim: int64(d.number()),
	}
}

func (d *decoder) flag(word string) bool {
	s := d.text()
	d.bad = d.bad || s != "" && s != word
	return s == word
}
