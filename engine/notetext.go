package engine

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"emberd/memory"
	"emberd/vault"
)

// noteBytes is the note of a memory: a function of the merged memories alone, so that
// two devices that promote it make the same file. What changes by itself, by use or
// with time, is not in it. related are links to other notes.
func noteBytes(m *memory.Memory, related ...string) []byte {
	if len(related) == 0 {
		return composed(m)
	}
	return composed(m, vault.Field{Key: relatedKey, Value: vault.List(related...)})
}

// composed is the note of a memory with more properties at the end.
func composed(m *memory.Memory, more ...vault.Field) []byte {
	properties := []vault.Field{{Key: memoryIDKey, Value: vault.Text(string(m.ID))}}
	add := func(key string, value vault.Value, is bool) {
		if is {
			properties = append(properties, vault.Field{Key: key, Value: value})
		}
	}
	aliases, sources := aliasesOf(m), sourcesOf(m)
	add("aliases", vault.List(aliases...), len(aliases) > 0)
	for _, f := range noteProperties() {
		if value, ok := f.value(m); f.key != stageKey {
			add(f.key, value, ok)
		}
	}
	add("sources", vault.List(sources...), len(sources) > 0)
	return vault.Compose(append(properties, more...), m.Content)
}

// noteProperty is a property of a note that tells a field of its memory.
type noteProperty struct {
	key   string // of the note
	field string // of the memory
	value func(m *memory.Memory) (vault.Value, bool)
}

// noteProperties lists them in the order of a new note.
func noteProperties() []noteProperty {
	text := func(key string, of func(m *memory.Memory) string) noteProperty {
		return noteProperty{key, key, func(m *memory.Memory) (vault.Value, bool) { return vault.Text(of(m)), of(m) != "" }}
	}
	list := func(key string, of func(m *memory.Memory) []string) noteProperty {
		return noteProperty{key, key, func(m *memory.Memory) (vault.Value, bool) { return vault.List(of(m)...), len(of(m)) > 0 }}
	}
	return []noteProperty{
		{"created", "created_at", func(m *memory.Memory) (vault.Value, bool) { return vault.DateTime(m.CreatedAt.UTC()), true }},
		{updatedKey, "updated_at", func(m *memory.Memory) (vault.Value, bool) {
			return vault.DateTime(m.UpdatedAt.UTC()), !m.UpdatedAt.IsZero() && !seconds(m.UpdatedAt).Equal(seconds(m.CreatedAt))
		}},
		list("tags", func(m *memory.Memory) []string { return noteTags(m.Tags) }),
		text("category", func(m *memory.Memory) string { return m.Category }),
		text("type", func(m *memory.Memory) string { return m.Type }),
		text("source", func(m *memory.Memory) string { return m.Source }),
		{"strength", "strength", func(m *memory.Memory) (vault.Value, bool) {
			return vault.Number(m.Strength), m.Strength != 1 && !m.StrengthFound
		}},
		{stageKey, stageKey, func(m *memory.Memory) (vault.Value, bool) {
			return vault.Text(string(m.Stage)), m.Stage != "" && m.Stage != memory.Active
		}},
		list("entities", func(m *memory.Memory) []string { return entityLinks(m.Entities) }),
	}
}

// noteTags are the tags of a memory as Obsidian takes them. It wants something besides
// digits and slashes, so one of nothing else gets a "_" in front, which normalising a tag
// takes away again.
func noteTags(tags []string) []string {
	out := slices.Clone(tags)
	for i, tag := range out {
		if isNumeric(tag) {
			out[i] = "_" + tag
		}
	}
	return out
}

// tagOfNote is the tag that one of a note is searched by.
func tagOfNote(name string) string {
	if tag := strings.TrimLeft(name, "_"); isNumeric(tag) {
		return tag
	}
	return name
}

func isNumeric(tag string) bool { return tag != "" && strings.Trim(tag, "0123456789/") == "" }

const (
	// updatedKey is the property that goes along with every other one.
	updatedKey = "updated"
	// stageKey is a property that only a human begins: emberd would have to touch the
	// note whenever its memory fades.
	stageKey = "stage"
)

func seconds(t time.Time) time.Time { return t.Truncate(time.Second) }

// noteEdit is what makes a note tell the given fields of the memory as they are. was
// is the note's text, which what is left of a cold memory never takes the place of.
func noteEdit(m *memory.Memory, changed []string, was string) vault.Edit {
	var e vault.Edit
	for _, f := range noteProperties() {
		if !slices.Contains(changed, f.field) && f.key != updatedKey {
			continue
		}
		if value, ok := f.value(m); ok {
			e.Set = append(e.Set, vault.Field{Key: f.key, Value: value})
		} else {
			e.Unset = append(e.Unset, f.key)
		}
	}
	if slices.Contains(changed, contentField) && !m.Stage.Cold() && !shortened(m) {
		e.Body = &vault.BodyEdit{Was: was, Now: m.Content}
	}
	return e
}

// inNote returns those of the fields that a note tells.
func inNote(changed []string) []string {
	var out []string
	for _, field := range changed {
		told := func(f noteProperty) bool { return f.field == field && f.key != updatedKey }
		if field == contentField || slices.ContainsFunc(noteProperties(), told) {
			out = append(out, field)
		}
	}
	return out
}

const contentField = "content"

// noteNames are the paths to try for a new note, best first.
func (e *Engine) noteNames(m *memory.Memory) []string { return e.namesIn(e.opt.VaultPromoted, m) }

// namesIn are the names to try, with a grant the one that tells nothing of other notes.
func (e *Engine) namesIn(folder string, m *memory.Memory) []string {
	title := titleOf(m)
	own := path.Join(folder, vault.NoteName(title, m.ID.Short()))
	if e.grant != nil {
		return []string{own}
	}
	return []string{path.Join(folder, vault.NoteName(title, "")), own}
}

// longestTitle is in characters.
const longestTitle = 60

// titleOf is the memory's name, or what its text begins with.
func titleOf(m *memory.Memory) string {
	return shortTitle(firstLine(m))
}

// firstLine is what titleOf shortens, with single blanks.
func firstLine(m *memory.Memory) string {
	var name string
	if json.Unmarshal(m.Meta["name"], &name) == nil && hasWord(name) {
		return strings.Join(strings.Fields(name), " ")
	}
	for line := range strings.Lines(m.Content) {
		if line = plainLine(line); hasWord(line) {
			return strings.Join(strings.Fields(line), " ")
		}
	}
	return ""
}

func hasWord(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.In(r, unicode.So) })
}

// Marks of Markdown that a title is better without.
var (
	lineMarks = regexp.MustCompile("^(?:\\s|#{1,6}\\s|>|[-*+]\\s|\\d{1,9}[.)]\\s|\\[[ xX]\\]\\s|`{3,}|~{3,})*")
	aliased   = regexp.MustCompile(`!?\[\[[^\[\]|]*\|([^\[\]]*)\]\]`)
	linked    = regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()]*\)`)
	emphasis  = regexp.MustCompile("\\*+|~~|==|`+|\\b__|__\\b")
)

// plainLine looks for marks only where a letter of theirs is, since a line may be a whole
// text of many thousand words.
func plainLine(line string) string {
	line = lineMarks.ReplaceAllString(line, "")
	if strings.Contains(line, "[") {
		line = aliased.ReplaceAllString(line, "$1")
		line = linked.ReplaceAllString(line, "$1")
	}
	if strings.ContainsAny(line, "*~=`_") {
		line = emphasis.ReplaceAllString(line, "")
	}
	return strings.TrimSpace(line)
}

// shortTitle ends a title behind a word, or where it has no blanks behind a letter
// with all its marks.
func shortTitle(s string) string {
	letters := []rune(s)
	if len(letters) <= longestTitle {
		return string(letters)
	}
	at := longestTitle
	for at > longestTitle/2 && letters[at] != ' ' {
		at--
	}
	if letters[at] != ' ' {
		at = longestTitle
		for at > 1 && (unicode.Is(unicode.M, letters[at]) || letters[at] == 0x200d || letters[at-1] == 0x200d) {
			at--
		}
	}
	return strings.TrimRight(string(letters[:at]), " ,;:-–—")
}
