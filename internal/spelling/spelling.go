// Package spelling tells how far two words are apart, for hints such as "did
// you mean".
//
// Use Distance and decide yourself which distance is near enough, and what does
// not count as a difference (letter case, dashes): that depends on what the words
// are. It is for names of at most some hundred bytes: time grows with the product
// of the lengths.
package spelling

// Distance counts the bytes to insert, remove, change or swap with their
// neighbour to make b of a. It is symmetric, and 0 for equal words alone.
func Distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
