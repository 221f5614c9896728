package main

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"snens/broker/action"
	"snens/internal/accounts"
	"snens/internal/escape"
)

// quoteWord shows one word of a command so that it looks like no other word and
// like no two: bare when it is made of plain characters, else in double quotes.
func quoteWord(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return quote(s)
}

// quote shows text in double quotes, on one line, with nothing left to guess.
func quote(s string) string {
	return `"` + strings.ReplaceAll(escape.Escape(s), `"`, `\u{22}`) + `"`
}

// commandWords is a command on one line of at most limit characters (0: any).
// One that is cut says so, and how long it is.
func commandWords(argv []string, limit int) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = quoteWord(word)
	}
	text := strings.Join(words, " ")
	n := utf8.RuneCountInString(text)
	if limit == 0 || n <= limit {
		return text
	}
	end := fmt.Sprintf("… [cut, %d characters]", n)
	keep := max(0, limit-utf8.RuneCountInString(end))
	return string([]rune(text)[:keep]) + end
}

// names knows the names of uids.
type names struct{ db *accounts.DB }

func newNames() names {
	db, err := accounts.Read("/etc/passwd", "/etc/group")
	if err != nil {
		db = nil // the uid is what counts
	}
	return names{db}
}

// of is the name of a uid, "" when there is none.
func (n names) of(uid action.UID) string {
	if n.db == nil {
		return ""
	}
	u, err := n.db.UserID(uint32(uid))
	if err != nil {
		return ""
	}
	return u.Name
}

// words is a uid as it is shown: "ann (1001)", or "uid 1001".
func (n names) words(uid action.UID) string {
	if name := n.of(uid); name != "" {
		return fmt.Sprintf("%s (%s)", quoteWord(name), uid)
	}
	return "uid " + uid.String()
}

// roughly is a time of at least zero in its largest unit.
func roughly(d time.Duration) string {
	switch {
	case d < time.Second:
		return "0s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// remaining says how long a request still waits.
func remaining(expires, now time.Time) string {
	if !expires.After(now) {
		return "expired"
	}
	return "expires in " + roughly(expires.Sub(now))
}
