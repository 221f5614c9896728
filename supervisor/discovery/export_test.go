package discovery

// WithoutBinfmt makes the static checks independent of what is registered
// with the kernel of the machine that runs the tests.
func (f *Finder) WithoutBinfmt() { f.binfmt = func() bool { return false } }

// WithBinfmt is the opposite.
func (f *Finder) WithBinfmt() { f.binfmt = func() bool { return true } }
