package confine_test

import (
	"testing"

	"golang.org/x/sys/unix"
	"snens/internal/confine"
)

const (
	allow    = unix.SECCOMP_RET_ALLOW
	kill     = unix.SECCOMP_RET_KILL_PROCESS
	eperm    = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	enosys   = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	eafno    = unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)
	eacces   = unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)
	garbage  = 0xdeadbeef00000000 // high halves that the kernel ignores
	fiFreeze = 0xc0045877
)

// interpret runs a classic BPF program over one struct seccomp_data, the way
// the kernel does, for the instructions a filter may hold.
func interpret(t *testing.T, prog []unix.SockFilter, arch, nr uint32, args [6]uint64) uint32 {
	t.Helper()
	data := make([]uint32, 16)
	data[0], data[1] = nr, arch
	for i, a := range args {
		data[4+2*i], data[5+2*i] = uint32(a), uint32(a>>32)
	}
	var acc uint32
	for pc := 0; pc < len(prog); pc++ {
		in := prog[pc]
		branch := func(taken bool) {
			if taken {
				pc += int(in.Jt)
			} else {
				pc += int(in.Jf)
			}
		}
		switch in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			acc = data[in.K/4]
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			acc &= in.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			branch(acc == in.K)
		case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
			branch(acc&in.K != 0)
		case unix.BPF_RET | unix.BPF_K:
			return in.K
		default:
			t.Fatalf("instruction %d has the unexpected code %#x", pc, in.Code)
		}
	}
	t.Fatal("the program runs off its end")
	return 0
}

func TestFilterDecisions(t *testing.T) {
	all := confine.Rules{ReadOnly: true, NoNetwork: true, NoUnix: true}
	ro := confine.Rules{ReadOnly: true}
	net := confine.Rules{NoNetwork: true}
	local := confine.Rules{NoUnix: true}
	arch := confine.NativeArch
	cases := []struct {
		name  string
		rules confine.Rules
		abi   int
		arch  uint32
		nr    uint32
		args  [6]uint64
		want  uint32
	}{
		{"i386", all, 7, unix.AUDIT_ARCH_I386, unix.SYS_READ, [6]uint64{}, kill},
		{"32-bit arm", net, 7, unix.AUDIT_ARCH_ARM, unix.SYS_READ, [6]uint64{}, kill},
		{"read", all, 7, arch, unix.SYS_READ, [6]uint64{}, allow},
		{"execve", all, 7, arch, unix.SYS_EXECVE, [6]uint64{}, allow},
		{"io_uring", local, 7, arch, unix.SYS_IO_URING_SETUP, [6]uint64{}, enosys},
		{"io_uring enter", net, 7, arch, unix.SYS_IO_URING_ENTER, [6]uint64{}, enosys},
		{"io_uring register", ro, 7, arch, unix.SYS_IO_URING_REGISTER, [6]uint64{}, enosys},
		{"inet", all, 7, arch, unix.SYS_SOCKET, [6]uint64{unix.AF_INET}, eafno},
		{"inet, high half set", all, 7, arch, unix.SYS_SOCKET, [6]uint64{garbage | unix.AF_INET}, eafno},
		{"unix", all, 7, arch, unix.SYS_SOCKET, [6]uint64{unix.AF_UNIX}, eafno},
		{"unix, high half set", local, 7, arch, unix.SYS_SOCKET, [6]uint64{garbage | unix.AF_UNIX}, eafno},
		{"unix, network off", net, 7, arch, unix.SYS_SOCKET, [6]uint64{unix.AF_UNIX}, allow},
		{"vsock, network off", net, 7, arch, unix.SYS_SOCKET, [6]uint64{unix.AF_VSOCK}, eafno},
		{"packet, network off", net, 7, arch, unix.SYS_SOCKET, [6]uint64{unix.AF_PACKET}, eafno},
		{"inet, Unix off", local, 7, arch, unix.SYS_SOCKET, [6]uint64{unix.AF_INET6}, allow},
		{"inet, read-only", ro, 7, arch, unix.SYS_SOCKET, [6]uint64{unix.AF_INET6}, allow},
		{"stream pair", all, 7, arch, unix.SYS_SOCKETPAIR, [6]uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, allow},
		{"seqpacket pair", all, 7, arch, unix.SYS_SOCKETPAIR, [6]uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET}, allow},
		{"datagram pair", all, 7, arch, unix.SYS_SOCKETPAIR, [6]uint64{unix.AF_UNIX, unix.SOCK_DGRAM | unix.SOCK_NONBLOCK}, eafno},
		{"datagram pair, network off", net, 7, arch, unix.SYS_SOCKETPAIR, [6]uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, allow},
		{"TIPC pair", net, 7, arch, unix.SYS_SOCKETPAIR, [6]uint64{unix.AF_TIPC, unix.SOCK_STREAM}, eafno},
		{"TIPC pair, Unix off", local, 7, arch, unix.SYS_SOCKETPAIR, [6]uint64{unix.AF_TIPC, unix.SOCK_DGRAM}, allow},
		{"typing into a terminal", net, 7, arch, unix.SYS_IOCTL, [6]uint64{0, unix.TIOCSTI}, eperm},
		{"TIOCLINUX", local, 7, arch, unix.SYS_IOCTL, [6]uint64{0, unix.TIOCLINUX}, eperm},
		{"window size", all, 7, arch, unix.SYS_IOCTL, [6]uint64{0, unix.TIOCGWINSZ}, allow},
		{"lsattr", all, 7, arch, unix.SYS_IOCTL, [6]uint64{0, 0x80086601}, allow},
		{"chattr", all, 7, arch, unix.SYS_IOCTL, [6]uint64{0, 0x40086602}, eperm},
		{"chattr allowed", confine.Rules{ReadOnly: true, AllowMetadata: true}, 7, arch, unix.SYS_IOCTL, [6]uint64{0, 0x40086602}, allow},
		{"freeze a file system", confine.Rules{ReadOnly: true, AllowMetadata: true}, 7, arch, unix.SYS_IOCTL, [6]uint64{0, fiFreeze}, eperm},
		{"btrfs snapshot", all, 7, arch, unix.SYS_IOCTL, [6]uint64{0, 0x50009401}, eperm},
		{"freeze, not read-only", net, 7, arch, unix.SYS_IOCTL, [6]uint64{0, fiFreeze}, allow},
		{"reboot", ro, 7, arch, unix.SYS_REBOOT, [6]uint64{}, eperm},
		{"reboot, not read-only", net, 7, arch, unix.SYS_REBOOT, [6]uint64{}, allow},
		{"read the kernel log", ro, 7, arch, unix.SYS_SYSLOG, [6]uint64{3}, allow},
		{"clear the kernel log", ro, 7, arch, unix.SYS_SYSLOG, [6]uint64{5}, eperm},
		{"fchmodat", ro, 7, arch, unix.SYS_FCHMODAT, [6]uint64{}, eperm},
		{"fchmodat allowed", confine.Rules{ReadOnly: true, AllowMetadata: true}, 7, arch, unix.SYS_FCHMODAT, [6]uint64{}, allow},
		{"truncate, ABI 2", ro, 2, arch, unix.SYS_TRUNCATE, [6]uint64{}, eacces},
		{"truncate, ABI 3: Landlock's", ro, 3, arch, unix.SYS_TRUNCATE, [6]uint64{}, allow},
		{"openat2, ABI 2", ro, 2, arch, unix.SYS_OPENAT2, [6]uint64{}, enosys},
		{"emptying open, ABI 2", ro, 2, arch, unix.SYS_OPENAT, [6]uint64{0, 0, unix.O_RDONLY | unix.O_TRUNC | unix.O_CLOEXEC}, eacces},
		{"emptying open, mode 3", ro, 2, arch, unix.SYS_OPENAT, [6]uint64{0, 0, unix.O_ACCMODE | unix.O_TRUNC}, eacces},
		{"writing open, ABI 2: Landlock's", ro, 2, arch, unix.SYS_OPENAT, [6]uint64{0, 0, unix.O_WRONLY | unix.O_TRUNC}, allow},
		{"plain open, ABI 2", ro, 2, arch, unix.SYS_OPENAT, [6]uint64{0, 0, unix.O_RDONLY}, allow},
	}
	for _, c := range cases {
		if got := interpret(t, confine.Filter(c.rules, c.abi), c.arch, c.nr, c.args); got != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.want)
		}
	}
}
