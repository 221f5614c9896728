package mailbox

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"snens/internal/fields"
	"snens/internal/strictjson"
)

// ID names a message for those who must know whether they have seen it: 1 to
// 128 characters of A-Z a-z 0-9 . _ -, the first no dot.
type ID string

// Message is one message. All but ReplyTo and Expires is always there.
type Message struct {
	ID      ID
	From    string // who sends: a session's id or another name; 1 to 128 bytes
	To      string // who shall read it; the same form
	ReplyTo ID     // the message that this one answers; "" for none
	Type    string // what kind of message, in the same form: "text", "task"
	Time    time.Time
	Expires time.Time // zero: never
	Body    string    // any bytes
}

const maxName = 128

// Parse reads the content of a message's file: one JSON object with exactly the
// fields of docs/mail.md. The error says which one is wrong and how.
func Parse(data []byte) (Message, error) {
	o := fields.Parse(data, "message", strictjson.Options{MaxBytes: max(len(data), 1), MaxDepth: 3, MaxTokens: 32})
	m := Message{
		ID:   fields.Word(o.Field("id"), parseID),
		From: fields.Word(o.Field("from"), parseWord),
		To:   fields.Word(o.Field("to"), parseWord),
		Type: fields.Word(o.Field("type"), parseWord),
		Time: fields.Word(o.Field("time"), parseTime),
		Body: o.Field("body").Text(),
	}
	if f, ok := o.Optional("reply_to"); ok {
		m.ReplyTo = fields.Word(f, parseID)
	}
	if f, ok := o.Optional("expires"); ok {
		m.Expires = fields.Word(f, parseTime)
	}
	if err := o.Close(); err != nil {
		return Message{}, err
	}
	return m, nil
}

// Encode gives the content of the message's file, which Parse reads. The error
// says which field cannot be sent.
func (m *Message) Encode() ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	v := m.Value()
	return append(v.JSON(), '\n'), nil
}

// Value is the message as the JSON object of its file.
func (m *Message) Value() strictjson.Value {
	members := []strictjson.Member{
		fields.Member("id", fields.Text(string(m.ID))),
		fields.Member("from", fields.Text(m.From)),
		fields.Member("to", fields.Text(m.To)),
	}
	if m.ReplyTo != "" {
		members = append(members, fields.Member("reply_to", fields.Text(string(m.ReplyTo))))
	}
	members = append(members,
		fields.Member("type", fields.Text(m.Type)),
		fields.Member("time", fields.Text(formatTime(m.Time))))
	if !m.Expires.IsZero() {
		members = append(members, fields.Member("expires", fields.Text(formatTime(m.Expires))))
	}
	return fields.Object(append(members, fields.Member("body", fields.Text(m.Body)))...)
}

func (m *Message) check() error {
	_, id := parseID(string(m.ID))
	_, from := parseWord(m.From)
	_, to := parseWord(m.To)
	_, kind := parseWord(m.Type)
	var reply, expires error
	if m.ReplyTo != "" {
		_, reply = parseID(string(m.ReplyTo))
	}
	if !m.Expires.IsZero() {
		_, expires = parseTime(formatTime(m.Expires))
	}
	_, sent := parseTime(formatTime(m.Time))
	for _, f := range []struct {
		name string
		err  error
	}{{"id", id}, {"from", from}, {"to", to}, {"reply_to", reply}, {"type", kind}, {"time", sent}, {"expires", expires}} {
		if f.err != nil {
			return fmt.Errorf("%s: %w", f.name, f.err)
		}
	}
	return nil
}

// ParseID checks s and returns it as the id of a message.
func ParseID(s string) (ID, error) { return parseID(s) }

func parseID(s string) (ID, error) {
	if !plain(s) {
		return "", errors.New("must be 1 to 128 characters of A-Z a-z 0-9 . _ -, the first no dot")
	}
	return ID(s), nil
}

// plain is the form of ids and of file names.
func plain(s string) bool {
	if s == "" || len(s) > maxName || s[0] == '.' {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

// parseWord keeps what people are shown beside a message on one line.
func parseWord(s string) (string, error) {
	if s == "" || len(s) > maxName || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "", errors.New("must be 1 to 128 bytes of printable characters")
	}
	return s, nil
}

func parseTime(s string) (time.Time, error) {
	var t time.Time
	if err := t.UnmarshalText([]byte(s)); err != nil {
		return time.Time{}, errors.New(`must be a time such as "2026-01-31T12:00:00Z" (RFC 3339)`)
	}
	t = t.UTC()
	if t.Year() < 1970 || t.Year() > 9999 {
		return time.Time{}, errors.New("must be a time from 1970 to 9999")
	}
	return t, nil
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
