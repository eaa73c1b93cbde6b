package notesync

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/engine/promote"
	"emberd/memory"
	"emberd/stm"
	"emberd/vault"
)

// If more than massNotes notes of memories are deleted together, or more than a massShare-th of all, the
// cause is more often a checkout, a sync tool or a mistake than the user's wish to delete the memories.
// Fewer than minMassNotes always pass, so that a user can delete two of three notes.
const (
	massNotes    = 50
	massShare    = 5
	minMassNotes = 3
)

// outcome is the result of applying a change.
type outcome int

const (
	done    outcome = iota
	unclear         // a note cannot be read now; try again
	missing         // the memory's note was deleted
)

// noteLocation is what is at the path of a memory's note.
type noteLocation int

const (
	nowhere noteLocation = iota // the memory had no note, or the note is missing
	itself                      // the note
	silent                      // a note without the ID
	closed                      // a note whose ID cannot be read
)

// memoryNotes is the state of a memory's notes.
type memoryNotes struct {
	note *vault.Note // the memory's note, nil for none
	was  string      // path in the log
	gone bool        // the log records that the note was deleted
	home noteLocation
	more bool // another note has the ID, or may have it
	// claim is a note with the ID that is not the memory's ([notes.Owns]), nil for none. It needs the
	// user's confirmation, and changes nothing until then.
	claim *vault.Note
}

// applyChange applies the change of one memory's notes.
func (t *NoteSync) applyChange(ctx context.Context, w *NoteChange) (outcome, error) {
	row, _ := t.e.Stm.Get(w.ID)
	m, _, err := t.memoryOf(w.ID, row)
	switch {
	case err != nil:
		return done, err
	case !t.e.Notes.Vault.Root.Load().Current():
		return unclear, nil
	case m == nil:
		return t.settleCopies(ctx, w)
	}
	s, ok := t.findNote(ctx, w, m)
	switch {
	case ctx.Err() != nil:
		return unclear, context.Cause(ctx)
	case !ok:
		return unclear, nil
	case s.note != nil:
		became, err := t.applyNote(ctx, w, &s)
		if became == done && err == nil {
			became, err = t.settleCopies(ctx, w)
		}
		if err == nil && s.claim != nil && slices.Contains(t.e.Notes.Vault.Carriers.Of(w.ID), s.claim.Path) {
			err = t.fileClaim(ctx, w.ID, s.claim, "")
		}
		return became, err
	case s.claim != nil:
		if err := t.fileClaim(ctx, w.ID, s.claim, ""); err != nil {
			return done, err
		}
		return t.settleCopies(ctx, w)
	case row != nil && !s.more && s.home == nowhere && !s.gone && slices.Contains(w.Removed, core.NotePath(m)):
		if back, err := t.comesBack(ctx, w, m); back || err != nil {
			return unclear, err
		}
		return missing, nil
	}
	return done, nil
}

// ApplyConfirmed applies the note that the user confirmed as a memory's, as part of the change entry. If
// the note cannot be read now, it is applied later.
func (e *Sync) ApplyConfirmed(ctx context.Context, id memory.ID, by memory.Actor, entry string) error {
	_, err := e.Sync.applyChange(ctx, &NoteChange{ID: id, ConfirmedBy: &by, entry: entry})
	return err
}

// fileClaim asks the user about a note that claims a live memory. left says why it was not merged into the memory's
// note, "" if it is no copy of that.
func (t *NoteSync) fileClaim(ctx context.Context, id memory.ID, claim *vault.Note, left string) error {
	if _, live := t.e.Stm.Get(id); !live || claim == nil {
		return nil
	}
	return t.e.Hooks.NoteClaims(ctx, id, claim, left)
}

// memoryOf returns the memory of a change: a live one, or one in the trash because its note was
// deleted, with its fields. It returns nil for any other ID.
func (t *NoteSync) memoryOf(id memory.ID, row *stm.Row) (*memory.Memory, map[string]json.RawMessage, error) {
	if row != nil {
		m, err := row.Memory()
		return &m, nil, err
	}
	if by, err := t.e.Stm.Forgetting(id); err != nil || by.Verb != core.GoneVerb {
		return nil, nil, ignoreMissing(err)
	}
	m, err := t.e.Stm.ReadTrashed(id)
	if err != nil {
		return nil, nil, ignoreMissing(err)
	}
	kept, err := t.e.Stm.ForgottenFields(id)
	return &m, kept, ignoreMissing(err)
}

// findNote reads the notes that may be the memory's, in this order: the one in the log, its new
// path, the notes that appeared, and the others with the ID. It returns false if one cannot be
// read now.
func (t *NoteSync) findNote(ctx context.Context, w *NoteChange, m *memory.Memory) (s memoryNotes, ok bool) {
	was := core.NotePath(m)
	s.was, s.gone = was, !m.NoteGone.IsZero()
	paths := t.candidates(w, was)
	for i, p := range paths {
		if p == "" || slices.Contains(paths[:i], p) {
			continue
		}
		note, err := t.e.Notes.Vault.Root.Load().Read(ctx, p)
		if s.note != nil {
			t.checkCopy(w, m, &s, note)
			continue
		}
		skipped, unread := errors.AsType[*vault.Skipped](err)
		at := nowhere
		switch its := err == nil && core.CarriesID(note.Carried, w.ID); {
		case its && (note.Copy || isCopy(p, was)) && p != was:
			s.more = true
		case its && !t.owns(m, w, &s, note):
			s.more = true
			if t.asks(w, &s, p) {
				s.claim = cmp.Or(s.claim, note)
			}
		case its:
			at, s.note = itself, note
		case err == nil && note.Frontmatter == vault.InvalidFrontmatter:
			at, s.more = closed, true
		case err == nil:
			at = silent
			s.more = s.more || p != was && slices.Contains(w.Added, p) // it just had the ID
		case errors.Is(err, fs.ErrNotExist):
		case unread && skipped.Reason != vault.Unsettled:
			at, s.more = closed, true // it may have the ID
		default:
			return s, false
		}
		if p == was {
			s.home = at
		}
		if at == closed && p != was {
			return s, true
		}
	}
	return s, true
}

// checkCopy records that a note other than the memory's claims the memory, unless it is a copy. note
// is nil if it cannot be read.
func (t *NoteSync) checkCopy(w *NoteChange, m *memory.Memory, s *memoryNotes, note *vault.Note) {
	if note == nil || note.Copy || isCopy(note.Path, s.was) || !core.CarriesID(note.Carried, w.ID) ||
		!t.asks(w, s, note.Path) {
		return
	}
	same := promote.SameSeen(notes.Fingerprints(note.Carried), notes.Fingerprints(s.note.Carried), notes.NoteFields())
	if !same && !notes.SaysSame(m, note.Carried) {
		s.claim = cmp.Or(s.claim, note)
	}
}

// asks reports whether the user is asked about a note that is not the memory's. An old copy that
// did not change asks nothing while the memory has its note.
func (t *NoteSync) asks(w *NoteChange, s *memoryNotes, path string) bool {
	return slices.Contains(w.Added, path) || slices.Contains(w.Changed, path) ||
		s.note == nil && (s.was == "" || s.gone || w.Restored || slices.Contains(w.Removed, s.was))
}

// candidates returns the paths at which the memory's note may be. For a memory without a note,
// notes in the archive folder come last.
func (t *NoteSync) candidates(w *NoteChange, was string) []string {
	paths := slices.Concat([]string{was, w.now(was)}, w.Added, t.e.Notes.Vault.Carriers.Of(w.ID))
	if was != "" {
		return paths
	}
	archived := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !t.e.Notes.Vault.InArchive(p) })
	return append(slices.DeleteFunc(paths, t.e.Notes.Vault.InArchive), archived...)
}

// hasMoved reports whether another path is the memory's note from now on. A note that did not
// change is not, because the note in the log may still arrive on this device.
func (s *memoryNotes) hasMoved(w *NoteChange) bool {
	switch {
	case s.note.Path == s.was:
		return false
	case s.was == "":
		return true
	}
	return (s.home == nowhere || s.home == silent) &&
		(s.gone || w.Restored || slices.Contains(w.Added, s.note.Path) || slices.Contains(w.Removed, s.was))
}

// decides reports whether the note decides the memory's fields.
func (s *memoryNotes) decides(w *NoteChange) bool {
	return s.note.Path == s.was || s.home == nowhere || s.hasMoved(w)
}

// applyNote writes the differences between the memory and its note to the log. A memory in the
// trash is restored if its note is back.
func (t *NoteSync) applyNote(ctx context.Context, w *NoteChange, s *memoryNotes) (outcome, error) {
	became, moved := done, false
	by := core.VaultActor()
	if w.entry != "" { // a part of what somebody asked for
		by = w.by()
	}
	edited := false
	receipt, err := t.e.Stm.Update(ctx, []memory.ID{w.ID}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		m, kept, err := t.memoryOf(w.ID, rows[0])
		if m == nil || err != nil {
			return nil, err
		}
		if core.NotePath(m) != s.was || !t.owns(m, w, s, s.note) { // another change came first
			became = unclear
			return nil, nil
		}
		if !s.decides(w) || t.isLeftover(m, s) && !notes.HasText(s.note, m) {
			return nil, nil
		}
		moved = s.hasMoved(w)
		set, both, err := t.changedFields(ctx, rows[0], m, w, s)
		if err != nil {
			return nil, err
		}
		behind, err := t.followLog(m, s)
		moved = moved || behind
		if err != nil || len(set) == 0 && kept == nil {
			return nil, err
		}
		if err = t.followEdits(rows[0], m, s, both, set); err != nil {
			return nil, err
		}
		moved = moved || both.write
		if edited = set[core.ContentField] != nil; edited {
			t.addSource(rows[0], kept, t.e.ByNote(s.note.Path, m.Project), set)
		}
		return &stm.Tx{Verb: core.NoteVerb, By: by, Entry: w.entry,
			Changes: []stm.Change{{ID: w.ID, Set: mergedFields(kept, set), Allowed: true}}}, nil
	})
	if err == nil && edited {
		t.e.Lifecycle.Used(receipt.Rows[0], t.e.Opt.Now())
	}
	if err == nil && moved {
		err = t.e.Promote.RetryWrite(w.ID)
	}
	return became, err
}

// owns reports whether a note with the memory's ID is its note ([notes.Owns]), the same note after a
// rename, with edits that are not applied yet, or a copy of its text that archiving left behind.
func (t *NoteSync) owns(m *memory.Memory, w *NoteChange, s *memoryNotes, note *vault.Note) bool {
	left := memoryNotes{note: note, was: s.was}
	moved := w.renamed(s.was, note.Path) || w.restored(s.was, note)
	return notes.Owns(m, note) || m.NoteGone.IsZero() && moved || t.isLeftover(m, &left)
}

// addSource adds a source to set, for a live row or for the fields that the trash kept.
func (t *NoteSync) addSource(row *stm.Row, kept map[string]json.RawMessage, link memory.Source,
	set map[string]json.RawMessage) {
	if row != nil {
		t.e.AddSource(row, link, set)
		return
	}
	key, value := t.e.Stm.LearnedAnew(kept, link)
	set[key] = value
}

// mergedFields applies a change to the fields of a memory from the trash. Without kept it returns the
// change.
func mergedFields(kept, set map[string]json.RawMessage) map[string]json.RawMessage {
	if kept == nil {
		return set
	}
	all := maps.Clone(kept)
	maps.Copy(all, set)
	maps.DeleteFunc(all, func(_ string, value json.RawMessage) bool { return string(value) == "null" })
	return all
}

// isLeftover reports whether the note is a leftover copy of a memory's text in the archive folder,
// after a rekindle or a crash. It is not a promotion, and the memory may be newer.
func (t *NoteSync) isLeftover(m *memory.Memory, s *memoryNotes) bool {
	return s.was == "" && !core.Shortened(m) && t.e.Notes.Vault.InArchive(s.note.Path)
}

// followEdits queues the write of a merged text to the note, and asks about one that was not merged.
func (t *NoteSync) followEdits(row *stm.Row, m *memory.Memory, s *memoryNotes, both edits,
	set map[string]json.RawMessage) error {
	if both.other.Text != "" {
		t.e.Hooks.OtherTexts(row, set, []memory.OtherText{both.other})
	}
	if !both.write {
		return nil
	}
	_, err := t.e.Promote.Requeue(m, s.note.Path, []string{core.ContentField}, m.NoteSeen, core.VaultActor(), "")
	return err
}

// changedFields returns the fields of the note that the log does not have yet. row is the memory in the log,
// nil in the trash.
func (t *NoteSync) changedFields(ctx context.Context, row *stm.Row, m *memory.Memory, w *NoteChange,
	s *memoryNotes) (set map[string]json.RawMessage, both edits, err error) {
	before, err := core.Fields(m)
	if err != nil {
		return nil, both, err
	}
	now, prior := core.StampTime(t.e.Opt.Now()), *m
	was := textOf(before)
	if t.isLeftover(m, s) {
		m.NoteSeen = notes.Fingerprints(s.note.Carried)
	} else {
		t.e.applyFields(ctx, m, s.note)
		if both, err = t.joinEdits(ctx, row, &prior, m, s.note); err != nil {
			return nil, both, err
		}
		if err = t.leaveDecided(&prior, m); err != nil {
			return nil, both, err
		}
	}
	if s.hasMoved(w) {
		t.assignNote(m, s, now)
	}
	m.NoteGone = time.Time{}
	after, err := core.Fields(m)
	if err != nil {
		return nil, both, err
	}
	if !maps.EqualFunc(was, textOf(after), slices.Equal) {
		if after["updated_at"], err = core.Encode(now); err != nil {
			return nil, both, err
		}
	}
	return core.Difference(before, after), both, nil
}

// assignNote sets the note path of a memory. The first note promotes the memory, unless it is
// in the archive folder.
func (t *NoteSync) assignNote(m *memory.Memory, s *memoryNotes, now time.Time) {
	m.VaultPath = s.note.Path
	if m.PromotedTo == "" && (s.was != "" || t.e.Notes.Vault.InArchive(s.note.Path)) {
		return
	}
	m.PromotedTo = s.note.Path
	if m.PromotedAt.IsZero() {
		m.PromotedAt = now
	}
}

// textOf returns the fields that a note decides.
func textOf(set map[string]json.RawMessage) map[string]json.RawMessage {
	out := make(map[string]json.RawMessage)
	for _, field := range notes.NoteFields() {
		if value, ok := set[field]; ok {
			out[field] = value
		}
	}
	return out
}

// TrashDeleted moves the memories of deleted notes to the trash. A memory whose text was only
// in the note stays, with its summary.
func (t *NoteSync) TrashDeleted(ctx context.Context, lost []*NoteChange) error {
	if _, w := t.e.Notes.Vault.Current(); len(lost) > 0 && w.Status().Frozen != "" {
		for _, l := range lost {
			t.retryLater(l)
		}
		return nil
	}
	var err error
	became, entries := done, make(map[memory.Actor]string)
	for _, l := range t.confirmedDeletions(lost) {
		if by := l.by(); err == nil {
			became, entries[by], err = t.deleteMemory(ctx, l, entries[by])
		}
		if err != nil || became == unclear {
			t.retryLater(l)
			continue
		}
		t.ack(l)
	}
	return err
}

// confirmedDeletions returns the deletions to apply now. Too many at once wait for
// confirmation, and a note that may be unreadable in the archive folder is looked for again.
func (t *NoteSync) confirmedDeletions(lost []*NoteChange) (real []*NoteChange) {
	var doubtful []*NoteChange
	closed := t.e.Notes.Vault.ClosedInArchive()
	for _, l := range lost {
		switch {
		case slices.ContainsFunc(l.Removed, func(p string) bool { return slices.Contains(closed, path.Base(p)) }):
			t.retryLater(l)
		case l.Confirmed:
			real = append(real, l)
		default:
			doubtful = append(doubtful, l)
		}
	}
	if len(doubtful) == 0 || !t.exceedsDeleteThreshold(len(doubtful)+t.laterDeletions()) {
		return append(real, doubtful...)
	}
	for _, l := range doubtful {
		t.requeue(l, l.Due, true)
	}
	return real
}

// exceedsDeleteThreshold reports whether n deletions at once need confirmation.
func (t *NoteSync) exceedsDeleteThreshold(n int) bool {
	if n < minMassNotes || n > massNotes {
		return n > massNotes
	}
	all := 0
	for row := range t.e.Stm.Rows() {
		if row.Promoted() || row.Stage().Cold() {
			all++
		}
	}
	return massShare*n > all
}

// deleteMemory applies one deletion, in a new change if entry is "". The outcome is unclear if the
// note is back or the vault is not available.
func (t *NoteSync) deleteMemory(ctx context.Context, w *NoteChange,
	entry string) (became outcome, _ string, err error) {
	receipt, err := t.e.Stm.Update(ctx, []memory.ID{w.ID}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if rows[0] == nil {
			return nil, nil
		}
		m, err := rows[0].Memory()
		if err != nil || !m.NoteGone.IsZero() || !slices.Contains(w.Removed, core.NotePath(&m)) {
			return nil, err
		}
		if v := t.e.Notes.Vault.Root.Load(); !v.Current() || !notes.Absent(v, core.NotePath(&m)) {
			became = unclear
			return nil, nil
		}
		c, err := t.without(&m)
		return &stm.Tx{Verb: core.GoneVerb, By: w.by(), Entry: entry, Changes: []stm.Change{c}}, err
	})
	if receipt.Entry != "" {
		entry = receipt.Entry
	}
	return became, entry, err
}

// without returns the change of a memory whose note was deleted. A memory that has all of its
// text and was never promoted has lost only a copy.
func (t *NoteSync) without(m *memory.Memory) (stm.Change, error) {
	c := stm.Change{ID: m.ID}
	if m.PromotedTo == "" && !core.Shortened(m) && !m.Stage.Cold() {
		none := json.RawMessage("null")
		c.Set = map[string]json.RawMessage{"vault_path": none, "note_seen": none}
		return c, nil
	}
	now, err := core.Encode(core.StampTime(t.e.Opt.Now()))
	if c.Delete = !core.Shortened(m) && !m.Stage.Cold(); c.Delete {
		c.Text = m.Content
	}
	c.Set = map[string]json.RawMessage{"note_gone": now}
	return c, err
}
