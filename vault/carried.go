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
	var out []byte
	at := 0
	for _, r := range wholeRegions(body) {
		out = append(out, body[at:r.start]...)
		at = r.end
	}
	return append(out, body[at:]...)
}

// wholeRegions finds the regions of any name that have both marks.
func wholeRegions(body []byte) (all []region) {
	if !bytes.Contains(body, []byte("<!-- emberd:")) {
		return nil
	}
	var f fence
	var open region
	name, at := "", 0
	for line := range bytes.Lines(body) {
		words := strings.TrimRight(string(line), " \t\n")
		begins, isBegin := strings.CutPrefix(words, "<!-- emberd:")
		switch {
		case f.inCode(line):
		case name == "" && isBegin && strings.HasSuffix(begins, " -->"):
			name, open.start, open.from = strings.TrimSuffix(begins, " -->"), at, at+len(line)
		case name != "" && words == "<!-- /emberd:"+name+" -->":
			open.to, open.end = at, at+len(line)
			name, all = "", append(all, open)
		}
		at += len(line)
	}
	return all
}

// ListKey is the property of a note that holds a list of memories. Its value is the name
// of the region that the list stands in.
const ListKey = "emberd"

// Lists are the names of such regions. It returns a fresh slice.
func Lists() []string { return []string{"index", "core", "inbox"} }

// listIn is the name of the first list that stands in a text, "" if none does.
func listIn(body []byte) string {
	for _, name := range Lists() {
		if _, found, err := findRegion(body, 0, name); found || err != nil && bytes.Contains(body, []byte("<!-- emberd:"+name+" -->")) {
			return name
		}
	}
	return ""
}

// CarriedBy returns what a note of these bytes says of the memory whose id it
// carries, nil if it carries none.
func CarriedBy(note []byte) *Carried {
	return parse(func(*outline) {}, File{Size: int64(len(note))}, note).Carried
}
