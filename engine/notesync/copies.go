package notesync

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/engine/promote"
	"emberd/internal/text/merge"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
	"emberd/vault/noteedit"
	"emberd/vault/notename"
)

// isCopy reports whether a note with the ID of a memory is a copy that a sync tool made of its note.
func isCopy(path, home string) bool {
	is, _ := notename.CopyOf(path, home)
	return is && path != home
}

// settleCopies looks after the copies that sync tools made of a memory's note: one without a human's change is
// removed, one with a change of the text is merged into the memory and removed, and one whose change collides
// stays until the user decides. A note at an earlier path of the memory's note, which a device that did not
// know of the rename brought back, is removed if it has no human's change, and asked about otherwise.
func (t *NoteSync) settleCopies(ctx context.Context, id memory.ID) (outcome, error) {
	became := done
	for _, path := range t.e.Notes.Vault.Carriers.Of(id) {
		row, live := t.e.Stm.Get(id)
		if !live || row.Cold() || row.Has("note_gone") || path == core.NoteOfRow(row) {
			continue
		}
		c := copyRun{t: t, id: id, home: core.NoteOfRow(row), path: path}
		if c.former = !isCopy(path, c.home); c.former && !t.wasNoteOf(ctx, id, path) {
			continue
		}
		is, err := c.settle(ctx)
		if err != nil {
			return unclear, err
		}
		if is == unclear {
			became = unclear
		}
	}
	return became, nil
}

// wasNoteOf reports whether the log names a path as that of the memory's note at an earlier time.
func (t *NoteSync) wasNoteOf(ctx context.Context, id memory.ID, path string) bool {
	versions, err := t.e.Stm.History(ctx, id)
	name, bad := core.Encode(path)
	return err == nil && bad == nil && slices.ContainsFunc(versions, func(v stm.Version) bool {
		return slices.ContainsFunc(v.Fields, func(f stm.Field) bool {
			return (f.Name == "promoted_to" || f.Name == "vault_path") &&
				(bytes.Equal(f.From, name) || bytes.Equal(f.To, name))
		})
	})
}

// copyRun looks after one copy of a memory's note.
type copyRun struct {
	t          *NoteSync
	id         memory.ID
	home, path string
	note, copy *vault.Note
	former     bool // it is no copy: the memory's note was at its path
	write      bool // the note lacks a part of the merged text
}

func (c *copyRun) settle(ctx context.Context) (outcome, error) {
	root := c.t.e.Notes.Vault.Root.Load()
	var errs [2]error
	c.note, errs[0] = root.Read(ctx, c.home)
	c.copy, errs[1] = root.Read(ctx, c.path)
	if err := errors.Join(errs[:]...); err != nil || !core.CarriesID(c.copy.Carried, c.id) {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return done, ignoreSkipped(err)
	}
	copied, note, res, err := c.read(ctx)
	if err != nil || res.Outcome != vault.Written {
		return waits(res), err
	}
	apart, became := true, done
	_, err = c.t.e.Stm.Update(ctx, []memory.ID{c.id}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if rows[0] == nil {
			return nil, nil
		}
		m, err := rows[0].Memory()
		switch {
		case err != nil:
			return nil, err
		case !promote.SameSeen(notes.Fingerprints(c.note.Carried), m.NoteSeen, notes.TakenOf(&m)):
			became = unclear // the note comes first
			return nil, nil
		case !c.sameElse(&m, copied, note):
			return nil, nil
		}
		var tx *stm.Tx
		tx, apart, err = c.merged(ctx, rows[0], &m)
		return tx, err
	})
	if err != nil || apart || became == unclear {
		return became, err
	}
	return c.remove(ctx)
}

// ignoreSkipped drops the error for a note that cannot be read, which a check of the vault reports.
func ignoreSkipped(err error) error {
	if _, skipped := errors.AsType[*vault.Skipped](err); skipped {
		return nil
	}
	return err
}

func waits(res vault.Result) outcome {
	if res.Outcome == vault.Later {
		return unclear
	}
	return done
}

// read returns the bytes of the copy and of the note, as they were read before.
func (c *copyRun) read(ctx context.Context) (copied, note []byte, res vault.Result, err error) {
	res, err = c.t.e.Promote.Writing.Do(func(w *vault.Writer) (res vault.Result, err error) {
		copied, note, res, err = vault.ReadCopy(ctx, w, c.path, c.home)
		return res, err
	})
	return copied, note, res, err
}

// sameElse reports whether copy and note differ at most in their texts and in the properties that emberd
// writes. What a human did to another part of the copy, or to those properties, is for the human to merge.
func (c *copyRun) sameElse(m *memory.Memory, copied, note []byte) bool {
	fields := notes.Without(notes.NoteFields(), core.ContentField)
	says, agreed := notes.Fingerprints(c.copy.Carried), notes.Agreed(m, c.copy.Carried)
	for _, field := range fields {
		if says[field] != m.NoteSeen[field] && agreed[field] == "" {
			return false
		}
	}
	one, err := noteedit.Splice(copied, promote.NoteEdit(m, promote.WrittenFields(), c.copy.Carried.Body))
	other, bad := noteedit.Splice(note, promote.NoteEdit(m, promote.WrittenFields(), c.note.Carried.Body))
	return err == nil && bad == nil && bytes.Equal(one, other)
}

// merged returns the change that gives the memory what the copy's text has beyond the memory's, and whether the
// two cannot be merged.
func (c *copyRun) merged(ctx context.Context, row *stm.Row, m *memory.Memory) (_ *stm.Tx, apart bool, err error) {
	body := c.copy.Carried.Body
	if notes.HasText(c.copy, m) || c.decided(row) {
		return nil, false, nil
	}
	base, human, err := c.base(ctx, row, m)
	if err != nil || !human {
		return nil, false, err
	}
	if c.former {
		return nil, true, nil
	}
	if c.t.e.Notes.CheckContent(c.copy, m.Content) != nil {
		return nil, true, nil
	}
	before, err := core.Fields(m)
	if err != nil {
		return nil, true, err
	}
	text, ok := merge.Texts(base, m.Content, body)
	switch {
	case ok && text == m.Content:
		return nil, false, nil
	case ok && memory.CheckContent(text) == nil:
		m.Content, m.UpdatedAt = text, core.StampTime(c.t.e.Opt.Now())
		_, err = c.t.e.Promote.Requeue(m, c.home, []string{core.ContentField}, m.NoteSeen, core.VaultActor(), "")
		if err != nil {
			return nil, true, err
		}
		c.write = true
	default:
		apart = true
	}
	after, err := core.Fields(m)
	if err != nil {
		return nil, true, err
	}
	set := core.Difference(before, after)
	if apart {
		c.t.e.Hooks.OtherTexts(row, set, []memory.OtherText{{Text: body, Note: c.path, At: c.copy.Updated}})
	} else {
		c.t.e.AddSource(row, c.t.e.ByNote(c.path, m.Project), set)
	}
	if len(set) == 0 {
		return nil, apart, nil
	}
	return &stm.Tx{Verb: core.NoteVerb, By: core.VaultActor(),
		Changes: []stm.Change{{ID: c.id, Set: set, Allowed: true}}}, apart, nil
}

// decided reports whether the user decided about the copy's text.
func (c *copyRun) decided(row *stm.Row) bool {
	other := memory.OtherText{Text: c.copy.Carried.Body}
	return slices.ContainsFunc(row.ReviewItems(), func(item memory.ReviewItem) bool {
		return item.Agent == op.ReviewText && item.Status == memory.ItemClosed &&
			slices.Contains(item.Labels, op.TextLabel+other.Digits())
	})
}

// base returns the text that copy and memory have in common, and whether the copy has a human's change: a text
// that the log does not have, or one that the note replaced without knowing it.
func (c *copyRun) base(ctx context.Context, row *stm.Row, m *memory.Memory) (base string, human bool, err error) {
	versions, err := c.t.e.Promote.TextVersions(ctx, m)
	if err != nil {
		return "", false, err
	}
	for i, text := range versions {
		if !isBody(c.copy.Carried.Body, text) {
			continue
		}
		if i != 1 || len(versions) == 2 || row.TextRev() == "" || !c.byOthers(ctx, row, text) {
			return "", false, nil
		}
		return versions[2], true, nil
	}
	// Of texts that are as near, an earlier one: the copy was made apart from the memory's.
	earlier := append(slices.Clone(versions[1:]), versions[0])
	nearest := slices.MinFunc(earlier, func(a, b string) int {
		return merge.Changed(a, c.copy.Carried.Body) - merge.Changed(b, c.copy.Carried.Body)
	})
	return nearest, true, nil
}

// byOthers reports whether the memory's text is an edit of the note that directly replaced one of another
// device: the note may not have had that one yet.
func (c *copyRun) byOthers(ctx context.Context, row *stm.Row, replaced string) bool {
	edits, err := c.t.e.Stm.TextEdits(ctx, []memory.ID{c.id})
	if err != nil {
		return false
	}
	for _, e := range edits[c.id] {
		if e.Stamp.String() == row.TextRev() {
			return e.Verb == core.NoteVerb && e.Before == replaced && e.From[0].Dev != e.Stamp.Dev
		}
	}
	return false
}

// remove moves the copy to the backups, and has the note written that it kept from being written.
func (c *copyRun) remove(ctx context.Context) (outcome, error) {
	res, err := c.t.e.Promote.Writing.Do(func(w *vault.Writer) (vault.Result, error) {
		return w.RemoveCopy(ctx, c.path, c.copy.Digest)
	})
	if err != nil {
		return unclear, err
	}
	if res.Outcome != vault.Written {
		return waits(res), nil
	}
	c.t.e.Opt.Logger.Info("a sync tool's copy of a note was settled, and is among the backups", "memory", c.id, "copy",
		c.path, "backup", res.Backup)
	c.t.e.Promote.IndexNote(ctx, c.path)
	if c.write {
		err = c.t.e.Promote.RetryWrite(c.id)
	}
	return done, err
}
