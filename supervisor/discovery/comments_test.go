package discovery_test

import (
	"strings"
	"testing"

	"snens/supervisor/discovery"
	"snens/supervisor/tool"
)

func TestHeaderComments(t *testing.T) {
	for _, c := range []struct {
		head           string
		essence, usage string // essence "" means: not a description
	}{
		{"#!/bin/sh\n# wc — counts.\n# wc FILE\npath=\"\"\n", "wc — counts.", "wc FILE"},
		{"#!/bin/sh\n# wc – counts.\n# wc FILE\n", "wc – counts.", "wc FILE"},
		{"#!/bin/sh\n# wc - counts.\n# wc FILE\n", "wc - counts.", "wc FILE"},
		{"#!/bin/sh\n# wc -- counts.\n# wc FILE\n", "wc -- counts.", "wc FILE"},
		{"#!/bin/sh\n# wc: counts.\n# wc FILE\n", "wc: counts.", "wc FILE"},
		{"#!/bin/sh\n#wc — counts.\n#   wc\n", "wc — counts.", "wc"},
		{"#!/bin/sh\n\n#\n# wc — counts.\n#\n# wc FILE", "wc — counts.", "wc FILE"},
		{"#!/bin/sh\n# wc — counts stdin.\n# wc FILE", "wc — counts stdin.", "wc FILE"},
		{"#!/bin/sh\n# wc — \x1b[1mcounts\x1b[0m.\n# wc FILE", "wc — counts.", "wc FILE"},

		{"#!/bin/sh\n# wc — counts.\nset -e\n# wc FILE\n", "", ""},
		{"#!/bin/sh\n# wc — counts.\n", "", ""},
		{"#!/bin/sh\n# wc — counts.\n# Usage: wc FILE\n", "", ""},
		{"#!/bin/sh\n# Copyright\n# wc — counts.\n# wc FILE\n", "", ""},
		{"#!/bin/sh\n# wcx — counts.\n# wcx FILE\n", "", ""},
		{"#!/bin/sh\n# wc — counts.\n# wcx FILE\n", "", ""},
		{"#!/bin/sh\n# wc —\n# wc FILE\n", "", ""},
		{"#!/bin/sh\n# wc—counts.\n# wc FILE\n", "", ""},
		{"#!/bin/sh\n# wc counts.\n# wc FILE\n", "", ""},
		{"# wc — counts.\n# wc FILE\n", "", ""},
		{"#!/bin/sh", "", ""},
		{"", "", ""},
	} {
		d, ok := discovery.DescribeComments(c.head, "wc")
		if ok != (c.essence != "") || d.Essence != c.essence || d.Usage != c.usage {
			t.Errorf("%q\n got %v %q, %q", c.head, ok, d.Essence, d.Usage)
		}
		if d.NeedsStdin != strings.Contains(c.essence+c.usage, "stdin") {
			t.Errorf("%q: stdin %v", c.head, d.NeedsStdin)
		}
	}
	if d, ok := discovery.DescribeComments("#!/bin/sh\n# usage — tells.\n# usage X\n", "usage"); !ok || d.Essence != "tool usage" {
		t.Errorf("a tool named usage: %v %+v", ok, d)
	}
}

func FuzzDescribeComments(f *testing.F) {
	f.Add("#!/bin/sh\n# x — y\n# x z\n")
	f.Add("#!\n#\n#x:y\n#x")
	f.Fuzz(func(t *testing.T, head string) {
		d, ok := discovery.DescribeComments(head, "x")
		if ok != (d != tool.Description{}) {
			t.Fatalf("%v with %+v", ok, d)
		}
		checkLine(t, d.Essence)
		checkLine(t, d.Usage)
	})
}
