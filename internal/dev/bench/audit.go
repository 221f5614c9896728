package main

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/internal/audit"
)

// auditSync is a record of the audit log that is on the disk when it returns,
// against bytes of the same length appended and synchronised bare. The head of
// the log, which tells what is missing, is a second file.
func (b *bench) auditSync() (r row, err error) {
	logs, state := filepath.Join(b.dir, "log"), filepath.Join(b.dir, "log-state")
	if err := errors.Join(os.Mkdir(logs, 0o750), os.Mkdir(state, 0o700)); err != nil {
		return row{}, err
	}
	w, err := audit.Open(audit.Options{Dir: logs, StateDir: state}, time.Now())
	if err != nil {
		return row{}, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	bare, err := os.OpenFile(filepath.Join(b.dir, "bare"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return row{}, err
	}
	defer bare.Close()
	line := make([]byte, 300)
	p, err := turns(200/b.div,
		func() error {
			return w.AppendSync(time.Now(), audit.Entry{Kind: audit.Spent, ID: action.RequestID{1}, Digest: action.DigestOf("x")})
		},
		func() error {
			_, err := bare.Write(line)
			return errors.Join(err, unix.Fdatasync(int(bare.Fd())))
		})
	return row{a: "record of the audit log, synchronised", b: "300 bytes appended, fdatasync", times: p}, err
}
