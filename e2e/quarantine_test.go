package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// broken are tools that must be set aside: the script makes them (in the tools
// folder, whose path is $T; prog makes an executable of stdin), and the cause
// is exact.
var broken = []struct{ name, script, cause string }{
	{"run", `prog run <ok`, "reserved name"},
	{"a.b", `mkdir a.b; cp ok a.b/a.b; chmod 755 a.b/a.b`, "invalid name: only A-Z a-z 0-9 _ - are allowed, 64 at most"},
	{"flat", `cp ok flat; chmod 755 flat`, "not a folder: the program belongs in a folder of its own name"},
	{"hollow", `mkdir hollow; echo x >hollow/README`, "no executable of that name in its folder"},
	{"plain", `prog plain <ok; chmod 644 plain/plain`, "not executable: chmod +x is missing"},
	{"dangling", `mkdir dangling; ln -s /absent/program dangling/dangling`, "dangling link to /absent/program"},
	{"loop", `mkdir loop; ln -s loop loop/loop`, "link loop"},
	{"folder", `mkdir -p folder/folder`, "a directory, not a program"},
	{"pipe", `mkdir pipe; mkfifo pipe/pipe; chmod 755 pipe/pipe`, "a named pipe, not a program"},
	{"device", `mkdir device; ln -s /dev/null device/device`, "a device, not a program"},
	{"socket", `mkdir socket; perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) && bind(S, pack_sockaddr_un("socket/socket"))'; chmod 755 socket/socket`, "a socket, not a program"},
	{"empty", `: | prog empty`, "empty file"},

	{"bare", `echo 'echo no first line' | prog bare`, "neither a #! line nor an ELF program, so the kernel cannot run it"},
	{"crlf", `printf '#!/bin/sh\r\necho\r\n' | prog crlf`, "CRLF shebang: the first line ends in a carriage return"},
	{"shebang-empty", `printf '#! \necho\n' | prog shebang-empty`, "bad shebang: no interpreter after #!"},
	{"shebang-long", `printf '#!/%0300d\n' 0 | prog shebang-long`, "bad shebang: the first line is longer than 255 bytes"},
	{"shebang-relative", `printf '#!bin/sh\n' | prog shebang-relative`, "bad shebang: interpreter bin/sh is not an absolute path"},
	{"no-interpreter", `printf '#!/absent/python9 -u\n' | prog no-interpreter`, "missing interpreter /absent/python9"},
	{"unfit", `printf '#!/etc/passwd\n' | prog unfit`, "interpreter /etc/passwd is not executable"},
	{"env-absent", `printf '#!/usr/bin/env python9\n' | prog env-absent`, "missing interpreter python9: env does not find it on PATH"},
	{"env-word", `printf '#!/usr/bin/env sh -x\n' | prog env-word`, `bad shebang: env gets "sh -x" as one name, env -S would split it`},
	{"shebang-loop", `printf '#!%s/shebang-loop/shebang-loop\n' "$T" | prog shebang-loop`, "the interpreters form a loop"},
	{"interpreter-bare", `echo x >text; chmod 755 text; printf '#!%s/text\n' "$T" | prog interpreter-bare; mv text .text; sed -i s,/text,/.text, interpreter-bare/interpreter-bare`, "the kernel cannot run its format (exec format error)"},

	{"elf-cut", `head -c 20 /bin/true | prog elf-cut`, "damaged ELF header"},
	{"elf-object", `(head -c 16 /bin/true; printf '\001\000'; tail -c +19 /bin/true) | prog elf-object`, "an ELF file, but not a program"},
	{"elf-foreign", `(head -c 18 /bin/true; printf '\363\000'; tail -c +21 /bin/true) | prog elf-foreign`, "wrong architecture: built for riscv, this machine is $MACHINE"},
	{"elf-loader", `sed s/ld-linux/ld-absen/ /bin/true | prog elf-loader`, "missing interpreter $LOADER, the loader of this ELF program"},

	{"help-empty", `prog help-empty <ok; echo >help-empty/help.txt`, "help.txt is empty"},
	{"help-big", `prog help-big <ok; (echo x; head -c 70000 /dev/zero) >help-big/help.txt`, "help.txt is larger than 64 KiB"},
	{"help-pipe", `prog help-pipe <ok; mkfifo help-pipe/help.txt`, "help.txt is not a regular file"},
	{"schema-absent", `prog schema-absent <ok`, "require_schema is set, but there is no schema.json"},
	{"schema-pipe", `prog schema-pipe <ok; mkfifo schema-pipe/schema.json`, "require_schema is set, but schema.json is not a regular file"},
	{"schema-big", `prog schema-big <ok; head -c 300000 /dev/zero >schema-big/schema.json`, "require_schema is set, but schema.json is larger than 256 KiB"},

	{"dies", `printf '#!/bin/sh\necho x\nkill -SEGV $$\n' | prog dies`, "--help died by SIGSEGV"},
	{"fails", `printf '#!/bin/sh\necho Usage: x >&2\nexit 3\n' | prog fails`, "--help ended with exit 3 and nothing on stdout"},
	{"silent", `printf '#!/bin/sh\n' | prog silent`, "--help printed nothing"},
	{"blank", `printf '#!/bin/sh\necho; echo "  "\n' | prog blank`, "--help printed nothing"},
	{"hangs", `printf '#!/bin/sh\nexec sleep 1000\n' | prog hangs`, "--help timed out after 5 s"},
	{"busy", `prog busy </bin/true`, "text file busy: something has it open for writing"},
}

const brokenConfig = `[tool.schema-absent]
require_schema = true
[tool.schema-pipe]
require_schema = true
[tool.schema-big]
require_schema = true
`

// makeBroken makes all of them beside one that is sound.
func makeBroken(w *world) {
	script := `T=$PWD/tools; cd tools
prog() { mkdir "$1"; cat >"$1/$1"; chmod 755 "$1/$1"; }
printf '#!/bin/sh\n# sound — is sound.\n# sound\n' >ok
`
	for _, b := range broken {
		script += b.script + "\n"
	}
	w.shell(script + "prog sound <ok\nrm ok\n")
	w.config(brokenConfig)
}

// Each cause has its own exact words, on stderr and in JSON, and no broken
// tool keeps a sound one from being found.
func TestEveryCause(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	makeBroken(w)
	writer, err := os.OpenFile(filepath.Join(w.tools, "busy/busy"), os.O_WRONLY, 0)
	must(t, err)
	defer writer.Close()
	machine := strings.NewReplacer("$MACHINE", strings.TrimSpace(w.shell("uname -m")),
		"$LOADER", strings.TrimSpace(w.shell(`grep -aom1 '/lib[^ ]*/ld-linux[a-z0-9._-]*' /bin/true | sed s/ld-linux/ld-absen/`)))

	want := map[string]string{}
	for _, b := range broken {
		want[b.name] = machine.Replace(b.cause)
	}
	r := w.run("tools", "--json")
	w.nothingLeft()
	if found := definitions(t, r.stdout); r.status != 0 || len(found) != 1 || found["sound"].Name != "sound" {
		t.Errorf("exit status %d, found %v; want the sound one alone", r.status, found)
	}
	lines := ""
	for _, name := range sortedKeys(want) {
		lines += "snens: tool " + name + " skipped: " + want[name] + "\n"
	}
	if r.stderr != lines {
		t.Errorf("stderr:\n%s\nwant:\n%s", r.stderr, lines)
	}

	all := w.run("tools", "--all", "--json")
	got := definitions(t, all.stdout)
	if all.status != 0 || all.stderr != "" || len(got) != len(want)+1 {
		t.Errorf("--all: %d, %d entries, stderr %q", all.status, len(got), all.stderr)
	}
	for name, cause := range want {
		path := filepath.Join(w.tools, name, name)
		if d := got[name]; !d.Quarantined || d.Cause != cause || d.Path != path || d.Parameters != nil {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if check := w.run("check", "sound"); check.status != 0 {
		t.Errorf("check of the sound one: %d\n%s", check.status, check.stderr)
	}
	checkOne(t, w, want["crlf"])
}

// checkOne: a broken tool fails the check, and its call says the cause.
func checkOne(t *testing.T, w *world, cause string) {
	t.Helper()
	if r := w.run("check", "crlf"); r.status != 1 || !strings.Contains(r.stdout+r.stderr, cause) {
		t.Errorf("check: %d, %q, %q", r.status, r.stdout, r.stderr)
	}
	if r := w.run("call", "crlf"); r.status != 126 || !strings.HasPrefix(r.stderr, "snens: cannot use the tool crlf: "+cause+"\nhint: ") {
		t.Errorf("call: %d, %q", r.status, r.stderr)
	}
}

func TestNoexec(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tool("sound", "echo hi")
	w.inNamespace("mount -t tmpfs -o noexec,mode=755 none " + w.work + "\n" +
		"mkdir " + w.work + "/inside; cp " + w.tools + "/sound/sound " + w.work + "/inside/inside")
	r := w.run("--tools-dir", w.work, "tools", "--all", "--json")
	if d := definitions(t, r.stdout)["inside"]; d.Cause != "lies on a file system mounted noexec" {
		t.Errorf("%+v, stderr %q", d, r.stderr)
	}
}

// A slow tool delays only itself: while its --help still waits, those of many
// others are run from beginning to end.
func TestASlowHelpDelaysOnlyItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	names := []string{"slow", "a", "b", "c", "d", "e", "f", "g", "h"}
	for _, name := range names {
		w.fifo(name + ".fifo")
		w.file("tools/"+name+"/"+name, "#!/bin/sh\nread -r line <"+w.root+"/"+name+".fifo\necho \"$line\"\necho usage\n", 0o755)
	}
	cmd := w.command("tools", "--json")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	must(t, cmd.Start())
	slow := reader(t, filepath.Join(w.root, "slow.fifo"))
	for _, name := range names[1:] {
		say(t, filepath.Join(w.root, name+".fifo"), name+" — is done.")
	}
	_, err := slow.WriteString("slow — is done too.\n")
	must(t, err)
	must(t, slow.Close())
	must(t, cmd.Wait())
	var list []definition
	if err := json.Unmarshal([]byte(out.String()), &list); err != nil || len(list) != len(names) {
		t.Errorf("%v, listed:\n%s", err, out.String())
	}
}
