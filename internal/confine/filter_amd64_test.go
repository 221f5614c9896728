package confine_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"snens/internal/confine"
	"snens/internal/testneed"
)

func TestX32Refused(t *testing.T) {
	prog := confine.Filter(strict, 7)
	for _, nr := range []uint32{unix.SYS_SOCKET, unix.SYS_READ, 512} {
		if got := interpret(t, prog, confine.NativeArch, 0x40000000|nr, [6]uint64{unix.AF_INET}); got != enosys {
			t.Errorf("x32 call %d: %#x, want %#x", nr, got, enosys)
		}
	}
}

func TestOldPathCallsRefused(t *testing.T) {
	prog := confine.Filter(strict, 2)
	for nr, want := range map[uint32]uint32{
		unix.SYS_CHMOD: eperm, unix.SYS_CHOWN: eperm, unix.SYS_UTIMES: eperm, unix.SYS_IOPL: eperm,
		unix.SYS_OPEN: allow,
	} {
		if got := interpret(t, prog, confine.NativeArch, nr, [6]uint64{}); got != want {
			t.Errorf("call %d: %#x, want %#x", nr, got, want)
		}
	}
	if got := interpret(t, prog, confine.NativeArch, unix.SYS_OPEN, [6]uint64{0, unix.O_TRUNC}); got != eacces {
		t.Errorf("emptying open: %#x, want %#x", got, eacces)
	}
}

// A 64-bit program that makes one call through the 32-bit entry.
func TestThirtyTwoBitEntryEndsTheProgram(t *testing.T) {
	needSupport(t)
	path := filepath.Join(t.TempDir(), "int80")
	if err := os.WriteFile(path, tinyELF([]byte{
		0xb8, 20, 0, 0, 0, // mov eax, 20: getpid of i386
		0xcd, 0x80, // int 0x80
		0xb8, 60, 0, 0, 0, // mov eax, 60: exit
		0x31, 0xff, // xor edi, edi
		0x0f, 0x05, // syscall
	}), 0o755); err != nil {
		t.Fatal(err)
	}
	free := exec.Command(path)
	testneed.Kernel(t, free.Run() == nil, "the 32-bit entry (CONFIG_IA32_EMULATION)")
	c := exec.Command(path)
	if err := confine.Run(strict, c.Start); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // judged below
	if st := c.ProcessState.Sys().(syscall.WaitStatus); !st.Signaled() || st.Signal() != unix.SIGSYS {
		t.Errorf("ended with %v, want SIGSYS", c.ProcessState)
	}
}

// tinyELF is a static program of one segment.
func tinyELF(code []byte) []byte {
	const base, head = 0x400000, 64 + 56
	le := binary.LittleEndian
	b := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 9)...)
	b = le.AppendUint16(b, 2)  // executable
	b = le.AppendUint16(b, 62) // x86-64
	b = le.AppendUint32(b, 1)
	b = le.AppendUint64(b, base+head) // entry
	b = le.AppendUint64(b, 64)        // program headers
	b = le.AppendUint64(b, 0)
	b = le.AppendUint32(b, 0)
	for _, v := range []uint16{64, 56, 1, 0, 0, 0} {
		b = le.AppendUint16(b, v)
	}
	b = le.AppendUint32(b, 1) // load
	b = le.AppendUint32(b, 5) // read and execute
	size := uint64(head + len(code))
	for _, v := range []uint64{0, base, base, size, size, 0x1000} {
		b = le.AppendUint64(b, v)
	}
	return append(b, code...)
}
