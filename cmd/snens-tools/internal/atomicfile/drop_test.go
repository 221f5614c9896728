package atomicfile_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"snens/cmd/snens-tools/internal/atomicfile"
	"snens/internal/testneed"
)

// asNobody names the path that a run of this test binary as an ordinary user replaces.
const asNobody = "SNENS_TEST_REPLACE"

func TestMain(m *testing.M) {
	if path := os.Getenv(asNobody); path != "" {
		target, err := atomicfile.Resolve(path)
		if err == nil {
			_, err = target.Replace(strings.NewReader("new"), atomicfile.Options{})
		}
		if err != nil {
			os.Stdout.WriteString(err.Error())
			var refusal *atomicfile.Refusal
			if errors.As(err, &refusal) && refusal.Hint != "" {
				os.Stdout.WriteString("; " + refusal.Hint)
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// What an ordinary user may not do is refused in words, and nothing is changed.
func TestReplaceAsAnOrdinaryUser(t *testing.T) {
	testneed.Root(t)
	const user, other = 65534, 4242
	for _, c := range []struct {
		name               string
		folderMode         os.FileMode
		folderUID, fileUID int
		fileMode           os.FileMode
		want               string // what the result begins with after the path is cut out; "": it works
	}{
		{"own file in own folder", 0o755, user, user, 0o644, ""},
		{"folder not writable, file is", 0o755, other, user, 0o644, "cannot write in the folder DIR: permission denied; a new file takes the place"},
		{"file not writable, folder is", 0o755, user, user, 0o444, "DIR/f is not writable: permission denied; change its mode"},
		{"somebody else's writable file", 0o777, user, other, 0o666, "cannot replace DIR/f and keep its owner 4242:4242: operation not permitted; run it as the owner"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "snens-drop-")
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			path := filepath.Join(dir, "f")
			if err := errors.Join(
				os.WriteFile(path, []byte("old"), 0o600), os.Chown(path, c.fileUID, c.fileUID), os.Chmod(path, c.fileMode),
				os.Chown(dir, c.folderUID, c.folderUID), os.Chmod(dir, c.folderMode),
			); err != nil {
				t.Fatal(err)
			}
			self, err := os.Open("/proc/self/exe") // the binary's folder may be closed to others
			if err != nil {
				t.Fatal(err)
			}
			defer self.Close()
			cmd := exec.Command("/proc/self/fd/3")
			cmd.ExtraFiles = []*os.File{self}
			cmd.Dir = "/"
			cmd.Env = []string{asNobody + "=" + path}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			got := strings.ReplaceAll(string(out), dir, "DIR")
			if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("%q; want %q", got, c.want)
			}
			content := map[bool]string{true: "new", false: "old"}[c.want == ""]
			holds(t, path, content, c.fileMode)
			if entries, _ := os.ReadDir(dir); len(entries) != 1 {
				t.Errorf("the folder holds %v", entries)
			}
		})
	}
}
