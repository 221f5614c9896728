//go:build race

package e2e

// raceEnabled says that the tests run under the race detector; snens then does too.
const raceEnabled = true
