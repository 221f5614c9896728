package peer

// The parts that a test reaches no other way.
var (
	ByPID       = byPID
	See         = see
	ParseLogin  = parseLogin
	ParseCgroup = parseCgroup
	FullMap     = fullMap
)
