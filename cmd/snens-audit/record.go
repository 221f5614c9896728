package main

import (
	"snens/internal/audit"
	"snens/internal/strictjson"
)

// record is a line of the log, as the log's own package reads it and as the
// object that it is.
type record struct {
	audit.Record
	object strictjson.Value
}

func parseRecord(line []byte) (record, error) {
	r, err := audit.ParseRecord(line)
	if err != nil {
		return record{}, err
	}
	v, err := strictjson.Parse(line, strictjson.Options{MaxBytes: audit.MaxLine, MaxTokens: 200_000})
	if err != nil {
		return record{}, err
	}
	return record{r, v}, nil
}

func (r *record) has(field string) bool { return r.object.Get(field) != nil }
