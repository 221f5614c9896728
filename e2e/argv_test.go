package e2e_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Our own programs are called without any word, not even a name (what pkexec
// read past, CVE-2021-4034). Kernels from 5.18 on make one empty word of that,
// so both are tried.
func TestProgramsCalledWithoutAWord(t *testing.T) {
	for _, program := range []string{"snens", "snens-priv", "snens-audit", "snens-tools"} {
		t.Run(program, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), program)
			cmd := exec.Command("go", "build", "-o", path, "snens/cmd/"+program)
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			home := t.TempDir()
			for _, argv := range [][]string{{}, {""}} {
				status, out := execBare(t, path, argv, []string{"HOME=" + home})
				if !status.Exited() || status.ExitStatus() == 0 || status.ExitStatus() > 78 {
					t.Errorf("argv %q: ended with %#x\n%s", argv, status, out)
				}
				if strings.Contains(out, "panic") || strings.Contains(out, "goroutine") || !strings.Contains(out, program) {
					t.Errorf("argv %q: no clean error:\n%s", argv, out)
				}
			}
		})
	}
}

// execBare runs a program with exactly these words; package os/exec would add a
// name.
func execBare(t *testing.T, path string, argv, env []string) (syscall.WaitStatus, string) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Dir: "/", Env: env, Files: []uintptr{null.Fd(), write.Fd(), write.Fd()},
	})
	write.Close()
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(read)
	if err != nil {
		t.Error(err)
	}
	var status syscall.WaitStatus
	for {
		if _, err = syscall.Wait4(pid, &status, 0, nil); err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return status, string(out)
}
