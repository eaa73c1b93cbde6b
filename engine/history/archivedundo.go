package history

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"

	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/memory"
	"emberd/stm"
	"emberd/vault"
)

// archivedBy returns the memories that a change archived, with the paths of the notes that have their texts.
func (e *History) archivedBy(would *stm.Undone) map[memory.ID]string {
	paths := make(map[memory.ID]string)
	staged := stagedBy(would)
	for _, item := range would.Items {
		row, live := e.Stm.Get(item.ID)
		if !staged[item.ID] || item.Action != stm.Reverted || !live || !row.Stage().Cold() {
			continue
		}
		m, err := row.Memory()
		if err == nil && m.PromotedTo == "" && e.Notes.Vault.InArchive(m.VaultPath) {
			paths[item.ID] = m.VaultPath
		}
	}
	return paths
}

// removeArchived removes the notes that an undone archiving made, after the log has the texts again. A note
// that is not to the byte what emberd made stays, and so does one that the memory had before.
func (e *History) removeArchived(ctx context.Context, paths map[memory.ID]string) {
	for id, path := range paths {
		if err := e.removeArchivedNote(ctx, id, path); err != nil {
			e.Opt.Logger.Warn("a note of an undone archiving stays", "memory", id, "err", err)
		}
	}
}

func (e *History) removeArchivedNote(ctx context.Context, id memory.ID, path string) error {
	row, live := e.Stm.Get(id)
	if !live || row.Stage().Cold() {
		return nil
	}
	m, err := row.Memory()
	if err != nil || core.NotePath(&m) != "" {
		return err
	}
	note, err := e.Notes.Vault.Root.Load().Read(ctx, path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && note.Digest != sha256.Sum256(lifecycle.ArchiveBytesOf(&m)) {
		return nil
	}
	if err != nil {
		return err
	}
	res, err := e.Promote.RemoveNote(ctx, note)
	if err == nil && res.Outcome != vault.Written {
		err = fmt.Errorf("its note %q: %s", path, res.Reason)
	}
	return err
}

// keepTexts makes notes for memories that an undo archives again, whose notes an earlier undo removed.
func (e *History) keepTexts(ctx context.Context, would *stm.Undone) error {
	var rows []*stm.Row
	for _, item := range would.Items {
		row, live := e.Stm.Get(item.ID)
		if item.Action == stm.Reverted && item.Stage.Cold() && live && !row.Stage().Cold() {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	if away := e.Notes.VaultUnavailable(); away != "" {
		return memory.Errorf(memory.Busy, "%d memories would be archived again, and %s", len(rows), away)
	}
	made := e.Lifecycle.KeepAhead(ctx, rows)
	for _, row := range rows {
		m, err := row.Memory()
		if err == nil && core.NotePath(&m) == "" && made[m.ID] == "" && len(e.Notes.Vault.Carriers.Of(m.ID)) == 0 {
			return memory.Errorf(memory.Busy, "%d memories would be archived again, and the note of %s cannot be "+
				"written now, so that nothing was undone; try again in a minute", len(rows), m.ID)
		}
	}
	return context.Cause(ctx)
}
