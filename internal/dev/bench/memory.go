package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"snens/broker/client"
)

// What waits in a full broker: as much as it takes of as many users as that needs.
const (
	crowd     = 2000
	eachAsks  = 5
	firstUID  = 60_000
	idleMiB   = 20
	crowdMiB  = 64
	kibPerMiB = 1 << 10
)

// memory is what the broker has resident: after one request, when nothing is
// going on, and while as many requests wait as may.
func (b *bench) memory() (r row, err error) {
	uids := crowd / b.div
	from := make([]string, uids)
	for i := range from {
		from[i] = fmt.Sprintf("%q", fmt.Sprintf("uid:%d", firstUID+i))
	}
	br, err := b.startBroker("broker-memory", allowPolicy+`
[[rule]]
id       = "later"
decision = "ask"
command  = "/usr/bin/true"
args     = [{slot = "n", kind = "int", min = 1, max = 5}]
from     = [`+strings.Join(from, ", ")+`]
run_as   = {user = "root", group = "root"}
detach   = true
approve  = {from = ["uid:47102"], ttl = "1h"}
`)
	if err != nil {
		return row{}, err
	}
	defer func() { err = errors.Join(err, br.stop()) }()
	if err := br.ask(uidAsker, client.Request{Command: client.Command{Rule: "nothing"}}); err != nil {
		return row{}, err
	}
	idle, err := br.resident()
	if err != nil {
		return row{}, err
	}
	for i := range uids {
		var requests []client.Request
		for n := range eachAsks {
			requests = append(requests, client.Request{
				Command: client.Command{Rule: "later", Slots: map[string][]string{"n": {fmt.Sprint(n + 1)}}}, Detach: true,
			})
		}
		if err := br.ask(firstUID+i, requests...); err != nil {
			return row{}, err
		}
	}
	full, err := br.resident()
	return row{a: "snens-priv serve", b: "-", notes: []note{
		{fmt.Sprintf("resident %.1f MiB idle (below %d)", float64(idle)/kibPerMiB, idleMiB), idle < idleMiB*kibPerMiB},
		{fmt.Sprintf("%.1f MiB with %d waiting (below %d)", float64(full)/kibPerMiB, uids*eachAsks, crowdMiB), full < crowdMiB*kibPerMiB},
	}}, err
}

// ask makes requests as a user, one after the other.
func (br *broker) ask(uid int, requests ...client.Request) error {
	return asUser(uid, uidAsker, func() error {
		c, err := client.Dial(context.Background(), client.Options{Socket: br.request})
		if err != nil {
			return err
		}
		defer c.Close()
		for _, q := range requests {
			result, err := c.Run(context.Background(), q, nil)
			if err != nil {
				return err
			}
			if result.Ours() && !q.Detach {
				return fmt.Errorf("the command ended %s", result.State)
			}
		}
		return nil
	})
}
