package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"emberd/memory"
	"emberd/rekindle"
	"emberd/vault"
)

// carrier lists what is wrong between a note and the memory whose id it carries.
func (c *checking) carrier(ctx context.Context, note *vault.Note) {
	if note.MemoryID == "" || note.Copy {
		return
	}
	id, err := memory.ParseID(note.MemoryID)
	if err != nil {
		c.find("memory", note.Path, 0, "its property memory-id is %.40q, which is no id of a memory; copy one from emberd list, or remove the property", note.MemoryID)
		return
	}
	c.carried[id] = append(c.carried[id], note)
	row, live := c.e.stm.Get(id)
	switch {
	case !live && c.e.stm.Trashed(id):
		if c.e.truth.waits(id) {
			return // it may be about to come back
		}
		c.find("memory", note.Path, 0, "memory %s, whose id it carries, is in the trash; emberd trash restore %s brings it back, or remove the property memory-id", id.Short(), id.Short())
	case !live:
		c.find("memory", note.Path, 0, "there is no memory %s here, whose id it carries; remove the property memory-id, unless another emberd uses this vault", id)
	default:
		if m, err := row.Memory(); err == nil && cmp.Or(homeOf(&m), note.Path) == note.Path {
			c.agree(ctx, &m, note)
		}
	}
}

// agree lists what a memory cannot take over of its note, or has not.
func (c *checking) agree(ctx context.Context, m *memory.Memory, note *vault.Note) {
	switch {
	case homeOf(m) == "" && c.e.notes.inArchive(note.Path) && !shortened(m):
		if !says(note, m) {
			c.find("memory", note.Path, 0, "it has another text than memory %s, whose id it carries and whose text is not archived; delete the note, or remove the property memory-id", m.ID.Short())
		}
		return
	case shortened(m) && rekindle.Digest(note.Carried.Body) != m.TextDigest:
		c.find("memory", note.Path, 0, "its text was changed since that of memory %s was archived in it; emberd rekindle %s takes it as it is now", m.ID.Short(), m.ID.Short())
	}
	before := maps.Clone(m.NoteSeen)
	refused := c.e.takeOver(ctx, m, note)
	for _, r := range refused {
		c.find("memory", note.Path, 0, "memory %s: %s", m.ID.Short(), r.why)
	}
	if long := tooLong(m.Content); long != "" {
		c.find("memory", note.Path, 0, "memory %s: %s", m.ID.Short(), long)
	}
	if !maps.Equal(before, m.NoteSeen) && !c.e.truth.waits(m.ID) {
		c.find("memory", note.Path, 0, "it says other than memory %s, which is newer or was restored; save the note to have it taken over", m.ID.Short())
	}
	if ahead := c.ahead(m, note); len(ahead) > 0 {
		c.find("memory", note.Path, 0, "memory %s has another %s than it, from an edit that did not reach the note; make the note say what is right", m.ID.Short(), strings.Join(ahead, " and "))
	}
}

// ahead are the fields that a note says otherwise than its memory, although nothing is
// on its way from one to the other. A stage is the memory's own.
func (c *checking) ahead(m *memory.Memory, note *vault.Note) []string {
	says, same, waiting := fingerprints(note.Carried), agreed(m, note.Carried), c.e.pending.fields(m.ID)
	return slices.DeleteFunc(noteFields(), func(field string) bool {
		_, is := note.Carried.Fields[field]
		own := field == "stage" || field == contentField && m.PromotedTo == "" || !slices.Contains(takenOf(m), field)
		silent := field == "tags" && len(note.Carried.Tags) == 0 || field == "category" && !is
		return own || silent || same[field] != "" || m.NoteSeen[field] != says[field] || slices.Contains(waiting, field)
	})
}

// memories lists ids that several notes carry, and memories whose note is not there.
func (c *checking) memories() {
	for _, id := range slices.Sorted(maps.Keys(c.carried)) {
		notes := c.carried[id]
		if len(notes) < 2 {
			continue
		}
		its := c.noteAmong(id, notes)
		for _, note := range notes {
			switch {
			case its == "":
				c.find("duplicate", note.Path, 0, "it carries the id of memory %s, as other notes do; remove the property memory-id from all but one of them", id.Short())
			case note.Path != its:
				c.find("duplicate", note.Path, 0, "it carries the id of memory %s, whose note is %q; remove the property memory-id from one of them", id.Short(), its)
			}
		}
	}
	there := make(map[string]*vault.Note)
	for _, note := range c.read {
		there[note.Path] = note
	}
	for row := range c.e.stm.Rows() {
		if (row.Promoted() || row.Stage().Cold()) && len(c.carried[row.ID()]) == 0 {
			c.orphan(row.Memory, there)
		}
	}
}

// noteAmong is which of several notes is the memory's, "" if that is not settled.
func (c *checking) noteAmong(id memory.ID, notes []*vault.Note) string {
	if row, ok := c.e.stm.Get(id); ok {
		m, err := row.Memory()
		if home := homeOf(&m); err == nil && slices.ContainsFunc(notes, func(n *vault.Note) bool { return n.Path == home }) {
			return home
		}
	}
	return ""
}

// orphan lists a memory that no note carries the id of.
func (c *checking) orphan(read func() (memory.Memory, error), there map[string]*vault.Note) {
	m, err := read()
	home := homeOf(&m)
	if err != nil || home == "" || c.unread[home] || c.e.truth.waits(m.ID) {
		return
	}
	if !m.NoteGone.IsZero() {
		if shortened(&m) {
			c.find("memory", home, 0, "the text of memory %s was in this note, which was deleted, and a summary is what is left; put the note back, or look into emberd history %s", m.ID.Short(), m.ID.Short())
		}
		return
	}
	switch note := there[home]; {
	case note == nil:
	case note.Frontmatter == vault.InvalidFrontmatter:
		c.find("memory", home, 0, "memory %s stays as it is while the frontmatter of its note is not valid; mend the frontmatter, or emberd forget %s", m.ID.Short(), m.ID.Short())
		return
	default:
		c.find("memory", home, 0, "it does not carry the id of memory %s any more, which stays as it is; give it the property memory-id: %s again, or emberd forget %s", m.ID.Short(), m.ID, m.ID.Short())
		return
	}
	if !absent(c.e.notes.vault.Load(), home) {
		return // it is passed over, as the settings say
	}
	c.find("memory", home, 0, "this note of memory %s is not there, and the memory stays as it is; put the note back, or emberd forget %s", m.ID.Short(), m.ID.Short())
}
