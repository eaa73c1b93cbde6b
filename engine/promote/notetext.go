package promote

import (
	"bytes"
	"path"
	"slices"
	"time"

	"emberd/engine/core"
	"emberd/engine/graph"
	"emberd/engine/notes"
	"emberd/memory"
	"emberd/vault/frontmatter"
	"emberd/vault/noteedit"
	"emberd/vault/notename"
)

// NoteBytes returns the note of a memory. It depends on the memory only, so that two devices that
// promote it write the same file. It leaves out fields that change automatically. Entities are
// plain text: package notelinks makes links of those that lead somewhere.
func NoteBytes(m *memory.Memory) []byte { return composeNote(m) }

// IsMade reports whether a note is what NoteBytes makes of a memory, whatever its links are. It
// holds for the notes of earlier versions too, which had entities as links and no project.
func IsMade(m *memory.Memory, note []byte) bool {
	bare := frontmatter.Changes{Unset: LinkKeys()}
	has, err := bare.Apply(note)
	made, failed := bare.Apply(NoteBytes(m))
	return err == nil && failed == nil && bytes.Equal(has, made)
}

// composeNote returns the note of a memory with more properties at the end; one of the same key
// replaces that of the memory.
func composeNote(m *memory.Memory, more ...frontmatter.Field) []byte {
	properties := []frontmatter.Field{{Key: notes.MemoryIDKey, Value: frontmatter.Text(string(m.ID))}}
	add := func(key string, value frontmatter.Value, is bool) {
		i := slices.IndexFunc(more, func(f frontmatter.Field) bool { return f.Key == key })
		if i >= 0 {
			properties, more, is = append(properties, more[i]), slices.Delete(slices.Clone(more), i, i+1), false
		}
		if is {
			properties = append(properties, frontmatter.Field{Key: key, Value: value})
		}
	}
	aliases, sources := graph.AliasesOf(m), graph.SourcesOf(m)
	add("aliases", frontmatter.List(aliases...), len(aliases) > 0)
	for _, f := range noteProperties() {
		if value, ok := f.value(m); f.key != stageKey {
			add(f.key, value, ok)
		}
	}
	add("sources", frontmatter.List(sources...), len(sources) > 0)
	return noteedit.Compose(append(properties, more...), m.Content)
}

// noteProperty is a property of a note for a field of its memory.
type noteProperty struct {
	key   string // of the note
	field string // of the memory
	value func(m *memory.Memory) (frontmatter.Value, bool)
}

// The properties that package notelinks keeps up to date in notes of promoted memories, besides
// the lists of relations. A promotion writes them, and no later write of a memory's fields does.
const (
	EntitiesKey = "entities"
	ProjectKey  = "project"
	OriginKey   = "origin"
)

// The lists of relations in a note.
const (
	SupersedesKey   = "supersedes"
	SupersededByKey = "superseded-by"
)

// RelationKeys returns the properties that list relations, the most important first.
func RelationKeys() []string {
	return []string{SupersededByKey, SupersedesKey, memory.Contradicts, memory.Supports, memory.Causes, memory.Related}
}

// LinkKeys returns all properties that package notelinks writes.
func LinkKeys() []string { return append(RelationKeys(), EntitiesKey, ProjectKey, OriginKey) }

// keptByLinks reports whether a property is one that a write of a memory's fields leaves alone.
func keptByLinks(m *memory.Memory, key string) bool {
	return m.PromotedTo != "" && slices.Contains(LinkKeys(), key)
}

// noteProperties returns the properties in the order of a new note.
func noteProperties() []noteProperty {
	text := func(key string, of func(m *memory.Memory) string) noteProperty {
		return noteProperty{key, key,
			func(m *memory.Memory) (frontmatter.Value, bool) { return frontmatter.Text(of(m)), of(m) != "" }}
	}
	list := func(key string, of func(m *memory.Memory) []string) noteProperty {
		return noteProperty{key, key,
			func(m *memory.Memory) (frontmatter.Value, bool) { return frontmatter.List(of(m)...), len(of(m)) > 0 }}
	}
	return []noteProperty{
		{"created", "created_at",
			func(m *memory.Memory) (frontmatter.Value, bool) { return frontmatter.DateTime(m.CreatedAt.UTC()), true }},
		{updatedKey, "updated_at", func(m *memory.Memory) (frontmatter.Value, bool) {
			return frontmatter.DateTime(m.UpdatedAt.UTC()), !m.UpdatedAt.IsZero() &&
				!seconds(m.UpdatedAt).Equal(seconds(m.CreatedAt))
		}},
		list("tags", func(m *memory.Memory) []string { return notes.NoteTags(m.Tags) }),
		text("category", func(m *memory.Memory) string { return m.Category }),
		text("type", func(m *memory.Memory) string { return m.Type }),
		text("source", func(m *memory.Memory) string { return m.Source }),
		{"strength", "strength", func(m *memory.Memory) (frontmatter.Value, bool) {
			return frontmatter.Number(m.Strength), m.Strength != 1 && !m.StrengthFound
		}},
		{stageKey, stageKey, func(m *memory.Memory) (frontmatter.Value, bool) {
			return frontmatter.Text(string(m.Stage)), m.Stage != "" && m.Stage != memory.Active
		}},
		text(ProjectKey, func(m *memory.Memory) string { return m.Project }),
		text(OriginKey, originOf),
		list(EntitiesKey, graph.Spelled),
	}
}

// originOf returns whose words a memory is, "" for the user's.
func originOf(m *memory.Memory) string {
	if m.Origin == memory.FromUser {
		return ""
	}
	return m.Origin
}

const (
	// updatedKey is the property that changes with every other one.
	updatedKey = "updated"
	// stageKey is a property that only the user adds. Otherwise emberd would have to write the
	// note whenever the memory fades.
	stageKey = "stage"
)

func seconds(t time.Time) time.Time { return t.Truncate(time.Second) }

// NoteEdit returns the edit that writes the given fields of the memory to a note. was is the
// note's text, which the summary of a cold memory never replaces.
func NoteEdit(m *memory.Memory, changed []string, was string) noteedit.Edit {
	var e noteedit.Edit
	for _, f := range noteProperties() {
		if !slices.Contains(changed, f.field) && f.key != updatedKey || keptByLinks(m, f.key) {
			continue
		}
		if value, ok := f.value(m); ok {
			e.Set = append(e.Set, frontmatter.Field{Key: f.key, Value: value})
		} else {
			e.Unset = append(e.Unset, f.key)
		}
	}
	if slices.Contains(changed, core.ContentField) && !m.Stage.Cold() && !core.Shortened(m) {
		e.Body = &noteedit.BodyEdit{Was: was, Now: m.Content}
	}
	return e
}

// InNote returns those fields that a write of a memory's fields changes in its note.
func InNote(m *memory.Memory, changed []string) []string {
	var out []string
	for _, field := range changed {
		told := func(f noteProperty) bool {
			return f.field == field && f.key != updatedKey && !keptByLinks(m, f.key)
		}
		if field == core.ContentField || slices.ContainsFunc(noteProperties(), told) {
			out = append(out, field)
		}
	}
	return out
}

// NoteNames returns the paths to try for a new note, best first.
func (e *Promote) NoteNames(m *memory.Memory) []string { return e.NamesIn(e.Opt.VaultPromoted, m) }

// NamesIn returns the names to try. With a grant it is only the one that reveals nothing about
// other notes.
func (e *Promote) NamesIn(folder string, m *memory.Memory) []string {
	title := notes.TitleOf(m)
	own := path.Join(folder, notename.New(title, m.ID.Short()))
	if e.Grant != nil {
		return []string{own}
	}
	return []string{path.Join(folder, notename.New(title, "")), own}
}
