package main

import (
	"strings"
	"testing"
)

func TestSummary(t *testing.T) {
	const events = `{"Action":"start","Package":"p/a"}
{"Action":"output","Package":"p/a","Output":"-test.shuffle 42\n"}
{"Action":"run","Package":"p/a","Test":"TestGood"}
{"Action":"output","Package":"p/a","Test":"TestGood","Output":"quiet\n"}
{"Action":"pass","Package":"p/a","Test":"TestGood"}
{"Action":"output","Package":"p/a","Test":"TestSkip","Output":"=== RUN   TestSkip\n"}
{"Action":"output","Package":"p/a","Test":"TestSkip","Output":"    a_test.go:7: needs: root: really\n"}
{"Action":"output","Package":"p/a","Test":"TestSkip","Output":"--- SKIP: TestSkip (0.00s)\n"}
{"Action":"skip","Package":"p/a","Test":"TestSkip"}
{"Action":"output","Package":"p/a","Output":"PASS\n"}
{"Action":"output","Package":"p/a","Output":"ok  \tp/a\t0.1s\n"}
{"Action":"pass","Package":"p/a"}
not json
{"ImportPath":"p/c","Action":"build-output","Output":"c.go:1: broken\n"}
{"Action":"output","Package":"p/b","Output":"-test.shuffle 43\n"}
{"Action":"output","Package":"p/b","Test":"TestBad","Output":"    b_test.go:9: wrong\n"}
{"Action":"fail","Package":"p/b","Test":"TestBad"}
{"Action":"output","Package":"p/b","Output":"panic: at the end\n"}
{"Action":"output","Package":"p/b","Output":"FAIL\tp/b\t0.2s\n"}
{"Action":"fail","Package":"p/b"}
{"Action":"output","Package":"p/d","Output":"?   \tp/d\t[no test files]\n"}
{"Action":"skip","Package":"p/d"}`
	const want = `ok  	p/a	0.1s
not json
c.go:1: broken
    b_test.go:9: wrong
FAIL	p/b	0.2s
-test.shuffle 43
panic: at the end

skipped:
  p/a TestSkip: needs: root: really

failed:
  p/b TestBad

1 passed, 1 failed, 1 skipped
`
	var out strings.Builder
	sum, err := read(strings.NewReader(events), &out)
	if err != nil {
		t.Fatal(err)
	}
	sum.print(&out)
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}

func TestRunGivesGoTestsStatus(t *testing.T) {
	var out, errs strings.Builder
	if code := run([]string{"-run", "^TestNone$", "./no/such/folder"}, &out, &errs); code == 0 {
		t.Errorf("a run that tested nothing ended with 0; output:\n%s%s", out.String(), errs.String())
	}
}
