package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// typedTool is a small typed tool that shows what it got.
func typedTool(b *bench) {
	b.tool("show", `for a in "$@"; do printf '<%s>' "$a"; done; [ "$1" = in ] && cat; echo; [ "$1" != fail ]`+"\n")
	b.file("show/schema.json", `{
  "type": "object",
  "properties": {
    "word": {"type": "string", "description": "A word", "enum": ["in", "out", "fail"]},
    "n": {"type": "integer", "description": "A number"},
    "loud": {"type": "boolean", "description": "Loudly"},
    "tags": {"type": "array", "items": {"type": "string"}, "description": "Tags"},
    "text": {"type": "string", "description": "What goes to stdin"}
  },
  "required": ["word"],
  "x-snens": {
    "argv": [{"field": "word"}, {"flag": "--n", "field": "n"}, {"flag": "--loud", "when_field": "loud"}, {"flag": "--tag", "field": "tags", "each": true}],
    "stdin": {"mode": "field", "field": "text"},
    "examples": [{"in": {"word": "out", "n": 3}, "argv": ["out", "--n=3"]}]
  }
}
`, 0o644)
}

func TestWordsOfATypedTool(t *testing.T) {
	b := newBench(t)
	typedTool(b)
	content := b.file("content", "from a file", 0o644)
	for _, c := range []struct {
		name, stdin, args string
		status            int
		stdout            string
	}{
		{"text", "", "word=out n=3 loud=true", 0, "<out><--n=3><--loud>\n"},
		{"JSON", "", `word:="out" n:=4 tags:=["a","b"]`, 0, "<out><--n=4><--tag=a><--tag=b>\n"},
		{"an array of one", "", "word=out tags=a", 0, "<out><--tag=a>\n"},
		{"an array of several", "", "word=out tags=a tags=b", 0, "<out><--tag=a><--tag=b>\n"},
		{"a file", "", "word=in text@=" + content, 0, "<in>from a file\n"},
		{"stdin", "from stdin", "word=in text@=-", 0, "<in>from stdin\n"},
		{"stdin that no field takes", "not read", "word=in", 0, "<in>\n"},
		{"--args", "", `--args {"word":"out","n":5}`, 0, "<out><--n=5>\n"},
		{"--args from stdin", `{"word":"out"}`, "--args -", 0, "<out>\n"},
		{"words behind --", "", "-- word=out", 0, "<out>\n"},
		{"the tool's own status", "", "word=fail", 1, "<fail>\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, stdout, stderr := b.run(c.stdin, append([]string{"call", "show"}, strings.Fields(c.args)...)...)
			if status != c.status || stdout != c.stdout || stderr != "" {
				t.Errorf("got %d, %q, %q; want %d, %q", status, stdout, stderr, c.status, c.stdout)
			}
		})
	}
}

func TestRefusedArguments(t *testing.T) {
	b := newBench(t)
	typedTool(b)
	for _, c := range []struct{ args, says, hint string }{
		{"wrod=out", `did you mean "word"?`, "snens tools show"},
		{"out", `names no field`, "snens tools show"},
		{"word=out n=x", "n: ", ""},
		{"n=3", "word: ", ""},
		{"word=out word=in", "is given twice", ""},
		{"word=sideways", "word: ", ""},
		{`--args {"word":"out"} n=3`, "beside --args", "leave --args out"},
		{"--args @/no/such/file", "cannot read what --args names", ""},
		{"--args {", "", ""},
		{`--args []`, "", ""},
	} {
		t.Run(c.args, func(t *testing.T) {
			status, stdout, stderr := b.run("", append([]string{"call", "show"}, strings.Fields(c.args)...)...)
			if status != 125 || stdout != "" || !strings.HasPrefix(stderr, "snens: cannot ") || !strings.Contains(stderr, c.says) {
				t.Errorf("got %d, stdout %q, stderr:\n%s", status, stdout, stderr)
			}
			if _, hint, _ := strings.Cut(stderr, "\nhint: "); !strings.Contains(hint, c.hint) {
				t.Errorf("the hint is %q, want %q in it", hint, c.hint)
			}
		})
	}
}

func TestWordsOfAGenericTool(t *testing.T) {
	b := newBench(t)
	b.tool("words", `for a in "$@"; do printf '<%s>' "$a"; done; cat; echo`+"\n")
	for _, c := range []struct {
		name   string
		args   []string
		stdout string
	}{
		{"as they are", []string{"words", "a b", "", "f=x", "*"}, "<a b><><f=x><*>stdin\n"},
		{"options", []string{"words", "--", "-n", "--json", "--"}, "<-n><--json><-->stdin\n"},
		{"name behind --", []string{"--", "words", "-x"}, "<-x>stdin\n"},
		{"no stdin", []string{"-n", "words", "a"}, "<a>\n"},
		{"JSON arguments", []string{"words", "--args", `{"args":["a b"],"stdin":"given"}`}, "<a b>given\n"},
		{"JSON words", []string{"words", "--args", `{"args":"a b","stdin":""}`}, "<a><b>\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, stdout, stderr := b.run("stdin", append([]string{"call"}, c.args...)...)
			if status != 0 || stdout != c.stdout || stderr != "" {
				t.Errorf("got %d, %q, %q; want %q", status, stdout, stderr, c.stdout)
			}
		})
	}
}

// A typed tool leaves the stdin of a shell's loop alone.
func TestALoopKeepsItsStdin(t *testing.T) {
	b := newBench(t)
	typedTool(b)
	snens := b.snens("call", "show")
	cmd := exec.Command("sh", append([]string{"-c", `while read -r w; do "$@" word="$w"; done`, "sh"}, snens.Args...)...)
	cmd.Env, cmd.Dir, cmd.Stdin = snens.Env, snens.Dir, strings.NewReader("out\nin\nout\n")
	out, err := cmd.Output()
	if err != nil || string(out) != "<out>\n<in>\n<out>\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestExitStatuses(t *testing.T) {
	b := newBench(t)
	b.tool("exits", `case "$1" in sig) kill -9 $$ ;; *) exit "$1" ;; esac`+"\n")
	b.tool("sleeps", "exec sleep 1000\n")
	b.file("broken/broken", "#!/no/such/interpreter\n", 0o755)
	for _, c := range []struct {
		args   string
		status int
		line   string
	}{
		{"exits 0", 0, `"status":0,"ours":false,"class":"ok","exit_code":0,"signal":null`},
		{"exits 3", 3, `"status":3,"ours":false,"class":"error","exit_code":3,"signal":null`},
		{"exits 124", 124, `"status":124,"ours":false,"class":"error","exit_code":124,"signal":null`},
		{"exits sig", 137, `"status":137,"ours":false,"class":"signal","exit_code":null,"signal":"SIGKILL"`},
		{"sleeps --timeout 100ms", 124, `"status":124,"ours":true,"class":"timeout","exit_code":null,"signal":"SIGTERM"`},
		{"none", 127, `"status":127,"ours":true,"class":"start","exit_code":null,"signal":null`},
		{"broken", 126, `"status":126,"ours":true,"class":"start","exit_code":null,"signal":null`},
		{"exits --args {}x", 125, `"status":125,"ours":true,"class":"refused","exit_code":null,"signal":null`},
	} {
		t.Run(c.args, func(t *testing.T) {
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer read.Close()
			cmd := b.snens(append([]string{"call", "--status-fd", "3"}, strings.Fields(c.args)...)...)
			cmd.ExtraFiles = []*os.File{write}
			status := shellStatus(t, cmd.Run())
			write.Close()
			var line json.RawMessage
			if err := json.NewDecoder(read).Decode(&line); err != nil {
				t.Fatalf("no status line: %v", err)
			}
			if status != c.status || !strings.Contains(string(line), c.line) {
				t.Errorf("got %d, %s; want %d, %s", status, line, c.status, c.line)
			}
		})
	}
}

func TestCallAsJSONIsOneRecord(t *testing.T) {
	b := newBench(t)
	typedTool(b)
	b.tool("both", "echo out; echo err >&2; exit 4\n")
	for _, c := range []struct {
		args   string
		status int
		class  string
		says   string
	}{
		{"both", 4, "error", "out\n[stderr]\nerr\nexit 4"},
		{"show word=out", 0, "ok", "<out>\n"},
		{"show wrod=out", 125, "refused", "did you mean"},
		{"show word=nothing", 125, "refused", "word"},
		{"shwo", 127, "start", `did you mean: show`},
	} {
		t.Run(c.args, func(t *testing.T) {
			status, stdout, _ := b.run("", append([]string{"call", "--json"}, strings.Fields(c.args)...)...)
			var record struct {
				Tool, Class, Content string
				Survivors            []any
				Attachments          []any
			}
			if err := json.Unmarshal([]byte(stdout), &record); err != nil {
				t.Fatalf("cannot read the record: %v\n%s", err, stdout)
			}
			if status != c.status || record.Class != c.class || !strings.Contains(record.Content, c.says) {
				t.Errorf("got %d, class %s, content:\n%s", status, record.Class, record.Content)
			}
			if record.Survivors == nil || record.Attachments == nil {
				t.Error("survivors or attachments is null")
			}
		})
	}
}

func TestSurvivorsAreNamed(t *testing.T) {
	b := newBench(t)
	b.tool("leaves", "sleep 1000 >/dev/null 2>&1 & echo $!\n")
	status, stdout, stderr := b.run("", "call", "leaves")
	pid := strings.TrimSpace(stdout)
	// Between fork and exec the child still has its parent's name.
	_, name, _ := strings.Cut(stderr, "behind: ")
	name, _, _ = strings.Cut(name, " ")
	if want := "snens: leaves left processes behind: " + name + " (" + pid + "); survivors = \"leave\" in snens.toml lets such live\n"; status != 0 || stderr != want || name != "sleep" && name != "leaves" {
		t.Errorf("got %d, %q; want %q", status, stderr, want)
	}
	if !ended(pid) {
		t.Error("the survivor lives on")
	}
}

func TestSurvivorsThatMayLive(t *testing.T) {
	b := newBench(t)
	b.tool("leaves", "sleep 1000 >/dev/null 2>&1 & echo $!\n")
	config := b.file("snens.toml", "survivors = \"leave\"\n", 0o644)
	status, stdout, stderr := b.run("", "--config", config, "call", "leaves")
	pid, err := strconv.Atoi(strings.TrimSpace(stdout))
	if err != nil {
		t.Fatalf("no pid: %q, %q", stdout, stderr)
	}
	if status != 0 || !strings.HasPrefix(stderr, "snens: leaves leaves processes running: ") || strings.Contains(stderr, "survivors") {
		t.Errorf("got %d, %q", status, stderr)
	}
	if ended(strconv.Itoa(pid)) {
		t.Error("the survivor was ended")
	}
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Error(err)
	}
}
