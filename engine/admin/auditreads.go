package admin

import (
	"slices"

	"emberd/internal/ledger"
	"emberd/internal/notejournal"
	"emberd/memory"
	"emberd/op"
)

// noteChanges are the entries of the journal of notes, by name, and which of them were undone.
type noteChanges struct {
	entries map[string]*notejournal.Entry
	undone  map[string]bool
}

// noteChanges reads the journal of notes.
func (e *Admin) noteChanges() (noteChanges, error) {
	all, err := e.NoteWrite.Entries()
	if err != nil {
		return noteChanges{}, memory.Errorf(memory.ReadOnly, "cannot read the list of changes of notes: %w", err)
	}
	n := noteChanges{entries: make(map[string]*notejournal.Entry, len(all)), undone: notejournal.Undone(all)}
	for i := range all {
		n.entries[all[i].Tx] = &all[i]
	}
	return n, nil
}

// reads returns the selected reads and changes of notes, one more than a page has.
func (a *auditQuery) reads() (found []ledger.Read, err error) {
	if !a.wants(op.AuditRead) && !a.wants(op.AuditWrite) {
		return nil, nil
	}
	found = a.e.Ledger.Reads(a.read, a.limit+1, a.id,
		func(r *ledger.Read) bool { return !r.At.Before(a.since) && a.of(r.By) && a.wants(readKind(r)) })
	if slices.ContainsFunc(found, func(r ledger.Read) bool { return r.Tx != "" }) {
		a.notes, err = a.e.noteChanges()
	}
	return found, err
}

// readKind returns the audit kind of a read: a call that changed notes is a write.
func readKind(r *ledger.Read) string {
	if r.Tx != "" {
		return op.AuditWrite
	}
	return op.AuditRead
}

func (a *auditQuery) readEvent(r *ledger.Read) op.AuditEvent {
	out := op.AuditEvent{At: r.At, Kind: readKind(r), What: r.What, Caller: r.By.Name, Of: r.By.Kind,
		By: memory.Actor{PID: r.PID}, Count: len(r.IDs), IDs: slices.Clone(r.IDs[:min(len(r.IDs), maxEvent)]),
		Tx: r.Tx, Undone: a.notes.undone[r.Tx]}
	if entry := a.notes.entries[r.Tx]; entry != nil {
		for _, note := range entry.Notes[:min(len(entry.Notes), maxEvent)] {
			out.Notes = append(out.Notes, note.Path)
		}
	}
	return out
}
