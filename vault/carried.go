package vault

import (
	"slices"
	"strings"

	"emberd/vault/frontmatter"
	"emberd/vault/markdown"
)

// memoryIDKey is the property of a note that has the ID of its memory.
const memoryIDKey = "memory-id"

// Carried is what a note contains of the memory whose ID it carries.
type Carried struct {
	ID   string // the property memory-id, as written
	Body string // the text in the form that [neutralize.Body] gives, without emberd's regions
	Tags []string
	// Fields are the properties category, strength and stage as written. One that
	// the note has not is not in it.
	Fields map[string]string
}

// carried returns what the properties contain of a memory, nil if they name none.
func carried(properties []frontmatter.Property) *Carried {
	at := slices.IndexFunc(properties,
		func(p frontmatter.Property) bool { return p.Key == memoryIDKey && p.Text != "" })
	if at < 0 {
		return nil
	}
	c := &Carried{ID: properties[at].Text, Fields: make(map[string]string)}
	for _, p := range properties {
		switch p.Key {
		case "tags", "tag":
			c.Tags = append(c.Tags, p.Values(splitTags)...)
		case "category", "strength", "stage":
			c.Fields[p.Key] = p.Text
		}
	}
	return c
}

// ListKey is the property of a note that holds a list of memories. Its value is the name
// of the region that the list stands in.
const ListKey = "emberd"

// Lists returns the names of such regions, in a new slice.
func Lists() []string { return []string{"index", "core", "inbox"} }

// ProjectList begins the kind of a list of one project's memories, before the project's name. Its region is
// [ListRegion].
const ProjectList = "project/"

// IsList reports whether a value of the property [ListKey] is the kind of a list that emberd writes.
func IsList(kind string) bool {
	return slices.Contains(Lists(), kind) || len(kind) > len(ProjectList) && strings.HasPrefix(kind, ProjectList)
}

// ListRegion returns the name of the region in which a list of some kind stands.
func ListRegion(kind string) string {
	region, _, _ := strings.Cut(kind, "/")
	return region
}

// CarriedBy returns what a note of these bytes contains of the memory whose ID it carries, nil if
// it carries none.
func CarriedBy(note []byte) *Carried {
	return parse(func(*markdown.Builder) {}, File{Size: int64(len(note))}, note).Carried
}

// ListIn returns which list of memories a note of these bytes contains, "" for none. The list is
// one for which [IsList] holds.
func ListIn(note []byte) string {
	n := parse(func(*markdown.Builder) {}, File{Size: int64(len(note))}, note)
	if !IsList(n.List) {
		return ""
	}
	return n.List
}
