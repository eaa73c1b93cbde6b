package importer

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"emberd/internal/text"
	"emberd/memory"
	"emberd/vault"
	"emberd/vault/lex"
)

// BasicMemoryOptions are those of a folder of basic-memory.
type BasicMemoryOptions struct {
	Options
	// Observations makes a memory of each observation as well, with its category, context
	// and tags, related to the note that it stands in.
	Observations bool
}

// BasicMemory reads a folder of notes as basic-memory keeps them
// (https://docs.basicmemory.com/concepts/knowledge-format). A note becomes one memory with
// its text as it is, or several if it is too long, and every wikilink a relation:
//
//   - [category] an observation #tag (context)
//   - relation_type [[Target]] (context)
//
// A link that does not stand like that is a relation links_to, as there. Targets are looked up
// by permalink, title, path, and the end of a path, in this order and then again in any case.
// What a [vault.Vault] does not read is not read here.
func BasicMemory(ctx context.Context, folder string, o *BasicMemoryOptions) (*Result, error) {
	v, err := vault.Open(folder, nil)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	b := &basicMemory{builder: newBuilder("basic-memory", &o.Options), v: v, each: o.Observations,
		names: map[string]*linkTarget{}, taken: map[memory.ID]bool{}}
	for name, err := range v.Walk(ctx) {
		if err == nil {
			err = b.read(ctx, name)
		}
		if skipped, ok := errors.AsType[*vault.Skipped](err); ok {
			b.Met++
			b.fail(Place{File: name}, skipped)
		} else if err != nil {
			return nil, err
		}
	}
	b.relate()
	return &b.Result, nil
}

type basicMemory struct {
	*builder
	v     *vault.Vault
	each  bool
	notes []*basicNote
	names map[string]*linkTarget
	taken map[memory.ID]bool // ids of notes
}

// linkTarget is what a name means to a link. The least rank wins, of equals the note that came
// first.
type linkTarget struct {
	note  *basicNote
	rank  int
	twice bool // there is another one of this rank
}

// basicNote is a note that became a memory.
type basicNote struct {
	id    memory.ID
	path  string
	title string
	links []basicLink
	parts []notePart // of a note that is too long for one memory
}

// notePart is a memory with a part of a note, from a line on.
type notePart struct {
	id   memory.ID
	line int
}

// basicLink is a relation as a note has it.
type basicLink struct {
	target, kind, context string
	line                  int
}

// read takes in one note.
func (b *basicMemory) read(ctx context.Context, name string) error {
	n, err := b.v.Read(ctx, name)
	if err != nil {
		return err
	}
	text, err := b.v.Text(ctx, name)
	if err != nil {
		return err
	}
	if n.MemoryID != "" || n.List != "" {
		b.note(Place{File: name}, "skipped this note, because emberd wrote it")
		return nil
	}
	b.Met++
	for _, p := range n.Problems {
		b.note(Place{File: name, Line: p.Line}, "%s", p.Text)
	}
	if n.Size > vault.MaxText {
		b.fail(Place{File: name}, memory.Errorf(memory.TooLarge,
			"the note is larger than %d MiB, so emberd skipped the rest; split the file", vault.MaxText>>20))
	}
	head, body := cutFrontmatter(text)
	if n.Frontmatter == vault.InvalidFrontmatter {
		head, body = 0, text
	}
	known := &basicNote{path: name, title: n.Title}
	m := b.memory(n, known, body, head)
	if memory.CodeOf(memory.CheckContent(m.Content)) == memory.TooLarge {
		b.parts(n, known, &m, body, head)
	} else if !b.add(&m, Place{File: name}) {
		return nil
	}
	b.links(n, known, body, head)
	b.notes = append(b.notes, known)
	if b.each {
		b.observations(known, &m, body, head)
	}
	return nil
}

// parts adds the memories of a note that is too long for one. The first of them is the one that links to the note lead
// to; the others lead to it.
func (b *basicMemory) parts(n *vault.Note, known *basicNote, m *memory.Memory, body string, head int) {
	all := splitNote(body, n.Sections, head)
	b.note(Place{File: n.Path},
		"the note has %d characters (limit %d), so emberd splits it at its headings into %d memories",
		utf8.RuneCountInString(m.Content), memory.MaxContent, len(all))
	b.Met += len(all) - 1
	times := map[string]int{}
	for i, p := range all {
		one, at := *m, Place{File: n.Path, Line: head + p.line + 1}
		one.Content = p.content(n.Title)
		if i > 0 {
			name := strings.Join(append(slices.Clone(p.path), firstLine(p.text)), "\x00")
			times[name]++
			one.ID, one.Aliases = b.id(m.Collection, string(m.ID), "part", name, strconv.Itoa(times[name])), nil
			b.Relations = append(b.Relations, Relation{From: one.ID, To: m.ID, FromName: p.header(n.Title),
				ToName: n.Title, Type: memory.Related, Kind: "part_of", Place: at})
		}
		known.parts = append(known.parts, notePart{one.ID, at.Line})
		b.add(&one, at)
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// at returns the memory of the part that a line of the note is in.
func (n *basicNote) at(line int) memory.ID {
	id := n.id
	for _, p := range n.parts {
		if p.line <= line {
			id = p.id
		}
	}
	return id
}

// cutFrontmatter returns the text below the properties of a note, and how many lines these
// take.
func cutFrontmatter(text string) (lines int, body string) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(text, "\ufeff"))
	size := 0
	for line := range strings.Lines(text) {
		dashes := strings.TrimRight(line, " \t\n") == "---"
		if lines == 0 && !dashes {
			return 0, text
		}
		lines, size = lines+1, size+len(line)
		if dashes && lines > 1 {
			return lines, text[size:]
		}
	}
	return 0, text
}

// memory returns what becomes of a note. Its title stands in front, unless the text begins with
// it as a heading.
func (b *basicMemory) memory(n *vault.Note, known *basicNote, body string, head int) memory.Memory {
	m := b.blank()
	m.Content = lex.Bare(body)
	if first, _, _ := strings.Cut(m.Content, "\n"); !strings.EqualFold(strings.TrimSpace(strings.TrimLeft(first, "# ")),
		n.Title) {
		m.Content = strings.TrimSpace(n.Title + "\n\n" + m.Content)
	}
	m.CreatedAt, m.UpdatedAt = n.Created.UTC(), n.Updated.UTC()
	if m.UpdatedAt.Before(m.CreatedAt) {
		m.UpdatedAt = m.CreatedAt
	}
	if one, err := memory.NormalizeEntities([]string{n.Title}); err == nil {
		m.Entities = one
	}
	b.tags(n, &m)
	permalink := b.properties(n, &m, head)
	stem := strings.TrimSuffix(known.path, path.Ext(known.path))
	m.ID = b.id(m.Collection, orElse(permalink, stem))
	if b.taken[m.ID] {
		b.note(Place{File: known.path}, "another note has the name %.80q, so emberd uses the path of this note instead",
			orElse(permalink, stem))
		m.ID, permalink = b.id(m.Collection, "path", known.path), ""
	}
	b.taken[m.ID] = true
	m.Aliases = alsoKnown(m.ID, permalink, n.Title, stem)
	known.id = m.ID
	for rank, name := range []string{permalink, n.Title, known.path, stem, path.Base(stem)} {
		b.name(name, rank, known)
		b.name(fold(name), rank, known)
	}
	return m
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// tags takes as many as a memory can have.
func (b *basicMemory) tags(n *vault.Note, m *memory.Memory) {
	most := memory.MaxTags - len(b.o.Tags)
	for i, tag := range n.Tags {
		one, err := memory.NormalizeTag(tag.Name)
		switch {
		case i >= most:
			b.note(Place{File: n.Path}, "the note has %d tags; emberd keeps only the first %d", len(n.Tags), most)
			return
		case err == nil && !slices.Contains(m.Tags, one):
			m.Tags = append(m.Tags, one)
		}
	}
}

// properties takes in what the frontmatter says, and returns the permalink.
func (b *basicMemory) properties(n *vault.Note, m *memory.Memory, head int) (permalink string) {
	m.Meta = map[string]json.RawMessage{}
	m.Meta["title"], _ = json.Marshal(n.Title) // texts always encode
	for _, p := range n.Properties {
		switch {
		case p.Line > head: // an inline field, which is in the text
		case p.Key == "permalink":
			permalink = strings.TrimSpace(p.Value)
		case p.Key == "type" && memory.CheckText("type", p.Value, memory.MaxName) == nil:
			m.Type = p.Value
		default:
			m.Meta[p.Key], _ = json.Marshal(p.Value)
		}
	}
	if len(n.Aliases) > 0 {
		m.Meta["aliases"], _ = json.Marshal(n.Aliases)
	}
	return permalink
}

// name files a note under what links may call it.
func (b *basicMemory) name(name string, rank int, n *basicNote) {
	before := b.names[name]
	switch {
	case strings.Trim(name, "\x00") == "":
	case before == nil || rank < before.rank:
		b.names[name] = &linkTarget{note: n, rank: rank}
	case rank == before.rank && before.note != n:
		before.twice = true
	}
}

// fold returns a name in any case, as permalinks have it: blanks are hyphens.
func fold(name string) string {
	return "\x00" + strings.NewReplacer(" ", "-", "_", "-").Replace(strings.ToLower(name))
}

var (
	// relationLine is what stands before and behind the link of a relation in an item.
	relationLine = text.Pattern(`^\s*(?:[-*+]|\d{1,9}[.)])\s+("[^"]+"|'[^']+'|[^\s\["']+)\s*\[\[[^\]]*\]\]\s*(?:\((.*)\))?\s*$`)
	// observation is an item with a category.
	observation = text.Pattern(`^\s*(?:[-*+]|\d{1,9}[.)])\s+\[([^\[\]()]+)\]\s+(.+)$`)
	// noCategory is what stands in brackets and is none: a task's mark, a time of a transcript.
	noCategory = text.Pattern(`^(?:[\d:., -]*|[xX]|[^\pL\pN])$`)
)

// links takes in the wikilinks of the text; those in properties stay in meta.
func (b *basicMemory) links(n *vault.Note, known *basicNote, body string, head int) {
	lines := strings.Split(body, "\n")
	for _, l := range n.Links {
		at := l.Line - head - 1
		if l.Target == "" || at < 0 || at >= len(lines) || !wikilink(lines[at], l.Target) {
			continue
		}
		link := basicLink{target: l.Target, kind: "links_to", line: l.Line}
		if m := relationLine().FindStringSubmatch(lines[at]); m != nil {
			link.kind, link.context = strings.Trim(m[1], `"'`), strings.TrimSpace(m[2])
		}
		known.links = append(known.links, link)
	}
}

// wikilink reports whether a line has one to the target, other than in an embedded file.
func wikilink(line, target string) bool {
	for rest := line; ; {
		before, after, found := strings.Cut(rest, "[[")
		if !found {
			return false
		}
		if !strings.HasSuffix(before, "!") && strings.HasPrefix(strings.TrimSpace(after), target) {
			return true
		}
		rest = after
	}
}

// observations makes memories of the observations of a note.
func (b *basicMemory) observations(known *basicNote, note *memory.Memory, body string, head int) {
	fenced := false
	for i, line := range strings.Split(body, "\n") {
		if fence().MatchString(line) {
			fenced = !fenced
		}
		found := observation().FindStringSubmatch(line)
		if fenced || found == nil {
			continue
		}
		category := strings.TrimSpace(found[1])
		if noCategory().MatchString(category) {
			continue
		}
		b.observation(known, note, category, found[2], Place{File: known.path, Line: head + i + 1})
	}
}

func (b *basicMemory) observation(known *basicNote, note *memory.Memory, category, text string, at Place) {
	b.Met++
	m := b.blank()
	m.Content = strings.TrimSpace(text)
	if start := strings.LastIndex(m.Content, "("); start > 0 && strings.HasSuffix(m.Content, ")") {
		m.Context, m.Content = strings.TrimSpace(m.Content[start+1:len(m.Content)-1]),
			strings.TrimSpace(m.Content[:start])
	}
	for word := range strings.FieldsSeq(m.Content) {
		if tag, ok := strings.CutPrefix(word, "#"); ok {
			if one, err := memory.NormalizeTag(tag); err == nil {
				m.Tags = append(m.Tags, one)
			}
		}
	}
	m.Category, m.Entities, m.CreatedAt, m.UpdatedAt = category, note.Entities, note.CreatedAt, note.UpdatedAt
	m.ID = b.id(m.Collection, string(note.ID), category, m.Content)
	if b.add(&m, at) {
		b.Relations = append(b.Relations, Relation{From: m.ID, To: known.id, FromName: m.Content, ToName: known.title,
			Type: memory.Related, Kind: "observation_of", Place: at})
	}
}

// relate makes relations of links, once all notes are known.
func (b *basicMemory) relate() {
	for _, n := range b.notes {
		made := map[Relation]bool{}
		for _, link := range n.links {
			r := Relation{From: n.at(link.line), FromName: n.title, ToName: link.target}
			r.Type, r.Kind = kindOf(link.kind)
			at := Place{File: n.path, Line: link.line}
			to := b.target(link.target)
			if to == nil {
				r.To = b.id(b.blank().Collection, link.target)
			} else {
				r.To = to.note.id
			}
			if r.To == n.id || made[r] {
				continue // a note that links to itself, and a second link of a kind
			}
			made[r] = true
			r.Context, r.Place = link.context, at
			b.Relations = append(b.Relations, r)
			if to != nil && to.twice {
				b.note(at, "several notes have the name %.80q; emberd links the relation to %s", link.target,
					to.note.path)
			}
		}
	}
}

// target returns the note or item that a link names, nil if there is none.
func (b *basicMemory) target(target string) *linkTarget {
	target = strings.TrimPrefix(strings.TrimSpace(target), "memory://")
	if to := b.names[target]; to != nil {
		return to
	}
	return b.names[fold(target)]
}
