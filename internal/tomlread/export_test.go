package tomlread

// Positions finds the line and column of every key of a text.
func Positions(text string) map[string][2]int {
	out := map[string][2]int{}
	for path, p := range scan(text) {
		line, column := lineColumn(text, p.key)
		out[path] = [2]int{line, column}
	}
	return out
}
