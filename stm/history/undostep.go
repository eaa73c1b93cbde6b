package history

import (
	"emberd/memory"
	"emberd/stm/record"
	"emberd/stm/table"
	"emberd/stm/wal"
	"encoding/json"
	"slices"
)

// against takes the step back from a memory as it is now. What counts as changed
// since is a value that is not the one the step wrote: undoing a later change
// brings that one back, so that undoing continues step by step.
func (st *undoStep) against(row *table.Row, force bool) (*wal.Change, UndoneItem) {
	left := func(why string) (*wal.Change, UndoneItem) {
		return nil, UndoneItem{ID: st.ID, Action: Left, Reason: why, Verb: st.verb}
	}
	changed := func(key string) (*wal.Change, UndoneItem) {
		_, item := left(spoken(key) + " changed later")
		item.changed = key
		return nil, item
	}
	done := func(action string, c wal.Change) (*wal.Change, UndoneItem) {
		c.ID = st.ID
		return &c, UndoneItem{ID: st.ID, Action: action, Verb: st.verb, Stage: stageIn(c.Set)}
	}
	switch {
	case st.leave != "":
		return left(st.leave)
	case st.purged && row == nil:
		return left("the memory was deleted permanently")
	case st.Op == record.OpDelete && st.prior.WasNone():
		return left("the memory was not on this device before it was deleted")
	case st.Op == record.OpDelete && row == nil:
		return done(Restored, wal.Change{Set: st.prior.Keys})
	case st.Op == record.OpDelete:
		return left("the memory is no longer deleted")
	case row == nil:
		return left("the memory was deleted later")
	case st.Op == record.OpPut:
		if key := differsFrom(row, st.Data, st.own); key != "" && !force {
			return changed(key)
		}
		return done(Removed, wal.Change{Delete: true})
	}
	set, key := st.revert(row, force)
	if len(set) == 0 || key == "content" && onlyTold(set) {
		return changed(key)
	}
	c, item := done(Reverted, wal.Change{Set: set})
	if key != "" {
		item.Reason, item.changed = spoken(key)+" changed later, so emberd keeps the later value", key
	}
	return c, item
}

// onlyTold reports whether no value is about more than when and by whom a memory was changed.
func onlyTold(set map[string]json.RawMessage) bool {
	for key := range set {
		if key != WhenChanged && !record.IsSourceKey(key) {
			return false
		}
	}
	return true
}

// spoken is a key as people know it.
func spoken(key string) string {
	switch {
	case record.IsRelationKey(key):
		return "a relation"
	case record.IsReviewKey(key):
		return "a review item"
	case record.IsSourceKey(key):
		return "a source"
	}
	return key
}

// WhenChanged is the key that every change writes; alone it is no change.
const WhenChanged = "updated_at"

// revert returns the earlier values of the keys the step wrote, less those
// that were written again since, and names one of the latter: the text if it is.
func (st *undoStep) revert(row *table.Row, force bool) (set map[string]json.RawMessage, changed string) {
	set = map[string]json.RawMessage{}
	earlier := func(key string) {
		if set[key] = record.Null; st.prior.Keys[key] != nil {
			set[key] = st.prior.Keys[key]
		}
	}
	moved := record.Member(st.Data, textDigest) != nil
	if st.back {
		earlier("content")
		if stage, _ := record.Text(row.Value("stage")); memory.Stage(stage) == memory.Demoted {
			earlier("stage")
		}
		return set, ""
	}
	if moved && !st.holdsText(row) && (!force || record.Member(st.Data, "content") == nil) {
		return set, "content"
	}
	wrote := false
	// The line was read and checked before.
	_ = record.EachField(st.Data, func(name, value []byte) bool {
		switch key := string(name); {
		case key == WhenChanged:
			wrote = true
		case moved && goesWithText(key):
			earlier(key)
		case !moved && st.leadsToText(key) && row.Value(textDigest) != nil:
			changed = "content" // was archived, and is in that note alone
		case !moved && st.parts(key, row), !force && !record.Same(row.Value(key), value):
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
	if key := st.keepTrust(row, set); changed == "" {
		changed = key
	}
	if wrote && changed == "" && (force || len(set) > 0) {
		earlier(WhenChanged)
	}
	return set, changed
}

// Archiving takes the text out of a memory, and rekindling brings it back: either writes
// the key textDigest. Undoing one takes all of what goes with the text back, or nothing:
// what a memory holds and what its stage says it holds stay one.
const textDigest = "text_digest"

func goesWithText(key string) bool {
	return slices.Contains([]string{textDigest, "content", "stage", "text_edges", "key_terms", "archived_at",
		"archive_reason"}, key)
}

// holdsText reports whether the row has the text, or what is left of one, that the step
// gave it, and has had it ever since.
func (st *undoStep) holdsText(row *table.Row) bool {
	for _, key := range []string{"content", "archived_at"} {
		if value := record.Member(st.Data, key); value != nil && !record.Same(row.Value(key), value) {
			return false
		}
	}
	return record.Same(row.Value(textDigest), record.Member(st.Data, textDigest))
}

// parts reports whether taking one key of a step back that moved no text would part the
// stage of a memory from its text, which was moved since.
func (st *undoStep) parts(key string, row *table.Row) bool {
	archived := !record.Same(row.Value(textDigest), nil)
	switch key {
	case "content":
		return archived
	case "stage":
		earlier, later := isCold(st.prior.Keys[key]), isCold(record.Member(st.Data, key))
		if earlier != later { // it had no text to move
			return archived
		}
		return earlier != isCold(row.Value(key))
	}
	return false
}

// leadsToText reports whether a key of the step describes the first note of the memory. If
// the memory was archived since, its text is nowhere else.
func (st *undoStep) leadsToText(key string) bool {
	const home = "vault_path"
	return slices.Contains([]string{"promoted_to", "promoted_at", home, "note_seen"}, key) &&
		!record.Same(record.Member(st.Data, home), nil) && record.Same(st.prior.Keys[home], nil)
}

func isCold(value []byte) bool {
	name, _ := record.Text(value)
	return memory.Stage(name).Cold()
}

// tidy removes what goes with the text and neither the step nor what was before it had.
func (st *undoStep) tidy(row *table.Row, set map[string]json.RawMessage) {
	for _, key := range []string{"text_edges", "key_terms", "archived_at", "archive_reason"} {
		if record.Member(st.Data, key) == nil && row.Value(key) != nil {
			set[key] = record.Null
		}
	}
}

// differsFrom names the first key in order of names, but for the time of change and for
// review items, which go with the memory, whose value is not that of the document, nor one
// that emberd gave it by itself; "" when there is none.
func differsFrom(r *table.Row, doc []byte, own ownValues) (key string) {
	find := func(one, other []byte) {
		// Both were walked before.
		_ = record.EachField(one, func(name, value []byte) bool {
			other := record.Member(other, string(name))
			if name := string(name); name != WhenChanged && !record.IsReviewKey(name) && (key == "" || name < key) &&
				!record.Same(other, value) && !own.has(name, r.Value(name)) {
				key = name
			}
			return true
		})
	}
	find(r.JSON(), doc)
	find(doc, r.JSON())
	return key
}
