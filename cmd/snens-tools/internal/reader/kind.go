package reader

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// sniffLen is how much of a file's beginning decides whether it is text.
const sniffLen = 8 << 10

// signatures name well-known kinds of files by their first bytes.
var signatures = []struct{ at, name string }{
	{"\x7fELF", "ELF program or library"},
	{"\x89PNG\r\n\x1a\n", "PNG image"},
	{"\xff\xd8\xff", "JPEG image"},
	{"GIF8", "GIF image"},
	{"RIFF", "RIFF media (WebP, WAV or AVI)"},
	{"BM", "BMP image"},
	{"%PDF-", "PDF document"},
	{"PK\x03\x04", "ZIP archive or office document"},
	{"\x1f\x8b", "gzip-compressed data"},
	{"BZh", "bzip2-compressed data"},
	{"\xfd7zXZ\x00", "xz-compressed data"},
	{"\x28\xb5\x2f\xfd", "zstd-compressed data"},
	{"7z\xbc\xaf\x27\x1c", "7-zip archive"},
	{"!<arch>\n", "ar archive or Debian package"},
	{"SQLite format 3\x00", "SQLite database"},
	{"LPKSHHRH", "systemd journal file"},
	{"OggS", "Ogg media"},
	{"\x00asm", "WebAssembly module"},
	{"\xca\xfe\xba\xbe", "Java class or Mach-O program"},
	{"\xff\xfe", "UTF-16 text"},
	{"\xfe\xff", "UTF-16 text"},
}

// Binary says what the file that begins with head is, when it is not text, and
// "" when it is. head is at most the first 8 KiB; whole says that it is all.
//
// Text has no NUL byte, and of its bytes fewer than three in ten are control
// characters or not UTF-8: text in an old 8-bit encoding passes.
func Binary(head []byte, whole bool) string {
	if len(head) > sniffLen {
		head, whole = head[:sniffLen], false
	}
	odd := 0
	for rest := head; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 {
			if whole || len(rest) >= utf8.UTFMax {
				odd++
			}
		} else if r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\f' && r != 0x1b {
			odd++
		}
		rest = rest[n:]
	}
	if bytes.IndexByte(head, 0) < 0 && odd*10 < len(head)*3 || len(head) == 0 {
		return ""
	}
	for _, s := range signatures {
		if bytes.HasPrefix(head, []byte(s.at)) {
			return s.name
		}
	}
	if len(head) > 262 && string(head[257:262]) == "ustar" {
		return "tar archive"
	}
	if at := bytes.IndexByte(head, 0); at >= 0 {
		return fmt.Sprintf("binary data (a NUL at byte %d)", at)
	}
	return "binary data"
}
