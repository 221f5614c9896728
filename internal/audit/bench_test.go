package audit_test

import "testing"

func BenchmarkAppend(b *testing.B) {
	dir := b.TempDir()
	w := open(b, options(dir, 0))
	for b.Loop() {
		must(b, w.Append(now, spent(1)))
	}
}

func BenchmarkVerify(b *testing.B) {
	dir := written(b, 20000, 0)
	b.SetBytes(size(b, dir))
	for b.Loop() {
		sound(b, dir)
	}
}
