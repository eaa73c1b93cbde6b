package memory

import (
	"fmt"
	"strconv"
)

// String describes in a few words the author of a text, who wrote it down, and where it
// are from: "agent claude-code/2.1 in session x, notes.md:12". What the client claimed
// is not marked.
func (s Source) String() string {
	text := s.Kind
	if s.By != nil {
		text += s.By.text()
	}
	if ref := s.Place(); ref != "" {
		text += ", " + ref
	}
	return text
}

// Place is what it was learned from, with the line, "" for nothing.
func (s Source) Place() string {
	if s.Ref != "" && s.Line > 0 {
		return s.Ref + ":" + strconv.Itoa(s.Line)
	}
	return s.Ref
}

func (a Actor) text() string {
	var text string
	switch {
	case a.Via == "cli":
		text = ", by hand"
	case a.Via == "emberd": // which only wrote down what it found
	case a.Client != "":
		text = " " + a.Client
	case a.Via != "":
		text = " over " + a.Via
	}
	if a.Session != "" {
		text += " in session " + a.Session
	}
	return text
}

// SourceText says in a few words where the memory was learned first, and how often since;
// "" if nothing is known of that.
func (m *Memory) SourceText() string {
	if len(m.Sources) == 0 {
		return ""
	}
	text := m.Sources[0].String()
	if n := m.Learned(); n > 1 {
		text += fmt.Sprintf("; learned %d times", n)
	}
	return text
}
