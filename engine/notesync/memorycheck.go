package notesync

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/rekindle"
	"emberd/vault"
)

// checkCarrier reports conflicts between a note and the memory whose ID it has.
func (c *vaultChecker) checkCarrier(ctx context.Context, note *vault.Note) {
	if note.MemoryID == "" || note.Copy {
		return
	}
	id, err := memory.ParseID(note.MemoryID)
	if err != nil {
		c.find("memory", note.Path, 0,
			"invalid property memory-id %.40q; use an ID that emberd list shows, or remove the property", note.MemoryID)
		return
	}
	c.carried[id] = append(c.carried[id], note)
	row, live := c.e.Stm.Get(id)
	switch {
	case !live && c.e.Stm.Trashed(id):
		if c.e.Sync.Contains(id) {
			return // it may arrive soon
		}
		c.find("memory", note.Path, 0, "this note contains the ID of memory %s, which is in the trash; remove "+
			"the property memory-id, or to restore the memory, run: emberd rekindle %s", id.Short(), id.Short())
	case !live && c.e.Stm.Purged(id):
		c.find("memory", note.Path, 0, "this note contains the ID of memory %s, which was deleted permanently, and "+
			"might contain its text; delete the note, or to keep the note, remove the property memory-id", id.Short())
	case !live:
		c.find("memory", note.Path, 0, "memory %s not found, but this note contains its ID; unless another "+
			"installation of emberd uses this vault, remove the property memory-id; to "+
			"restore the memory, stop the daemon and run: emberd doctor log repair --from %s", id,
			text.ShellWord(c.e.Notes.Vault.Root.Load().Dir()))
	default:
		if m, err := row.Memory(); err == nil {
			c.checkLive(ctx, &m, note)
		}
	}
}

// checkLive reports conflicts between a note and the live memory whose ID it has. Of two notes with
// the ID, checkMemories reports one.
func (c *vaultChecker) checkLive(ctx context.Context, m *memory.Memory, note *vault.Note) {
	home := cmp.Or(core.NotePath(m), note.Path)
	switch {
	case home == note.Path:
		c.checkAgreement(ctx, m, note)
	case notes.Absent(c.e.Notes.Vault.Root.Load(), home) && !notes.Owns(m, note):
		c.checkClaim(m, note)
	}
}

// checkClaim reports a note that is not that of the memory whose ID it has.
func (c *vaultChecker) checkClaim(m *memory.Memory, note *vault.Note) {
	if c.e.Sync.Contains(m.ID) {
		return // note sync looks at it soon
	}
	c.find("memory", note.Path, 0, "this note contains the ID of memory %s, but emberd does not use this "+
		"note for the memory; remove the property memory-id from the note, or %s", m.ID.Short(),
		c.e.Notes.ClaimAdvice(m, note.Path))
}

// checkAgreement reports the fields of a note that the memory cannot get, or has not got.
func (c *vaultChecker) checkAgreement(ctx context.Context, m *memory.Memory, note *vault.Note) {
	switch {
	case core.NotePath(m) == "" && c.e.Notes.Vault.InArchive(note.Path) && !core.Shortened(m):
		if !notes.HasText(note, m) {
			c.find("memory", note.Path, 0, "this note contains the ID of memory %s but a different text, and the "+
				"memory is not archived; delete the note, or remove the property memory-id", m.ID.Short())
		}
		return
	case !notes.Owns(m, note):
		c.checkClaim(m, note)
		return
	case core.Shortened(m) && rekindle.Digest(note.Carried.Body) != m.TextDigest:
		c.find("memory", note.Path, 0, "the text of this note has changed since emberd archived "+
			"memory %s; to use the new text, run: emberd rekindle %s", m.ID.Short(), m.ID.Short())
	}
	before := maps.Clone(m.NoteSeen)
	refused := c.e.applyFields(ctx, m, note)
	for _, r := range refused {
		c.find("memory", note.Path, 0, "memory %s: %s", m.ID.Short(), r.why)
	}
	if long := core.TooLong(m.Content); long != "" {
		c.find("memory", note.Path, 0, "memory %s: %s", m.ID.Short(), long)
	}
	if !maps.Equal(before, m.NoteSeen) && !c.e.Sync.Contains(m.ID) {
		c.find("memory", note.Path, 0,
			"this note differs from memory %s, which is newer or was restored; to sync the note, save the note again",
			m.ID.Short())
	}
	if ahead := c.unsyncedFields(m, note); len(ahead) > 0 {
		c.find("memory", note.Path, 0, "an edit of memory %s changed its %s, but not the note; correct the note",
			m.ID.Short(), strings.Join(ahead, " and "))
	}
}

// unsyncedFields returns the fields in which a note differs from its memory, although no sync is
// waiting. The stage belongs to the memory.
func (c *vaultChecker) unsyncedFields(m *memory.Memory, note *vault.Note) []string {
	says, same, waiting := notes.Fingerprints(note.Carried), notes.Agreed(m, note.Carried),
		c.e.Promote.Pending.Fields(m.ID)
	return slices.DeleteFunc(notes.NoteFields(), func(field string) bool {
		_, is := note.Carried.Fields[field]
		own := field == "stage" || field == core.ContentField && m.PromotedTo == "" ||
			!slices.Contains(notes.TakenOf(m), field)
		silent := field == "tags" && len(note.Carried.Tags) == 0 || field == "category" && !is
		return own || silent || same[field] != "" || m.NoteSeen[field] != says[field] || slices.Contains(waiting, field)
	})
}

// checkMemories reports IDs that several notes have, and memories whose note is missing.
func (c *vaultChecker) checkMemories(ctx context.Context) {
	for _, id := range slices.Sorted(maps.Keys(c.carried)) {
		notes := c.carried[id]
		if len(notes) < 2 {
			continue
		}
		its := c.noteAmong(id, notes)
		for _, note := range notes {
			switch {
			case its == "":
				c.find("duplicate", note.Path, 0, "this note and other notes contain the ID of memory "+
					"%s; keep the property memory-id in only one of them", id.Short())
			case note.Path != its:
				c.checkSecond(ctx, id, its, note.Path)
			}
		}
	}
	there := make(map[string]*vault.Note)
	for _, note := range c.read {
		there[note.Path] = note
	}
	for row := range c.e.Stm.Rows() {
		if (row.Promoted() || row.Stage().Cold()) && len(c.carried[row.ID()]) == 0 {
			c.checkOrphan(row.Memory, there)
		}
	}
}

// checkSecond reports a note with the ID of a memory that has another note, its.
func (c *vaultChecker) checkSecond(ctx context.Context, id memory.ID, its, path string) {
	note, err := c.e.Notes.Vault.Root.Load().Read(ctx, path) // with its text, which was not kept
	if err != nil || !core.CarriesID(note.Carried, id) {
		return // it was changed meanwhile
	}
	c.checkBeside(ctx, "duplicate", note, 0, fmt.Sprintf(
		"this note contains the ID of memory %s, whose note is %q; remove the property memory-id from this note",
		id.Short(), its))
}

// noteAmong returns which of several notes is the memory's, or "" if that is not decided.
func (c *vaultChecker) noteAmong(id memory.ID, notes []*vault.Note) string {
	if row, ok := c.e.Stm.Get(id); ok {
		m, err := row.Memory()
		if home := core.NotePath(&m); err == nil &&
			slices.ContainsFunc(notes, func(n *vault.Note) bool { return n.Path == home }) {
			return home
		}
	}
	return ""
}

// checkOrphan reports a memory whose ID no note has.
func (c *vaultChecker) checkOrphan(read func() (memory.Memory, error), there map[string]*vault.Note) {
	m, err := read()
	home := core.NotePath(&m)
	if err != nil || home == "" || c.unread[home] || c.e.Sync.Contains(m.ID) {
		return
	}
	if !m.NoteGone.IsZero() {
		if core.Shortened(&m) {
			c.find("memory", home, 0, "this note contained the text of memory %s and was deleted, so the memory has "+
				"only a summary; restore the note, or to see earlier versions, run: emberd history %s", m.ID.Short(),
				m.ID.Short())
		}
		return
	}
	switch note := there[home]; {
	case note == nil:
	case note.Frontmatter == vault.InvalidFrontmatter:
		c.find("memory", home, 0, "emberd does not sync memory %s, because the frontmatter of its note is "+
			"invalid; fix the frontmatter, or to delete the memory, run: emberd forget %s", m.ID.Short(), m.ID.Short())
		return
	default:
		c.find("memory", home, 0, "this note no longer contains the ID of memory %s, and emberd did not change the "+
			"memory; add the property memory-id: %s again, or to delete the memory, run: emberd forget %s",
			m.ID.Short(), m.ID, m.ID.Short())
		return
	}
	if !notes.Absent(c.e.Notes.Vault.Root.Load(), home) {
		return // the settings exclude it
	}
	c.find("memory", home, 0, "this note of memory %s is missing, and emberd did not change the "+
		"memory; restore the note, or to delete the memory, run: emberd forget %s", m.ID.Short(), m.ID.Short())
}
