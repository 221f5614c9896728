package main

import "snens/internal/spelling"

// nearest is the name closest to what was typed, "" when none is close: at
// most a third of the letters may differ.
func nearest(typed string, names []string) string {
	best, bestDistance := "", 1+max(1, len(typed)/3)
	for _, name := range names {
		if d := spelling.Distance(typed, name); d < bestDistance {
			best, bestDistance = name, d
		}
	}
	return best
}
