package promote

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
)

// adoptConfirmed makes the note that the user was shown the memory's note, with its text. Note sync
// applies the other fields.
func (e *Promote) adoptConfirmed(ctx context.Context, p *Promotion, row *stm.Row,
	res *op.PromoteResult) (*stm.Tx, error) {
	m, err := row.Memory()
	if err != nil {
		return nil, err
	}
	note, err := e.confirmedNote(ctx, p)
	if err != nil {
		return nil, err
	}
	res.Path, res.Outcome = note.Path, op.PromotionAdopted
	if p.Dry {
		return nil, nil
	}
	e.Pending.madeCreate(p.ID)
	seen := notes.Agreed(&m, note.Carried)
	changed := seen[core.ContentField] == ""
	set, err := e.promotedFields(m, res, func(m *memory.Memory) {
		changed = changed && e.takeConfirmed(m, note, seen, &p.By)
		m.NoteSeen = seen
	})
	if err == nil && changed {
		e.AddSource(row, memory.Source{Kind: p.By.Origin(), Ref: note.Path, Project: m.Project,
			At: core.StampTime(e.Opt.Now()), By: &p.By}, set)
	}
	return &stm.Tx{Verb: core.PromoteVerb, By: p.By, Entry: p.Entry, Changes: []stm.Change{{ID: p.ID, Set: set}}}, err
}

// takeConfirmed sets the text of a memory to that of its note, if it can be one, with the origin of
// what the caller says. An archived text stays in the note. It returns false for a text that cannot be
// a memory's, about which vault check has a finding.
func (e *Promote) takeConfirmed(m *memory.Memory, note *vault.Note, seen map[string]string, by *memory.Actor) bool {
	if !core.Shortened(m) {
		if e.Notes.TakeContent(m, note) != nil {
			return false
		}
		seen[core.ContentField] = notes.Fingerprints(note.Carried)[core.ContentField]
	}
	m.Origin, m.ConfirmedAt, m.UpdatedAt = by.Origin(), time.Time{}, core.StampTime(e.Opt.Now())
	return true
}

// confirmedNote reads the note with the digest that the user confirmed.
func (e *Promote) confirmedNote(ctx context.Context, p *Promotion) (*vault.Note, error) {
	paths := e.Notes.Vault.Carriers.Of(p.ID)
	if i := slices.IndexFunc(paths, p.Shown); i > 0 {
		paths[0], paths[i] = paths[i], paths[0]
	}
	for _, path := range paths {
		note, err := e.Notes.Vault.Root.Load().Read(ctx, path)
		_, unread := errors.AsType[*vault.Skipped](err)
		switch {
		case err == nil && Carries(note, p.ID) && note.Digest == p.Note:
			return note, nil
		case err != nil && !unread && !errors.Is(err, fs.ErrNotExist):
			return nil, DiskError(path, err)
		}
	}
	return nil, memory.Errorf(memory.Conflict, "the note with the ID of memory %s changed or disappeared "+
		"after emberd showed it; decide when emberd shows it again", p.ID)
}
