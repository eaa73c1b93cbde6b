package history

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
)

// Undo asks to take a journal entry back.
type Undo struct {
	Entry  string // "" is the newest of this device that was not reverted and that a caller asked for
	Force  bool   // also what was changed again since
	DryRun bool
	By     memory.Actor
	Leave  map[memory.ID]string // memories that stay as they are, and why
}

// Undone reports what was reverted, or would be.
type Undone struct {
	Entry record.Entry
	Tx    string // the entry of the undo, "" when nothing was written
	Items []UndoneItem
}

// UndoVerb is the journal verb of an undo.
const UndoVerb = "undo"

// What undoing did to one memory.
const (
	Removed  = "removed"  // it was created by the entry
	Restored = "restored" // it was forgotten by the entry
	Reverted = "reverted" // fields have their earlier values again
	Left     = "left"     // changed since; Reason reports how
)

// UndoneItem is the fate of one memory.
type UndoneItem struct {
	ID     memory.ID
	Action string
	Reason string
	Verb   string       // of the change that was reverted
	Stage  memory.Stage // that it is in again, "" if its stage did not change

	changed string // the key that Reason is about, "" if it is about none
}

// Undo reverts every change of an entry that nothing has changed since, or,
// with Force, every change. A large entry takes several transactions; only the
// last one marks it as undone, so a crash between them leaves an entry that
// can be undone again.
//
// What emberd did by itself since an entry made a memory does not keep the memory: only what
// a person or an agent asked for does. An entry that was undone in part is undone again with
// Force only, which takes the rest back.
func (s *Timeline) Undo(ctx context.Context, u Undo) (Undone, error) {
	out := Undone{}
	tx, refs, steps, err := s.toUndo(ctx, &u, &out)
	u.leave(steps)
	if err != nil || u.DryRun {
		if err == nil {
			out.Items, err = s.preview(steps, u.Force)
		}
		return out, err
	}
	for len(steps) > 0 {
		n := s.undoChunk(steps)
		if err := s.undoSteps(ctx, u, tx, steps[:n], n == len(steps), &out); err != nil {
			return out, err
		}
		if steps = steps[n:]; len(steps) > 0 {
			continue
		}
		// What the entry got while it was being undone. Nothing joins it from now on.
		late := s.joinedSince(tx, refs)
		if steps, err = s.inverse(ctx, late, new(Undone)); err != nil {
			return out, err
		}
		u.leave(steps)
		refs = append(refs, late...)
	}
	return out, nil
}

// leave marks the steps of the memories that stay as they are.
func (u *Undo) leave(steps []undoStep) {
	for i := range steps {
		steps[i].leave = u.Leave[steps[i].ID]
	}
}

// toUndo finds the entry to undo, its lines and what takes it back. It fills in the entry.
func (s *Timeline) toUndo(ctx context.Context, u *Undo, out *Undone) (record.Stamp, []record.LineRef, []undoStep,
	error) {
	tx, err := s.entryToUndo(u.Entry)
	if err != nil {
		return tx, nil, nil, err
	}
	refs, steps, err := stepsOf(ctx, s, tx, u.Force, out)
	for err == nil && u.Entry == "" && !u.Force {
		later, found, failed := inTheWay(s, tx, steps)
		if failed != nil || !found {
			return tx, refs, steps, failed
		}
		tx = later
		refs, steps, err = stepsOf(ctx, s, tx, false, out)
	}
	return tx, refs, steps, err
}

// stepsOf returns the lines of an entry and the steps that take it back, or what is left of them if it was undone.
func stepsOf(ctx context.Context, s *Timeline, tx record.Stamp, force bool, out *Undone) ([]record.LineRef, []undoStep,
	error) {
	refs, undone := s.wal.Journal.EntryLines(tx)
	if len(refs) == 0 {
		return nil, nil, memory.Errorf(memory.NotFound, "change %s not found; run: emberd history", tx).At("tx")
	}
	if slices.ContainsFunc(refs, func(r record.LineRef) bool { return r.Cut }) {
		if undone {
			return nil, nil, undoneBefore(tx)
		}
		return nil, nil, notKept(tx)
	}
	steps, err := s.inverse(ctx, refs, out)
	if err == nil && undone {
		steps, err = restOf(ctx, s, tx, steps, force)
	}
	if err == nil {
		steps, err = withOwnChanges(ctx, s, tx, steps, force)
	}
	if err == nil {
		err = markRestored(s, tx, steps)
	}
	return refs, steps, err
}

func notKept(tx record.Stamp) error {
	return memory.Errorf(memory.NotFound, "cannot undo change %s, because the versions before it are older than "+
		"history.keep or were missing from a restored copy of the log; to look "+
		"for these versions in a backup, run: emberd doctor log repair --from FILE", tx).At("tx")
}

// joinedSince are the lines of an entry that are not among those that were seen.
func (s *Timeline) joinedSince(tx record.Stamp, seen []record.LineRef) []record.LineRef {
	all, _ := s.wal.Journal.EntryLines(tx)
	if len(all) == len(seen) {
		return nil
	}
	known := make(map[record.Stamp]bool, len(seen))
	for _, ref := range seen {
		known[ref.Stamp] = true
	}
	return slices.DeleteFunc(all, func(ref record.LineRef) bool { return known[ref.Stamp] })
}

func (s *Timeline) entryToUndo(name string) (record.Stamp, error) {
	if name == "" {
		return s.newestToUndo()
	}
	tx, err := record.ParseStamp(name)
	if err != nil {
		return tx, memory.Errorf(memory.Invalid,
			"invalid change ID: %w; copy the ID from the output of save, edit or forget", err).At("tx")
	}
	return tx, nil
}

// newestToUndo is the latest entry that stands, unless this device purged a memory since: a caller
// that names no entry means the latest change, and a purge stays.
func (s *Timeline) newestToUndo() (record.Stamp, error) {
	tx, ok := s.wal.Journal.NewestEntry(false)
	switch {
	case s.wal.Table.LatestPurge(s.wal.Device).After(tx) && ok:
		return tx, memory.Errorf(memory.NotFound, "the last change was a permanent deletion, which cannot be "+
			"undone; to undo the previous change, run: emberd undo %s", tx).At("tx")
	case s.wal.Table.LatestPurge(s.wal.Device).After(tx):
		return tx, memory.Errorf(memory.NotFound,
			"the last change was a permanent deletion, which cannot be undone").At("tx")
	case !ok && len(s.Named("")) == 0:
		return tx, memory.Errorf(memory.NotFound, "nothing to undo")
	case !ok:
		return tx, memory.Errorf(memory.NotFound,
			"nothing to undo under the present ID of this device; to undo a change of another device, or a change "+
				"from before a restore, pass the ID of the change; run: emberd history")
	}
	return tx, wantWhole(s, tx)
}

// wantWhole is an error for the latest entry if it came back from a copy without what it replaced, which names the one
// before it.
func wantWhole(s *Timeline, tx record.Stamp) error {
	refs, _ := s.wal.Journal.EntryLines(tx)
	if !slices.ContainsFunc(refs, func(r record.LineRef) bool { return r.Cut }) {
		return nil
	}
	before, ok := s.wal.Journal.NewestEntry(true)
	if !ok {
		return notKept(tx)
	}
	return memory.Errorf(memory.NotFound, "cannot undo the last change %s, because the versions before it were "+
		"missing from a restored copy of the log; to look for these versions in a backup, run: "+
		"emberd doctor log repair --from FILE; to undo the previous change, run: emberd undo %s", tx, before).At("tx")
}

// undoStep takes one change back.
type undoStep struct {
	record.Change
	verb  string
	at    record.Stamp
	prior record.Superseded
	// purged is set if the memory was purged since.
	purged bool
	// since is set for a step by a token that took trust away, see tokensSince.
	since map[string]json.RawMessage
	own   ownValues // of a step that made the memory
	leave string    // why the memory stays as it is, "" if it does not
	// back says that the step archived a text which emberd brought back by itself: only the stage is another.
	back bool
}

// inverse lists the steps, latest change first, and fills in the entry.
func (s *Timeline) inverse(ctx context.Context, refs []record.LineRef, out *Undone) ([]undoStep, error) {
	var steps []undoStep
	seen := make(map[memory.ID]bool)
	var ids []memory.ID
	for i := len(refs) - 1; i >= 0; i-- {
		l, err := s.wal.Journal.ReadLine(refs[i].At, refs[i].Stamp)
		if err != nil {
			return nil, err
		}
		if l.Purges() {
			return nil, memory.Errorf(memory.Invalid, "change %s was a permanent deletion, which cannot be "+
				"undone; to undo another change, pass the ID of that change", l.Tx).At("tx")
		}
		out.Entry = l.Entry()
		for _, c := range l.Changes {
			if !seen[c.ID] {
				seen[c.ID], ids = true, append(ids, c.ID)
			}
			if c.Op == record.OpSet && c.Prev == nil && l.Verb == record.Recovered {
				return nil, notKept(l.Tx)
			}
			prior, err := c.Superseded()
			if err != nil {
				return nil, err
			}
			if c.Op == record.OpDelete {
				prior.Keys = s.revived(c.ID, prior.Keys)
			}
			since, err := s.tokensSince(ctx, &l, &c)
			if err != nil {
				return nil, err
			}
			steps = append(steps, undoStep{Change: c, verb: l.Verb, at: l.Stamp, prior: prior, since: since,
				purged: s.wal.Table.PurgedAt(c.ID.Bytes()).After(l.Stamp)})
		}
	}
	out.Entry.IDs = ids
	return steps, nil
}

// undoChunk reports how many steps fit one transaction, each of another memory.
func (s *Timeline) undoChunk(steps []undoStep) int {
	size, ids := 0, map[memory.ID]bool{}
	for i, st := range steps {
		size += 2*len(st.Data) + len(st.Prev) + 256
		if row := s.wal.Table.Get(st.ID); row != nil {
			size += len(row.JSON())
		}
		if i > 0 && (size > record.MaxLine/2 || i >= memory.MaxIDs*10 || ids[st.ID]) {
			return i
		}
		ids[st.ID] = true
	}
	return len(steps)
}

// preview reports what undoing would do. A step sees what those before it left.
func (s *Timeline) preview(steps []undoStep, force bool) ([]UndoneItem, error) {
	var items []UndoneItem
	rows := map[memory.ID]*table.Row{}
	for _, st := range steps {
		row, seen := rows[st.ID]
		if !seen {
			row = s.wal.Table.Get(st.ID)
		}
		c, item := st.against(row, force)
		items = append(items, item)
		if c == nil {
			continue
		}
		var doc []byte
		if row != nil {
			doc = row.JSON()
		}
		doc, err := record.WithKeys(doc, c.Set)
		if err != nil {
			return nil, fmt.Errorf("cannot preview the undo: %w", err)
		}
		if rows[st.ID] = (&table.Row{Doc: doc}); c.Delete {
			rows[st.ID] = nil
		}
	}
	return items, nil
}

// undoSteps applies one transaction of an undo. The last one is written even
// if it changes nothing, to mark the entry as undone.
func (s *Timeline) undoSteps(ctx context.Context, u Undo, tx record.Stamp, steps []undoStep, last bool,
	out *Undone) error {
	ids := make([]memory.ID, len(steps))
	for i, st := range steps {
		ids[i] = st.ID
	}
	var items []UndoneItem
	got, err := s.update(ctx, ids, "", func(rows []*table.Row) (*wal.Tx, error) {
		var changes []wal.Change
		changes, items = plan(steps, u.Force, rows)
		for i := range changes {
			changes[i].Allowed = true // it was there before
		}
		if len(changes) == 0 && (!last || out.Tx == "") {
			return nil, nil
		}
		t := &wal.Tx{Verb: UndoVerb, By: u.By, Entry: out.Tx, Changes: changes}
		if last {
			t.Undoes = tx
		}
		return t, nil
	})
	out.Items = append(out.Items, items...)
	if got.Entry != "" {
		out.Tx = got.Entry
	}
	return err
}

// plan decides for every step what to do with the memory as it is now.
func plan(steps []undoStep, force bool, rows []*table.Row) ([]wal.Change, []UndoneItem) {
	var changes []wal.Change
	var items []UndoneItem
	for i, st := range steps {
		c, item := st.against(rows[i], force)
		if c != nil {
			changes = append(changes, *c)
		}
		items = append(items, item)
	}
	return changes, items
}

// stageIn returns the stage that fields set, "" if they set none.
func stageIn(set map[string]json.RawMessage) memory.Stage {
	raw, sets := set["stage"]
	if !sets {
		return ""
	}
	stage := memory.Active // the field of an active memory is left out
	if json.Unmarshal(raw, &stage) != nil || stage == "" {
		return memory.Active
	}
	return stage
}
