package transcripts

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"emberd/internal/text"
	"emberd/op"
)

// head is what a file says of its session before the messages.
type head struct {
	Title, Agent, ID, Project, Folder string
	First, Last                       time.Time // of its messages, zero where none has a time
}

// message is a message as it is stored.
type message struct {
	key     string // digest of the id that the agent gave it
	role    string
	at      time.Time
	text    string
	removed bool // by a purge: it has no text, and gets none again
	line    int  // of its heading, from 1; 0 for one that was not read from a file
}

// session is a file.
//
// It begins with properties between two lines "---", each a name and a text in quotes. Each message has a heading with
// who said it, when, and its key:
//
//	## user 2026-03-04T10:00:01Z 0123456789abcdef
//
// A line of a message that could be taken for a heading has a backslash before it, as in Markdown.
type session struct {
	head
	messages []message
}

var (
	headings = text.Pattern(`^## (user|agent) (-|[0-9TZ:.-]+) ([0-9a-f]{16})( removed)?$`)
	escaped  = text.Pattern(`^\\*## `)
)

// digest returns 16 hex digits that stand for some texts.
func digest(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// fileName returns the name of the file of a session.
func fileName(agent, id string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return -1
	}, strings.ToLower(agent))
	return plain[:min(len(plain), 40)] + "-" + digest(agent, id) + fileExt
}

const (
	fileExt      = ".md"
	forgottenExt = ".forgotten" // in place of fileExt: an empty file for a session that is not to be stored again
	noTime       = "-"
)

// fields returns the texts of the properties by their names.
func (h *head) fields() []struct {
	name string
	text *string
} {
	return []struct {
		name string
		text *string
	}{{"title", &h.Title}, {"agent", &h.Agent}, {"session", &h.ID}, {"project", &h.Project}, {"folder", &h.Folder}}
}

// render returns the file of a session.
func (s *session) render() []byte {
	var b strings.Builder
	b.WriteString("---\n")
	for _, f := range s.fields() {
		fmt.Fprintf(&b, "%s: %s\n", f.name, strconv.Quote(*f.text))
	}
	fmt.Fprintf(&b, "first: %s\nlast: %s\n---\n", timeText(s.First), timeText(s.Last))
	for _, m := range s.messages {
		fmt.Fprintf(&b, "\n## %s %s %s", m.role, timeText(m.at), m.key)
		if m.removed {
			b.WriteString(" removed\n")
			continue
		}
		b.WriteString("\n\n")
		for line := range strings.SplitSeq(m.text, "\n") {
			if escaped().MatchString(line) {
				b.WriteByte('\\')
			}
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return []byte(b.String())
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return noTime
	}
	return t.UTC().Format(time.RFC3339)
}

func timeOf(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text) // the zero time for noTime
	return t
}

// parse reads a file. It takes any text: what is no heading belongs to the message before it.
func parse(data []byte) *session {
	s := &session{}
	lines := strings.Split(string(data), "\n")
	from := s.head.parse(lines)
	var body []string
	end := func() {
		if n := len(s.messages); n > 0 {
			s.messages[n-1].text = strings.Trim(strings.Join(body, "\n"), "\n")
		}
		body = body[:0]
	}
	for i, line := range lines[from:] {
		if m := headings().FindStringSubmatch(line); m != nil {
			end()
			s.messages = append(s.messages, message{role: m[1], at: timeOf(m[2]), key: m[3], removed: m[4] != "",
				line: from + i + 1})
			continue
		}
		if escaped().MatchString(line) {
			line = strings.TrimPrefix(line, `\`)
		}
		body = append(body, line)
	}
	end()
	return s
}

// parse reads the properties and returns the number of their lines.
func (h *head) parse(lines []string) int {
	if lines[0] != "---" {
		return 0
	}
	for i, line := range lines[1:] {
		if line == "---" {
			return i + 2
		}
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "first":
			h.First = timeOf(value)
		case "last":
			h.Last = timeOf(value)
		}
		for _, f := range h.fields() {
			if f.name == name {
				*f.text, _ = strconv.Unquote(value) // "" if it is broken
			}
		}
	}
	return len(lines)
}

// section is a part of a session that answers as one: what a person said and how the agent answered. A question has
// words that its answer leaves out.
type section []*message

// line identifies a section of a file.
func (s section) line() int { return s[0].line }

func (s section) text() string {
	var b strings.Builder
	for _, m := range s {
		b.WriteString(m.text)
		b.WriteByte('\n')
	}
	return b.String()
}

// sections returns the parts of a session that have a text.
func (s *session) sections() []section {
	var all []section
	for i := range s.messages {
		m := &s.messages[i]
		if m.removed || m.text == "" {
			continue
		}
		if len(all) == 0 || m.role == op.RoleUser {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], m)
	}
	return all
}
