package vault

import (
	"bytes"
	"errors"
	"strings"
	"time"
)

// readFrontmatter takes in the properties and returns where the body starts.
func (n *Note) readFrontmatter(o *outline) int {
	block, body, ok := findFrontmatter(o.src)
	if !ok {
		return 0
	}
	properties, err := readProperties(block)
	bad, isFault := errors.AsType[*fault](err)
	switch {
	case isFault:
		n.Frontmatter = InvalidFrontmatter
		n.problem(1+max(bad.line, 1), "%s; the properties of this note are not read, its text is", bad.text)
	case len(properties) == 0:
		n.Frontmatter = EmptyFrontmatter
	default:
		n.Frontmatter = ValidFrontmatter
	}
	for _, p := range properties {
		n.property(o, p)
	}
	n.Carried = carried(properties)
	return body
}

// property takes in one property: those that Obsidian and emberd know by their
// meaning, the others as text.
func (n *Note) property(o *outline, p property) {
	line := 1 + p.line // the first line is ---
	switch p.key {
	case "title":
		if p.text != "" {
			n.Title = p.text
		}
	case "aliases", "alias":
		n.Aliases = append(n.Aliases, p.values(splitLines)...)
	case "tags", "tag":
		n.tagList(o, p)
	case "memory-id":
		n.MemoryID = p.text
	case ListKey:
		n.List = p.text
	default:
		if !n.date(p) {
			n.Properties = append(n.Properties, Property{Key: p.key, Value: p.text, Line: line})
		}
	}
	n.propertyLinks(p, line)
}

// values returns the items of a list, or the parts of a text.
func (p property) values(split func(string) []string) []string {
	items := p.items
	if !p.list {
		items = split(p.text)
	}
	var values []string
	for _, item := range items {
		if item = strings.TrimSpace(item); item != "" {
			values = append(values, item)
		}
	}
	return values
}

func splitLines(s string) []string { return strings.Split(s, "\n") }

func splitTags(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || isBlank(r) })
}

func (n *Note) tagList(o *outline, p property) {
	for _, name := range p.values(splitTags) {
		name = strings.Trim(strings.TrimPrefix(name, "#"), "/")
		if validTag(name) {
			o.tag(name)
		}
	}
}

// date takes in the dates of the note, and leaves those it cannot understand.
func (n *Note) date(p property) bool {
	var into *time.Time
	switch p.key {
	case "created", "date":
		into = &n.Created
	case "updated", "modified":
		into = &n.Updated
	default:
		return false
	}
	t, ok := parseTime(strings.Trim(p.text, "[]"))
	if ok {
		*into = t
	}
	return ok
}

// parseTime reads the forms that Obsidian and its plugins write, and RFC 3339.
func parseTime(s string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// propertyLinks takes in the wikilinks in a value.
func (n *Note) propertyLinks(p property, line int) {
	for rest := []byte(p.text); ; {
		at := bytes.Index(rest, []byte("[["))
		if at < 0 {
			return
		}
		m, size := scanWikilink(rest[at:])
		if size > 0 {
			m.link.Line = line
			n.Links = append(n.Links, *m.link)
		}
		rest = rest[at+max(size, 2):]
	}
}

// readFlat reads a block beyond the limits of YAML if it is nothing but lines of
// "key: value", as programs write them that keep records in notes.
func readFlat(block []byte) ([]property, error) {
	tooLarge := func(line int) error {
		return &fault{line, "the frontmatter is larger than 64 KiB, 1,000 keys or 32 levels; shorten it"}
	}
	var all []property
	seen := map[string]bool{}
	line := 0
	for text := range strings.Lines(string(block)) {
		line++
		p, ok := flatProperty(strings.TrimRight(text, " \t\n"))
		if !ok || seen[p.key] {
			return nil, tooLarge(line)
		}
		seen[p.key] = true
		p.line = line
		all = append(all, p)
	}
	return all, nil
}

// flatProperty reads a line that means the same in YAML whatever stands around it.
func flatProperty(line string) (property, bool) {
	key, value, ok := strings.Cut(line, ":")
	value = strings.TrimLeft(value, " ")
	if !ok || key == "" || key != strings.Trim(key, " \t") || special(key) {
		return property{}, false
	}
	quoted := len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0]
	if quoted {
		value = value[1 : len(value)-1]
		if strings.ContainsAny(value, `"'\`) {
			return property{}, false
		}
	} else if special(value) {
		return property{}, false
	}
	return property{key: key, text: value}, true
}

// special reports text that YAML may read as more than plain text.
func special(s string) bool {
	return s != "" && strings.ContainsRune("-?:,[]{}#&*!|>'\"%@`", rune(s[0])) ||
		strings.Contains(s, ": ") || strings.Contains(s, " #") || strings.HasSuffix(s, ":")
}
