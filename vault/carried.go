package vault

import (
	"bytes"
	"slices"
	"strings"
)

// Carried is what a note says of the memory whose id it carries.
type Carried struct {
	ID   string // the property memory-id, as written
	Body string // the text in the form that [Body] gives, without emberd's regions
	Tags []string
	// Fields are the properties category, strength and stage as written. One that
	// the note has not is not in it.
	Fields map[string]string
}

// carried takes from the properties what is said of a memory, nil if none is named.
func carried(properties []property) *Carried {
	at := slices.IndexFunc(properties, func(p property) bool { return p.key == "memory-id" && p.text != "" })
	if at < 0 {
		return nil
	}
	c := &Carried{ID: properties[at].text, Fields: make(map[string]string)}
	for _, p := range properties {
		switch p.key {
		case "tags", "tag":
			c.Tags = append(c.Tags, p.values(splitTags)...)
		case "category", "strength", "stage":
			c.Fields[p.key] = p.text
		}
	}
	return c
}

// trimBody drops the empty lines at both ends of a text, and the blanks at its end.
func trimBody(s string) string {
	s = strings.TrimRight(s, " \t\n")
	for {
		line, rest, more := strings.Cut(s, "\n")
		if !more || strings.TrimLeft(line, " \t") != "" {
			return s
		}
		s = rest
	}
}

// withoutRegions leaves out the lines of all regions that are whole.
func withoutRegions(body []byte) []byte {
	if !bytes.Contains(body, []byte("<!-- emberd:")) {
		return body
	}
	var out, held []byte
	var f fence
	name := ""
	for line := range bytes.Lines(body) {
		words := strings.TrimRight(string(line), " \t\n")
		begins, isBegin := strings.CutPrefix(words, "<!-- emberd:")
		switch {
		case f.inCode(line):
		case name == "" && isBegin && strings.HasSuffix(begins, " -->"):
			name = strings.TrimSuffix(begins, " -->")
		case name != "" && words == "<!-- /emberd:"+name+" -->":
			name, held = "", nil
			continue
		}
		if name != "" {
			held = append(held, line...)
			continue
		}
		out = append(out, line...)
	}
	return append(out, held...)
}
