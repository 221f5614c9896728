package sockets

// The readers of systemd's variables.
var (
	ParseListen = parseListen
	ParseNotify = parseNotify
	OneLine     = oneLine
)

// MaxUnclean bounds the refused connections with descriptors in them.
const MaxUnclean = maxUnclean
