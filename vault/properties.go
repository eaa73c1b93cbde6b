package vault

import (
	"errors"
	"strings"
	"time"

	"emberd/vault/frontmatter"
	"emberd/vault/lex"
	"emberd/vault/markdown"
)

// readFrontmatter reads the properties into the note, and returns where the body starts.
func (n *Note) readFrontmatter(o *markdown.Builder, src []byte) int {
	block, body, ok := frontmatter.Find(src)
	if !ok {
		return 0
	}
	properties, err := frontmatter.Read(block)
	bad, isFault := errors.AsType[*frontmatter.Fault](err)
	switch {
	case isFault:
		n.Frontmatter = InvalidFrontmatter
		n.Report(1+max(bad.Line, 1), "%s; emberd ignores the properties of this note, but reads its text", bad.Text)
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

// property adds one property to the note: known ones by their meaning, others as text.
func (n *Note) property(o *markdown.Builder, p frontmatter.Property) {
	line := 1 + p.Line // the first line is ---
	switch p.Key {
	case "title":
		if p.Text != "" {
			n.Title = p.Text
		}
	case "aliases", "alias":
		n.Aliases = append(n.Aliases, p.Values(splitLines)...)
	case "tags", "tag":
		n.tagList(o, p)
	case "memory-id":
		n.MemoryID = p.Text
	case ListKey:
		n.List = p.Text
	default:
		if !n.date(p) {
			n.Properties = append(n.Properties, markdown.Property{Key: p.Key, Value: p.Text, Line: line})
		}
	}
	n.Links = append(n.Links, markdown.Wikilinks(p.Text, line)...)
}

func splitLines(s string) []string { return strings.Split(s, "\n") }

func splitTags(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || lex.IsBlank(r) })
}

func (n *Note) tagList(o *markdown.Builder, p frontmatter.Property) {
	for _, name := range p.Values(splitTags) {
		name = strings.Trim(strings.TrimPrefix(name, "#"), "/")
		if markdown.ValidTag(name) {
			o.Tag(name)
		}
	}
}

// date sets the dates of the note. It returns false for other properties, and for values that are
// no date.
func (n *Note) date(p frontmatter.Property) bool {
	var into *time.Time
	switch p.Key {
	case "created", "date":
		into = &n.Created
	case "updated", "modified":
		into = &n.Updated
	default:
		return false
	}
	t, ok := parseTime(strings.Trim(p.Text, "[]"))
	if ok {
		*into = t
	}
	return ok
}

// parseTime reads the forms that Obsidian and its plugins write, and RFC 3339.
func parseTime(s string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05",
		"2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
