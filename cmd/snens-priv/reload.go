package main

import (
	"strings"
	"time"

	"snens/broker/policy"
	"snens/internal/audit"
)

// reload loads the policy again. A fault leaves the one in force as it is; the
// faults are told, one per line of the error.
func (d *daemon) reload() (generation int, faults []string) {
	d.loading.Lock()
	defer d.loading.Unlock()
	tell(d.log, d.notify.Reloading())
	defer func() {
		tell(d.log, d.notify.Ready())
		d.tellStatus()
	}()
	if err := d.holder.Reload(); err != nil {
		d.log.Error("the policy stays as it was", "error", err)
		d.record(audit.Entry{Kind: audit.ReloadFailed, Detail: err.Error()})
		return 0, faultLines(err)
	}
	st := d.holder.Status()
	d.log.Info("loaded the policy", "generation", st.Generation, "rules", len(st.Policy.Rules))
	d.logNotes(st.Policy)
	d.record(audit.Entry{Kind: audit.Reload, Digest: policyDigest(st.Policy), Detail: count(len(st.Policy.Rules), "rule")})
	return st.Generation, nil
}

// record writes a record of something that has happened already.
func (d *daemon) record(e audit.Entry) {
	if err := d.audit.Append(time.Now(), e); err != nil {
		d.problem(err)
	}
}

// faultLines are the faults of a policy that does not load.
func faultLines(err error) []string {
	lines := strings.Split(strings.TrimRight(err.Error(), "\n"), "\n")
	if len(lines) > 1 { // the first only says that others follow
		return lines[1:]
	}
	lines[0] = strings.TrimPrefix(lines[0], "cannot use the policy: ")
	return lines
}

func (d *daemon) logNotes(p *policy.Policy) {
	for _, note := range p.Notes {
		d.log.Info("policy", "note", note)
	}
	for _, f := range p.Findings() {
		d.log.Warn("policy", "finding", f.String())
	}
}
