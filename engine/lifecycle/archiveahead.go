package lifecycle

import (
	"context"
	"crypto/sha256"

	"emberd/engine/core"
	"emberd/engine/promote"
	"emberd/memory"
	"emberd/stm"
	"emberd/vault"
)

// NoteAhead is a note that KeepAhead created.
type NoteAhead struct {
	Path    string
	Indexed [sha256.Size]byte // digest of the note whose text is in the index of archived texts, zero for none
}

// KeepAhead creates and indexes the notes for memories that will be archived, many at once and before any
// lock. It changes nothing else. Notes that it does not create are
// created one by one, because archiving checks each note for its text. If a memory is not
// archived after all, its note stays as after a crash, and the next attempt finds it.
func (e *Lifecycle) KeepAhead(ctx context.Context, rows []*stm.Row) map[memory.ID]NoteAhead {
	if e.Notes.Vault == nil || e.Opt.VaultArchive == "" || e.Notes.VaultUnavailable() != "" {
		return nil
	}
	var all []vault.New
	of := make(map[string]memory.ID)
	for _, row := range rows {
		m, err := row.Memory()
		if err != nil || m.Stage.Cold() || core.NotePath(&m) != "" || len(e.Notes.Vault.Carriers.Of(m.ID)) > 0 {
			continue
		}
		for _, name := range e.Promote.NamesIn(e.Opt.VaultArchive, &m) {
			if of[name] == "" {
				of[name] = m.ID
				all = append(all, vault.New{Path: name, Data: promote.ArchiveBytes(&m)})
				break
			}
		}
	}
	made := make(map[memory.ID]NoteAhead)
	var got []vault.Result
	err := e.Promote.Writing.With(func(w *vault.Writer) (err error) {
		got, err = w.CreateAll(ctx, all)
		return err
	})
	if err != nil {
		e.Opt.Logger.Warn("archive notes not created in advance", "err", err)
	}
	for i, res := range got {
		if res.Outcome == vault.Written {
			made[of[all[i].Path]] = NoteAhead{Path: all[i].Path}
		}
	}
	e.Promote.Writing.Nudge()
	e.indexAhead(ctx, made)
	return made
}

// indexAhead indexes the texts of new notes as one batch. Archiving indexes what is not indexed then.
func (e *Lifecycle) indexAhead(ctx context.Context, made map[memory.ID]NoteAhead) {
	var read []*vault.Note
	for id, ahead := range made {
		note, err := e.Notes.Vault.Root.Load().Read(ctx, ahead.Path)
		if err == nil && promote.Carries(note, id) {
			read = append(read, note)
			made[id] = NoteAhead{ahead.Path, note.Digest}
		}
	}
	if len(read) == 0 {
		return
	}
	if err := e.Notes.Vault.IndexTexts(ctx, read...); err != nil {
		for id, ahead := range made {
			made[id] = NoteAhead{Path: ahead.Path}
		}
	}
}
