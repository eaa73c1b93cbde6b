package notesync

import (
	"context"
	"time"

	"emberd/engine/core"
	"emberd/engine/promote"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/vault"
	"emberd/vault/noteedit"
)

// joinedFor is how long the note that was taken away comes back when the one that stayed goes, too.
const joinedFor = 24 * time.Hour

// joinedNote is a note at an earlier path that was merged into the memory's note and taken away.
type joinedNote struct {
	backup string
	at     time.Time
}

// comesBack makes the note of a memory again from the one that this device has merged into it and taken away, and
// reports whether it did: a device that knew the notes by other names has taken away the one that stayed here.
func (t *NoteSync) comesBack(ctx context.Context, w *NoteChange, m *memory.Memory) (bool, error) {
	kept, joined := t.joined.Load(m.ID)
	if !joined || w.Confirmed {
		return false, nil
	}
	from := kept.(joinedNote)
	if t.e.Opt.Now().Sub(from.at) > joinedFor {
		t.joined.Delete(m.ID)
		return false, nil
	}
	data, err := durable.ReadAll(t.e.Opt.FS, from.backup)
	if err != nil {
		t.joined.Delete(m.ID)
		t.e.Opt.Logger.Warn("note that was merged into another note not restored", "memory", m.ID, "error", err)
		return false, nil
	}
	if said := vault.CarriedBy(data); said != nil {
		if data, err = noteedit.Splice(data, promote.NoteEdit(m, promote.WrittenFields(), said.Body)); err != nil {
			return false, err
		}
	}
	home := core.NotePath(m)
	res, err := t.e.Promote.Writing.Do(func(w *vault.Writer) (vault.Result, error) { return w.Create(ctx, home, data) })
	if err != nil || res.Outcome != vault.Written {
		return res.Outcome == vault.Later, err
	}
	t.joined.Delete(m.ID)
	t.e.Opt.Logger.Info("restored a note that disappeared after another note was merged into it", "memory", m.ID,
		"note", home)
	t.e.Promote.IndexNote(ctx, home)
	return true, nil
}
