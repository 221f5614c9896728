package store

// Encode and Decode are the content of a file.
var (
	Encode = (*Record).encode
	Decode = decode
)
