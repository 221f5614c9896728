package session

import (
	"os"
	"syscall"
)

// ownerOf returns the uid that a file belongs to.
func ownerOf(info os.FileInfo) (uid uint32, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Uid, true
}
