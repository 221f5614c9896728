package mailbox

// OnStep has f called at each change on disk that b makes.
func (b *Box) OnStep(f func(string)) { b.step = f }
