package stm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"emberd/memory"
)

// Undo asks to take a journal entry back.
type Undo struct {
	Entry  string // "" is the newest of this device that still stands and that somebody asked for
	Force  bool   // also what was changed again since
	DryRun bool
	By     memory.Actor
}

// Undone tells what was taken back, or would be.
type Undone struct {
	Entry Entry
	Tx    string // the entry of the undo, "" when nothing was written
	Items []UndoneItem
}

// What undoing did to one memory.
const (
	Removed  = "removed"  // it was created by the entry
	Restored = "restored" // it was forgotten by the entry
	Reverted = "reverted" // fields have their earlier values again
	Left     = "left"     // changed since; Reason says how
)

// UndoneItem is the fate of one memory.
type UndoneItem struct {
	ID     memory.ID
	Action string
	Reason string
	Verb   string // of the change that was taken back
	Stage  bool   // the stage is among what went back
}

// Undo takes back every change of an entry that nothing has changed since, or,
// with Force, every change. A large entry takes several transactions; only the
// last one marks it as undone, so a crash between them leaves an entry that
// can be undone again.
func (s *Store) Undo(ctx context.Context, u Undo) (Undone, error) {
	tx, err := s.entryToUndo(u.Entry)
	if err != nil {
		return Undone{}, err
	}
	refs, undone := s.entryLines(tx)
	if len(refs) == 0 {
		return Undone{}, memory.Errorf(memory.NotFound, "the journal has no entry %s", tx).At("tx")
	}
	if undone {
		return Undone{}, memory.Errorf(memory.Invalid, "entry %s was undone before", tx).At("tx")
	}
	if slices.ContainsFunc(refs, func(r lineRef) bool { return r.cut }) {
		return Undone{}, memory.Errorf(memory.NotFound, "entry %s is older than the history that is kept, so what it replaced is not known any more; history.keep says for how long it is", tx).At("tx")
	}
	out := Undone{}
	steps, err := s.inverse(refs, &out)
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
		if steps, err = s.inverse(late, new(Undone)); err != nil {
			return out, err
		}
		refs = append(refs, late...)
	}
	return out, nil
}

// joinedSince are the lines of an entry that are not among those that were seen.
func (s *Store) joinedSince(tx Stamp, seen []lineRef) []lineRef {
	all, _ := s.entryLines(tx)
	if len(all) == len(seen) {
		return nil
	}
	known := make(map[Stamp]bool, len(seen))
	for _, ref := range seen {
		known[ref.stamp] = true
	}
	return slices.DeleteFunc(all, func(ref lineRef) bool { return known[ref.stamp] })
}

func (s *Store) entryToUndo(name string) (Stamp, error) {
	if name == "" {
		tx, ok := s.newestEntry()
		if !ok {
			return tx, memory.Errorf(memory.NotFound, "there is nothing to undo; an entry of another device is taken back by its name")
		}
		return tx, nil
	}
	tx, err := ParseStamp(name)
	if err != nil {
		return tx, memory.Errorf(memory.Invalid, "journal entry %w; copy it from the answer of save, edit or forget", err).At("tx")
	}
	return tx, nil
}

// undoStep takes one change back.
type undoStep struct {
	change
	verb  string
	at    Stamp
	prior superseded
	// purged is set if the memory was purged since.
	purged bool
}

// inverse lists the steps, latest change first, and fills in the entry.
func (s *Store) inverse(refs []lineRef, out *Undone) ([]undoStep, error) {
	var steps []undoStep
	seen := make(map[memory.ID]bool)
	var ids []memory.ID
	for i := len(refs) - 1; i >= 0; i-- {
		l, err := s.readLine(refs[i].at, refs[i].stamp)
		if err != nil {
			return nil, err
		}
		if l.purges() {
			return nil, memory.Errorf(memory.Invalid, "entry %s purged a memory for good, which nothing takes back; emberd undo with another entry takes that one back", l.tx).At("tx")
		}
		out.Entry = l.entry()
		for _, c := range l.changes {
			if !seen[c.id] {
				seen[c.id], ids = true, append(ids, c.id)
			}
			prior, err := c.superseded()
			if err != nil {
				return nil, err
			}
			if c.op == opDelete {
				prior.Keys = s.revived(c.id, prior.Keys)
			}
			steps = append(steps, undoStep{change: c, verb: l.verb, at: l.stamp, prior: prior, purged: s.table.purgedAt(c.id.Bytes()).after(l.stamp)})
		}
	}
	out.Entry.IDs = ids
	return steps, nil
}

// undoChunk says how many steps fit one transaction, each of another memory.
func (s *Store) undoChunk(steps []undoStep) int {
	size, ids := 0, map[memory.ID]bool{}
	for i, st := range steps {
		size += 2*len(st.data) + len(st.prev) + 256
		if row := s.table.get(st.id); row != nil {
			size += len(row.doc)
		}
		if i > 0 && (size > MaxLine/2 || i >= memory.MaxIDs*10 || ids[st.id]) {
			return i
		}
		ids[st.id] = true
	}
	return len(steps)
}

// preview tells what undoing would do. A step sees what those before it left.
func (s *Store) preview(steps []undoStep, force bool) ([]UndoneItem, error) {
	var items []UndoneItem
	rows := map[memory.ID]*Row{}
	for _, st := range steps {
		row, seen := rows[st.id]
		if !seen {
			row = s.table.get(st.id)
		}
		c, item := st.against(row, force)
		items = append(items, item)
		if c == nil {
			continue
		}
		var doc []byte
		if row != nil {
			doc = row.doc
		}
		doc, err := withKeys(doc, c.Set)
		if err != nil {
			return nil, fmt.Errorf("preview of undoing: %w", err)
		}
		if rows[st.id] = (&Row{doc: doc}); c.Delete {
			rows[st.id] = nil
		}
	}
	return items, nil
}

// undoSteps carries out one transaction of an undo. The last one is written even
// if it changes nothing, to mark the entry as undone.
func (s *Store) undoSteps(ctx context.Context, u Undo, tx Stamp, steps []undoStep, last bool, out *Undone) error {
	ids := make([]memory.ID, len(steps))
	for i, st := range steps {
		ids[i] = st.id
	}
	var items []UndoneItem
	got, err := s.Update(ctx, ids, "", func(rows []*Row) (*Tx, error) {
		var changes []Change
		changes, items = plan(steps, u.Force, rows)
		for i := range changes {
			changes[i].Allowed = true // it was there before
		}
		if len(changes) == 0 && (!last || out.Tx == "") {
			return nil, nil
		}
		t := &Tx{Verb: "undo", By: u.By, Entry: out.Tx, Changes: changes}
		if last {
			t.undoes = tx
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
func plan(steps []undoStep, force bool, rows []*Row) ([]Change, []UndoneItem) {
	var changes []Change
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

// against takes the step back from a memory as it is now. What counts as changed
// since is a value that is not the one the step wrote: undoing a later change
// brings that one back, so that undoing goes on step by step.
func (st *undoStep) against(row *Row, force bool) (*Change, UndoneItem) {
	left := func(why string) (*Change, UndoneItem) {
		return nil, UndoneItem{ID: st.id, Action: Left, Reason: why, Verb: st.verb}
	}
	done := func(action string, c Change) (*Change, UndoneItem) {
		c.ID = st.id
		_, stage := c.Set["stage"]
		return &c, UndoneItem{ID: st.id, Action: action, Verb: st.verb, Stage: stage}
	}
	switch {
	case st.purged && row == nil:
		return left("it was purged")
	case st.op == opDelete && st.prior.wasNone():
		return left("it came in forgotten")
	case st.op == opDelete && row == nil:
		return done(Restored, Change{Set: st.prior.Keys})
	case st.op == opDelete:
		return left("it is live again")
	case row == nil:
		return left("it was forgotten since")
	case st.op == opPut:
		if key := row.differsFrom(st.data); key != "" && !force {
			return left(spoken(key) + " was changed since")
		}
		return done(Removed, Change{Delete: true})
	}
	set, changed := st.revert(row, force)
	if len(set) == 0 {
		return left(spoken(changed) + " was changed since")
	}
	c, item := done(Reverted, Change{Set: set})
	if changed != "" {
		item.Reason = spoken(changed) + " was changed since and stays"
	}
	return c, item
}

// spoken is a key as people know it.
func spoken(key string) string {
	switch {
	case IsRelationKey(key):
		return "a relation"
	case IsReviewKey(key):
		return "a review item"
	case IsSourceKey(key):
		return "what it was learned from"
	}
	return key
}

// whenChanged is the key that every change writes; alone it is no change.
const whenChanged = "updated_at"

// revert returns the earlier values of the keys the step wrote, less those
// that were written again since, and names one of the latter: the text if it is.
func (st *undoStep) revert(row *Row, force bool) (set map[string]json.RawMessage, changed string) {
	set = map[string]json.RawMessage{}
	earlier := func(key string) {
		if set[key] = null; st.prior.Keys[key] != nil {
			set[key] = st.prior.Keys[key]
		}
	}
	moved := member(st.data, textDigest) != nil
	if moved && !st.holdsText(row) && (!force || member(st.data, "content") == nil) {
		return set, "content"
	}
	wrote := false
	// The line was read and checked before.
	_ = eachField(st.data, func(name, value []byte) bool {
		switch key := string(name); {
		case key == whenChanged:
			wrote = true
		case moved && goesWithText(key):
			earlier(key)
		case !moved && st.leadsToText(key) && row.value(textDigest) != nil:
			changed = "content" // was archived, and is in that note alone
		case !moved && st.parts(key, row), !force && !same(row.value(key), value):
			if changed != "content" {
				changed = key
			}
		default:
			earlier(key)
		}
		return true
	})
	if moved {
		st.tidy(row, set)
	}
	if wrote && changed == "" && (force || len(set) > 0) {
		earlier(whenChanged)
	}
	return set, changed
}

// Archiving takes the text out of a memory, and rekindling brings it back: either writes
// the key textDigest. Undoing one takes all of what goes with the text back, or nothing:
// what a memory holds and what its stage says it holds stay one.
const textDigest = "text_digest"

func goesWithText(key string) bool {
	return slices.Contains([]string{textDigest, "content", "stage", "text_edges", "key_terms", "archived_at", "archive_reason"}, key)
}

// holdsText reports whether the row has the text, or what is left of one, that the step
// gave it, and has had it ever since.
func (st *undoStep) holdsText(row *Row) bool {
	for _, key := range []string{"content", "archived_at"} {
		if value := member(st.data, key); value != nil && !same(row.value(key), value) {
			return false
		}
	}
	return same(row.value(textDigest), member(st.data, textDigest))
}

// parts reports whether taking one key of a step back that moved no text would part the
// stage of a memory from its text, which was moved since.
func (st *undoStep) parts(key string, row *Row) bool {
	archived := !same(row.value(textDigest), nil)
	switch key {
	case "content":
		return archived
	case "stage":
		earlier, later := isCold(st.prior.Keys[key]), isCold(member(st.data, key))
		if earlier != later { // it had no text to move
			return archived
		}
		return earlier != isCold(row.value(key))
	}
	return false
}

// leadsToText reports whether a key of the step tells of the first note of the memory. If
// the memory was archived since, its text is nowhere else.
func (st *undoStep) leadsToText(key string) bool {
	const home = "vault_path"
	return slices.Contains([]string{"promoted_to", "promoted_at", home, "note_seen"}, key) &&
		!same(member(st.data, home), nil) && same(st.prior.Keys[home], nil)
}

func isCold(value []byte) bool {
	name, _ := textValue(value)
	return memory.Stage(name).Cold()
}

// tidy removes what goes with the text and neither the step nor what was before it had.
func (st *undoStep) tidy(row *Row, set map[string]json.RawMessage) {
	for _, key := range []string{"text_edges", "key_terms", "archived_at", "archive_reason"} {
		if member(st.data, key) == nil && row.value(key) != nil {
			set[key] = null
		}
	}
}

// differsFrom names the first key in order of names, but for the time of change and for
// review items, which go with the memory, whose value is not that of the document; "" when there is none.
func (r *Row) differsFrom(doc []byte) (key string) {
	find := func(one, other []byte) {
		// Both were walked before.
		_ = eachField(one, func(name, value []byte) bool {
			other := member(other, string(name))
			if name := string(name); name != whenChanged && !IsReviewKey(name) && (key == "" || name < key) && !same(other, value) {
				key = name
			}
			return true
		})
	}
	find(r.doc, doc)
	find(doc, r.doc)
	return key
}

// same compares two values; null is as good as none.
func same(a, b []byte) bool {
	none := func(v []byte) bool { return v == nil || bytes.Equal(v, null) }
	return none(a) && none(b) || bytes.Equal(a, b)
}
