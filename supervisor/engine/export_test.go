package engine

// Groups is the folder in which this engine makes cgroups, "" in the fallback.
func (e *Engine) Groups() string {
	if t := e.tree(); t != nil {
		return t.Parent()
	}
	return ""
}
