package lifecycle

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/engine/promote"
	"emberd/engine/search"
	"emberd/internal/metrics"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
	"emberd/vault"
)

// RekindleMemory restores the text of a cold memory from its note, which it does not change,
// and counts a use. The text is the current one of the note, with the user's edits. If the
// note is gone, the summary stays, and the answer lists similar notes. A merged memory is
// restored only if the caller named it.
func (e *Lifecycle) RekindleMemory(ctx context.Context, id memory.ID, by memory.Actor) (*op.RekindleResult, error) {
	return e.RekindleAs(ctx, id, by, false)
}

// RekindleAs does the same as RekindleMemory. named is true if the caller named the memory.
func (e *Lifecycle) RekindleAs(ctx context.Context, id memory.ID, by memory.Actor,
	named bool) (*op.RekindleResult, error) {
	return e.rekindle(ctx, id, by, waking{stage: memory.Active, named: named, use: true})
}

// A waking is what a rekindled memory becomes.
type waking struct {
	stage memory.Stage // active, or demoted
	named bool         // the caller named the memory
	use   bool         // it counts as a use
}

// rekindle restores the text of a cold memory. It tries again, a few times, if the memory changes in the meantime.
func (e *Lifecycle) rekindle(ctx context.Context, id memory.ID, by memory.Actor,
	w waking) (*op.RekindleResult, error) {
	const tries = 3
	for range tries {
		row, live := e.Stm.Get(id)
		if !live {
			return nil, e.Missing(id)
		}
		m, err := row.Memory()
		if err != nil {
			return nil, err
		}
		if !m.Stage.Cold() && !core.Shortened(&m) {
			return e.warmAlready(row)
		}
		if err := e.MayChange(row); err != nil {
			return nil, err
		}
		found, err := e.textFor(ctx, &m, w.named)
		if err != nil {
			return nil, err
		}
		res, err := e.writeRekindled(ctx, &m, row.Rev(), found, by, w)
		if res != nil || err != nil {
			return res, err
		}
	}
	return nil, memory.Errorf(memory.Busy, "memory %s keeps changing; try again in a moment", id)
}

func (e *Lifecycle) warmAlready(row *stm.Row) (*op.RekindleResult, error) {
	view, err := e.MemoryView(row, e.Opt.Now())
	return &op.RekindleResult{Memory: view, Hint: fmt.Sprintf("the memory is already %s and has its full text",
			row.Stage())},
		err
}

// textFor looks up a memory's text, and returns an error if it may not be restored: a merged
// memory stays as it is unless it was named, because the merged one has its text.
func (e *Lifecycle) textFor(ctx context.Context, m *memory.Memory, named bool) (notes.TextLookup, error) {
	if into := core.MergedInto(e.Stm.Get, m.ConsolidatedInto); into != nil && !named {
		return notes.TextLookup{},
			memory.Errorf(memory.Conflict, "memory %s was merged into %s, which contains its text; to "+
				"restore the merged memory anyway, run: emberd rekindle %s", m.ID, into.ID(), m.ID)
	}
	if row, live := e.Stm.Get(m.ID); live && !named {
		if by := core.Successor(e.Stm.Get, row); by != nil {
			return notes.TextLookup{},
				memory.Errorf(memory.Conflict, "memory %s is superseded by memory %s; to restore the "+
					"superseded memory anyway, run: emberd rekindle %s", m.ID, by.ID(), m.ID)
		}
	}
	found, err := e.Notes.LookUpText(ctx, m)
	if err != nil || !found.Edited {
		return found, err
	}
	taken := *m
	err = e.Notes.TakeContent(&taken, found.Note)
	if err != nil { // a credential that was allowed in the archived text still is
		if _, text, known := e.archivedText(ctx, m); known {
			taken.Content = text
			err = e.Notes.TakeContent(&taken, found.Note)
		}
	}
	if err != nil {
		return found,
			memory.Errorf(memory.Conflict,
				"memory %s stays %s, because emberd cannot apply the edited text of its note %q: %w", m.ID, m.Stage,
				found.Path, err)
	}
	return found, nil
}

// writeRekindled writes the text to the log. It returns no result if the memory changed since it
// was read.
func (e *Lifecycle) writeRekindled(ctx context.Context, was *memory.Memory, rev string, found notes.TextLookup,
	by memory.Actor, w waking) (*op.RekindleResult, error) {
	now := core.StampTime(e.Opt.Now())
	var row *stm.Row
	receipt, err := e.Stm.Update(ctx, []memory.ID{was.ID}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if row = rows[0]; row == nil || row.Rev() != rev {
			row = nil
			return nil, nil
		}
		m, err := row.Memory()
		if err != nil {
			return nil, err
		}
		set, err := e.rekindleChange(&m, found, now, by, w)
		if err != nil || len(set) == 0 {
			return nil, err
		}
		return &stm.Tx{Verb: core.RekindleVerb, By: by, Changes: []stm.Change{{ID: m.ID, Set: set, Allowed: true}}}, nil
	})
	if row == nil || err != nil {
		return nil, err
	}
	if receipt.Entry != "" {
		row = receipt.Rows[0]
	}
	switch {
	case found.Verdict == rekindle.Gone && was.NoteGone.IsZero():
		e.Opt.Logger.Warn("note of an archived memory is missing; its summary stays", "memory", was.ID,
			"note", core.NotePath(was))
	case found.Verdict != rekindle.Gone && w.use:
		e.Used(row, now)
		row, _ = e.Stm.Get(was.ID)
	}
	return e.rekindleResult(ctx, row, was, found, receipt.Entry)
}

// rekindleChange returns the changes of a memory whose text was looked up.
func (e *Lifecycle) rekindleChange(m *memory.Memory, found notes.TextLookup, now time.Time, by memory.Actor,
	w waking) (map[string]json.RawMessage, error) {
	before, err := core.Fields(m)
	if err != nil {
		return nil, err
	}
	if found.Verdict == rekindle.Gone {
		if m.NoteGone.IsZero() {
			m.NoteGone = now
		}
	} else {
		if found.Edited {
			m.UpdatedAt = now
		}
		core.RestoreText(m, found.Body, found.Path, w.stage)
		if w.use {
			m.LastUsed = now
		}
		if err := e.recordNoteSeen(m, found.Note, by); err != nil {
			return nil, err
		}
	}
	after, err := core.Fields(m)
	return core.Difference(before, after), err
}

// recordNoteSeen records that the memory has the text of a note. If the note has a stage, it queues
// the write of the current one.
func (e *Lifecycle) recordNoteSeen(m *memory.Memory, note *vault.Note, by memory.Actor) error {
	if note == nil || !core.CarriesID(note.Carried, m.ID) {
		return nil
	}
	m.NoteSeen = promote.SeenWithText(m, note.Carried)
	if stage := note.Carried.Fields["stage"]; stage != "" && stage != string(m.Stage) {
		update := e.Promote.NoteUpdate(m.ID, note.Path, []string{"stage"}, by, "")
		return e.Promote.TellStages([]promote.PendingWrite{update})
	}
	return nil
}

// rekindleResult returns the answer. was is the memory before.
func (e *Lifecycle) rekindleResult(ctx context.Context, row *stm.Row, was *memory.Memory, found notes.TextLookup,
	tx string) (*op.RekindleResult, error) {
	if row == nil {
		return nil, e.Missing(was.ID)
	}
	view, err := e.MemoryView(row, e.Opt.Now())
	if err != nil {
		return nil, err
	}
	e.Vitals.Rekindles.Add(metrics.By(string(found.Verdict)), 1)
	res := &op.RekindleResult{Memory: view, Verdict: string(found.Verdict), Path: found.Path, Edited: found.Edited,
		Tx: tx}
	if found.Verdict == rekindle.Gone {
		res.Path = core.NotePath(was)
		e.addSimilarNotes(ctx, was, res)
	}
	return res, nil
}

// addSimilarNotes adds notes that are similar to a lost text. A failed search is not an error of the
// rekindling.
func (e *Lifecycle) addSimilarNotes(ctx context.Context, m *memory.Memory, res *op.RekindleResult) {
	const most = 3
	near, err := e.Search.Search(ctx,
		&op.SearchRequest{Query: onlyWords(m.Content + " " + strings.Join(m.KeyTerms, " ")), Scope: search.ScopeNotes,
			Limit: most, Track: new(false)})
	if err != nil {
		e.Opt.Logger.Warn("search for notes similar to a missing text failed", "memory", m.ID, "error", err)
	} else {
		for _, hit := range near.Hits {
			res.Near = append(res.Near, *hit.Note)
		}
	}
	tx, others, until := e.textInLog(ctx, m)
	switch {
	case tx == "":
		res.Hint = "the note of the memory is missing, and the log no longer contains the " +
			"text; only the summary remains"
	case others > 0:
		res.Until, res.Hint = until,
			fmt.Sprintf("the note of the memory is missing; to restore the text of this "+
				"memory and of %s archived with this memory, run: emberd undo %s",
				core.NumberOf(others, "more memory", "more memories"), tx)
	default:
		res.Until, res.Hint = until, fmt.Sprintf(
			"the note of the memory is missing; to restore the text, run: emberd undo %s", tx)
	}
}

// onlyWords returns a text as a query without operators.
func onlyWords(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) {
			return r
		}
		return ' '
	}, text)
}

// textInLog finds the change that archived the text of a cold memory, how many other memories
// it archived, and until when the log keeps the text. tx is "" if an undo would not restore
// the text.
func (e *Lifecycle) textInLog(ctx context.Context, m *memory.Memory) (tx string, others int, until time.Time) {
	entry, _, known := e.archivedText(ctx, m)
	if !known {
		return "", 0, until
	}
	would, err := e.Stm.Undo(ctx, stm.Undo{Entry: entry.Tx, DryRun: true})
	reverts := func(item stm.UndoneItem) bool { return item.ID == m.ID && item.Action == stm.Reverted }
	if err != nil || !slices.ContainsFunc(would.Items, reverts) {
		return "", 0, until
	}
	seen := slices.DeleteFunc(would.Entry.IDs, func(id memory.ID) bool { return id == m.ID || !e.Live(id) })
	return entry.Tx, len(seen), core.StampTime(entry.At.Add(e.Opt.HistoryKeep))
}

// archivedText returns the text that a cold memory had and the change that archived it, if the
// log still has them. It reads the whole log.
func (e *Lifecycle) archivedText(ctx context.Context, m *memory.Memory) (entry stm.Entry, text string, known bool) {
	versions, err := e.Stm.History(ctx, m.ID)
	if err != nil {
		e.Opt.Logger.Warn("history not read", "memory", m.ID, "error", err)
	}
	for _, v := range slices.Backward(versions) {
		for _, f := range v.Fields {
			if f.Name == core.ContentField && !v.Cut && json.Unmarshal(f.From, &text) == nil &&
				isTextOf(text, m.TextDigest) {
				return v.Entry, text, true
			}
		}
	}
	return entry, "", false
}
