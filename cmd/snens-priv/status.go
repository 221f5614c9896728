package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/strictjson"
)

// status is the answer to the method; its form is in the package comment.
func (d *daemon) status() strictjson.Value {
	text, member := fields.Text, fields.Member
	st, counts, head := d.holder.Status(), d.queue.Counts(), d.audit.Head()
	pol := []strictjson.Member{
		member("generation", fields.Int(int64(st.Generation))),
		member("digest", text(policyDigest(st.Policy).String())),
		member("rules", fields.Int(int64(len(st.Policy.Rules)))),
		member("files", fields.List(st.Policy.Files, text)),
	}
	if st.Err != nil {
		pol = append(pol, member("error", text(st.Err.Error())))
	}
	log := []strictjson.Member{
		member("count", fields.Uint(head.Count)), member("hash", text(head.Hash.String())), member("synced", fields.Uint(head.Synced)),
	}
	if err := d.audit.fault(); err != nil {
		log = append(log, member("error", text(err.Error())))
	}
	return fields.Object(
		member("version", text(version)),
		member("started", text(action.FormatInstant(d.started.UTC()))),
		member("uptime", text(action.FormatDuration(time.Since(d.started).Truncate(time.Millisecond)))),
		member("pid", fields.Int(int64(os.Getpid()))),
		member("boundary", text(d.setup.boundary())),
		member("memory", fields.Int(resident())),
		member("policy", fields.Object(pol...)),
		member("sockets", fields.List([]*listening{d.request, d.approval}, func(l *listening) strictjson.Value {
			return fields.Object(member("name", text(l.name)), member("path", text(l.path)), member("passed", fields.Bool(l.passed)))
		})),
		member("requests", fields.Object(
			member("pending", fields.Int(int64(counts.Pending))), member("running", fields.Int(int64(counts.Running))),
			member("live", fields.Int(int64(counts.Live))), member("unkillable", fields.Int(int64(d.executor.StuckAll()))),
		)),
		member("audit", fields.Object(log...)),
		member("groups", fields.Object(member("available", fields.Bool(d.tree != nil)), member("text", text(d.groups())))),
	)
}

// groups says where actions are kept together.
func (d *daemon) groups() string {
	if d.tree != nil {
		return d.tree.Describe()
	}
	return fmt.Sprint(d.noTree)
}

// boundary says what stands between the requester and what he asks for.
func (s *setup) boundary() string {
	if s.user {
		return "none"
	}
	return "root"
}

// resident is how much memory this process takes, in bytes; 0 when it cannot be
// told.
func resident() int64 {
	statm, err := os.ReadFile("/proc/self/statm")
	f := strings.Fields(string(statm))
	if err != nil || len(f) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(f[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// announce tells people and the service manager that it serves.
func (d *daemon) announce() {
	d.logNotes(d.holder.Current())
	if d.setup.user {
		d.log.Warn("boundary: none; a broker of one user guards against mistakes, any program of that user can get round it")
	}
	d.log.Info("serving", "version", version, "boundary", d.setup.boundary(), "request", d.request, "approval", d.approval,
		"rules", len(d.holder.Current().Rules), "groups", d.groups())
	tell(d.log, d.notify.Ready())
	d.tellStatus()
}

// tellStatus sets the line that systemctl status shows.
func (d *daemon) tellStatus() {
	st := d.holder.Status()
	line := fmt.Sprintf("serving, %s, generation %d of the policy", count(len(st.Policy.Rules), "rule"), st.Generation)
	if d.setup.user {
		line += ", boundary: none"
	}
	if st.Err != nil {
		line += ", the last reload FAILED: " + faultLines(st.Err)[0]
	}
	tell(d.log, d.notify.Status(line))
}
