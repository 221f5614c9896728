package confine

import "golang.org/x/sys/unix"

// Offsets in struct seccomp_data; both architectures are little-endian, so the
// low half of an argument comes first. Every argument the filter looks at is a
// 32-bit one for the kernel too.
const (
	offNr   = 0
	offArch = 4
)

func offArg(n uint32) uint32 { return 16 + 8*n }

// program is a classic BPF program that grows instruction by instruction. Jumps
// lead forward over one instruction or one block, so no labels are needed.
type program struct{ code []unix.SockFilter }

func stmt(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }

func jump(code uint16, k uint32, jt, jf uint8) unix.SockFilter {
	return unix.SockFilter{Code: code, Jt: jt, Jf: jf, K: k}
}

func ret(action uint32) unix.SockFilter { return stmt(unix.BPF_RET|unix.BPF_K, action) }

func (p *program) emit(i ...unix.SockFilter) { p.code = append(p.code, i...) }

func (p *program) load(offset uint32) { p.emit(stmt(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset)) }

// ifEqual runs the one instruction then when the accumulator equals k.
func (p *program) ifEqual(k uint32, then unix.SockFilter) {
	p.emit(jump(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, k, 0, 1), then)
}

// unless runs then when the accumulator differs from k.
func (p *program) unless(k uint32, then unix.SockFilter) {
	p.emit(jump(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, k, 1, 0), then)
}

// ifBits runs then when any bit of k is set.
func (p *program) ifBits(k uint32, then unix.SockFilter) {
	p.emit(jump(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, k, 0, 1), then)
}

// refuse ends with action for the given call numbers.
func (p *program) refuse(action uint32, calls ...uint32) {
	for _, nr := range calls {
		p.ifEqual(nr, ret(action))
	}
}

// on runs block, which always returns, for call number nr. The accumulator
// holds the number again behind it, since the block is jumped over.
func (p *program) on(nr uint32, block program) {
	p.emit(jump(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, nr, 0, uint8(len(block.code))))
	p.emit(block.code...)
}
