package execute

// StuckAll is how many actions of all uids cannot be ended.
func (x *Executor) StuckAll() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := 0
	for _, of := range x.stuck {
		n += of
	}
	return n
}
