package audit

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"time"

	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/strictjson"
)

// MaxLine is the longest line of the log, its end included.
const MaxLine = 512 << 10

// BoundaryNone is the boundary of a broker that runs without root.
const BoundaryNone = "none"

// Record is one line of the log.
type Record struct {
	Seq  uint64    // from 1
	Time time.Time // UTC, microseconds
	Entry
	// Boundary is BoundaryNone in the log of a broker that is no boundary, else empty.
	Boundary string
	Prev     action.Digest // hash of the record before
	Hash     action.Digest // of this one
}

// hashLabel stands before the hash at the end of a line; tailLen is how long
// the end of a line is from there, without the line end.
const (
	hashLabel = `,"hash":"`
	tailLen   = len(hashLabel) + 2*sha256.Size + len(`"}`)
)

// encode makes the line of a record, with its end, and sets its Hash. It is an
// error when the fields are not those of the kind.
func (r *Record) encode() ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("cannot record: %w", err)
	}
	form := shapes[r.Kind]
	m := []strictjson.Member{
		fields.Member("seq", fields.Uint(r.Seq)),
		fields.Member("time", fields.Text(action.FormatInstant(r.Time))),
		fields.Member("kind", fields.Text(string(r.Kind))),
	}
	for _, f := range table {
		if form.needs(f.name) || f.set(&r.Entry) {
			column := fields.Member(f.name, f.put(&r.Entry))
			if err := f.readable(column); err != nil {
				return nil, fmt.Errorf("cannot record: %w", err)
			}
			m = append(m, column)
		}
	}
	if r.Boundary != "" {
		m = append(m, fields.Member("boundary", fields.Text(r.Boundary)))
	}
	m = append(m, fields.Member("prev", fields.Text(r.Prev.String())))
	v := fields.Object(m...)
	line := v.JSON()
	line = line[:len(line)-1] // the closing brace comes after the hash
	r.Hash = sha256.Sum256(line)
	line = append(line, hashLabel...)
	line = append(line, r.Hash.String()...)
	line = append(line, "\"}\n"...)
	if len(line) > MaxLine {
		return nil, fmt.Errorf("cannot record: a %s record of %d bytes, at most %d are taken", r.Kind, len(line), MaxLine)
	}
	return line, nil
}

// frame is what the chain needs of a line, whatever its kind.
type frame struct {
	seq        uint64
	kind       string
	prev, hash action.Digest
	value      strictjson.Value
}

// readFrame checks a line (without its end) against its own hash and reads what
// chains it.
func readFrame(line []byte) (frame, error) {
	var f frame
	n := len(line) - tailLen
	if n < 0 || !bytes.HasPrefix(line[n:], []byte(hashLabel)) {
		return f, errors.New("it does not end with a hash")
	}
	f.hash = sha256.Sum256(line[:n])
	if string(line[n:]) != hashLabel+f.hash.String()+`"}` {
		return f, errors.New("its hash is not that of its content")
	}
	v, err := strictjson.Parse(line, strictjson.Options{MaxBytes: MaxLine, MaxDepth: 16, MaxTokens: 200_000})
	if err != nil {
		return f, err
	}
	f.value = v
	// Other fields are the kind's, which a newer version may know better.
	o := fields.Of(&v, "record")
	f.seq = o.Field("seq").Uint(math.MaxUint64)
	f.kind = o.Field("kind").String()
	f.prev = fields.Word(o.Field("prev"), action.ParseDigest)
	for _, m := range v.Members {
		o.Optional(m.Name)
	}
	return f, o.Close()
}

// ParseRecord reads one line, with or without its end. It accepts only what a
// Writer writes: the fields of the kind in their order, and the right hash.
func ParseRecord(line []byte) (Record, error) {
	line = bytes.TrimSuffix(line, []byte("\n"))
	f, err := readFrame(line)
	if err != nil {
		return Record{}, fmt.Errorf("cannot read the record: %w", err)
	}
	r := Record{Seq: f.seq, Prev: f.prev, Hash: f.hash}
	o := fields.Of(&f.value, "record")
	o.Field("seq")
	o.Field("prev")
	o.Field("hash")
	r.Time = fields.Word(o.Field("time"), action.ParseInstant)
	r.Kind = fields.Word(o.Field("kind"), ParseKind)
	form := shapes[r.Kind]
	for _, c := range table {
		if form.needs(c.name) {
			c.get(&r.Entry, o.Field(c.name))
		} else if form.takes(c.name) {
			if v, ok := o.Optional(c.name); ok {
				c.get(&r.Entry, v)
			}
		}
	}
	if v, ok := o.Optional("boundary"); ok {
		r.Boundary = fields.Word(v, func(s string) (string, error) { return oneOf("boundary", s, BoundaryNone) })
	}
	if err := o.Close(); err != nil {
		return Record{}, fmt.Errorf("cannot read the record: %w", err)
	}
	again := r
	if spelled, err := again.encode(); err != nil || !bytes.Equal(spelled[:len(spelled)-1], line) {
		return Record{}, errors.New("cannot read the record: it is not spelled as it would be written")
	}
	return r, nil
}
