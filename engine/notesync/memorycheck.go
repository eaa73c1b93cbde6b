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
			"its property memory-id is %.40q, which is no id of a memory; copy one from emberd list, or remove the "+
				"property", note.MemoryID)
		return
	}
	c.carried[id] = append(c.carried[id], note)
	row, live := c.e.Stm.Get(id)
	switch {
	case !live && c.e.Stm.Trashed(id):
		if c.e.Sync.Contains(id) {
			return // it may arrive soon
		}
		c.find("memory", note.Path, 0,
			"memory %s, whose id it carries, is in the trash; emberd rekindle %s brings it back, or remove the "+
				"property memory-id", id.Short(), id.Short())
	case !live && c.e.Stm.Purged(id):
		c.find("memory", note.Path, 0,
			"memory %s, whose id it carries, was purged, and this note may hold its text; delete the note, or remove "+
				"the property memory-id if it is to stay as a note of yours", id.Short())
	case !live:
		c.find("memory", note.Path, 0,
			"there is no memory %s here, whose id it carries; if this emberd lost it, emberd doctor log repair "+
				"--from VAULT "+
				"brings it back; else remove the property memory-id, unless another emberd uses this vault", id)
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
	c.find("memory", note.Path, 0,
		"it has the ID of memory %s, and is not known as its note; %s; or remove the property memory-id from the note",
		m.ID.Short(), c.e.Notes.ClaimAdvice(m, note.Path))
}

// checkAgreement reports the fields of a note that the memory cannot get, or has not got.
func (c *vaultChecker) checkAgreement(ctx context.Context, m *memory.Memory, note *vault.Note) {
	switch {
	case core.NotePath(m) == "" && c.e.Notes.Vault.InArchive(note.Path) && !core.Shortened(m):
		if !notes.HasText(note, m) {
			c.find("memory", note.Path, 0,
				"it has another text than memory %s, whose id it carries and whose text is not archived; delete the "+
					"note, or remove the property memory-id", m.ID.Short())
		}
		return
	case !notes.Owns(m, note):
		c.checkClaim(m, note)
		return
	case core.Shortened(m) && rekindle.Digest(note.Carried.Body) != m.TextDigest:
		c.find("memory", note.Path, 0,
			"its text was changed since that of memory %s was archived in it; emberd rekindle %s takes it as it is now",
			m.ID.Short(), m.ID.Short())
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
			"it says other than memory %s, which is newer or was restored; save the note to have it taken over",
			m.ID.Short())
	}
	if ahead := c.unsyncedFields(m, note); len(ahead) > 0 {
		c.find("memory", note.Path, 0,
			"memory %s has another %s than it, from an edit that did not reach the note; make the note say what is "+
				"right", m.ID.Short(), strings.Join(ahead, " and "))
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
				c.find("duplicate", note.Path, 0,
					"it carries the id of memory %s, as other notes do; remove the property memory-id from all but "+
						"one of them", id.Short())
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
		"it carries the id of memory %s, whose note is %q; remove the property memory-id from it", id.Short(), its))
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
			c.find("memory", home, 0,
				"the text of memory %s was in this note, which was deleted, and a summary is what is left; put the "+
					"note back, or look into emberd history %s", m.ID.Short(), m.ID.Short())
		}
		return
	}
	switch note := there[home]; {
	case note == nil:
	case note.Frontmatter == vault.InvalidFrontmatter:
		c.find("memory", home, 0,
			"memory %s stays as it is while the frontmatter of its note is not valid; mend the frontmatter, or "+
				"emberd forget %s", m.ID.Short(), m.ID.Short())
		return
	default:
		c.find("memory", home, 0,
			"it does not carry the id of memory %s any more, which stays as it is; give it the property memory-id: "+
				"%s again, or emberd forget %s", m.ID.Short(), m.ID, m.ID.Short())
		return
	}
	if !notes.Absent(c.e.Notes.Vault.Root.Load(), home) {
		return // the settings exclude it
	}
	c.find("memory", home, 0,
		"this note of memory %s is not there, and the memory stays as it is; put the note back, or emberd forget %s",
		m.ID.Short(), m.ID.Short())
}
