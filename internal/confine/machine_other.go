//go:build !amd64 && !arm64

package confine

// No filter: Run says so.
var native = machine{}
