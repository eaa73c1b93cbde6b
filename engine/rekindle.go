package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode"

	"emberd/internal/metrics"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
	"emberd/vault"
)

// lookup is where the text of a cold memory is, and the text.
type lookup struct {
	rekindle.Outcome
	Body string      // in the form that a note has it; "" when it is gone
	note *vault.Note // nil when it is gone, or was never in a note
}

// lookUpText reads the text of a cold memory and says what became of its note. It
// changes nothing. A note that cannot be read now is an error, and never gone.
func (e *Engine) lookUpText(ctx context.Context, m *memory.Memory) (lookup, error) {
	home := homeOf(m)
	if m.TextDigest == "" { // only its stage was ever changed
		return lookup{Outcome: rekindle.Outcome{Verdict: rekindle.Unchanged, Path: home}, Body: m.Content}, nil
	}
	if e.notes == nil {
		return lookup{}, memory.Errorf(memory.NotFound, "the text of memory %s is in the note %q, and there is no vault; name one with vaults: in the config or emberd serve --vault", m.ID, home)
	}
	var read []lookup
	var known []rekindle.Note
	for i, path := range slices.Insert(e.notes.carriers.of(m.ID), 0, home) {
		if path == "" || i > 0 && path == home {
			continue
		}
		found, id, err := e.readFor(ctx, m, path)
		if err != nil {
			return lookup{}, err
		}
		if found == nil || found.note.Copy && path != home {
			continue
		}
		read = append(read, *found)
		known = append(known, rekindle.Note{Path: path, ID: id, Digest: rekindle.Digest(found.Body)})
		if out := rekindle.Judge(m.ID, home, m.TextDigest, known); out.Path == home && out.Verdict != rekindle.Gone {
			break // that one wins, whatever the others are
		}
	}
	out := rekindle.Judge(m.ID, home, m.TextDigest, known)
	if out.Verdict == rekindle.Gone {
		return lookup{Outcome: out}, e.surelyGone(m)
	}
	at := slices.IndexFunc(read, func(l lookup) bool { return l.note.Path == out.Path })
	read[at].Outcome = out
	return read[at], nil
}

// readFor reads a note that may hold a memory's text, and tells whose id it carries.
// There is none if the result is nil.
func (e *Engine) readFor(ctx context.Context, m *memory.Memory, path string) (*lookup, memory.ID, error) {
	note, err := e.notes.vault.Load().Read(ctx, path)
	skipped, unread := errors.AsType[*vault.Skipped](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", nil
	case unread && skipped.Reason != vault.Unsettled && skipped.Reason != vault.NotLocal:
		return nil, "", memory.Errorf(memory.Conflict, "the note %q with the text of memory %s cannot be read: %s", path, m.ID, skipped.Reason)
	case unread:
		return nil, "", memory.Errorf(memory.Busy, "the note %q with the text of memory %s cannot be read now: %s", path, m.ID, skipped.Reason)
	case err != nil:
		return nil, "", memory.Errorf(memory.Busy, "the note %q with the text of memory %s cannot be read now: %w", path, m.ID, err)
	case note.Carried != nil:
		id, _ := memory.ParseID(note.MemoryID) // none is that of nobody here
		if id == "" {
			id = memory.ID(note.MemoryID)
		}
		return &lookup{note: note, Body: note.Carried.Body}, id, nil
	case note.Frontmatter == vault.InvalidFrontmatter:
		return nil, "", memory.Errorf(memory.Conflict, "the note %q of memory %s has frontmatter that is not valid; mend it, for it may carry the id", path, m.ID)
	}
	body, err := e.bodyOf(ctx, path, m.ID)
	return &lookup{note: note, Body: body}, "", err
}

// bodyOf is the text of a note that carries no id: what it would carry with this one.
func (e *Engine) bodyOf(ctx context.Context, path string, id memory.ID) (string, error) {
	text, err := e.notes.vault.Load().Text(ctx, path)
	if err != nil {
		return "", memory.Errorf(memory.Busy, "the note %q cannot be read now: %w", path, err)
	}
	carrying, err := vault.Splice([]byte(text), vault.Edit{Set: []vault.Field{{Key: memoryIDKey, Value: vault.Text(string(id))}}})
	if c := vault.CarriedBy(carrying); err == nil && c != nil {
		return c.Body, nil
	}
	return "", nil // not in a form that emberd writes, so it is not the one that was archived
}

// surelyGone is an error as long as a note that was not found may only be on its way.
func (e *Engine) surelyGone(m *memory.Memory) error {
	why, home := e.vaultAway(), homeOf(m)
	if id, there := e.notes.carriers.at(home); why == "" && there && id == m.ID {
		why = string(noteAway)
	}
	if why == "" {
		return nil
	}
	return memory.Errorf(memory.Busy, "the note %q with the text of memory %s was not found, and may be there still: %s", home, m.ID, why)
}

// rekindleMemory gives a cold memory its text back from its note, which is left as it
// is, and counts that as a use. The text is the note's as it is now, however it was
// edited. Of one that is gone the summary stays, and the answer says what there is
// instead. One that was merged into another comes back only if it was named.
func (e *Engine) rekindleMemory(ctx context.Context, id memory.ID, by memory.Actor) (*op.RekindleResult, error) {
	return e.rekindleAs(ctx, id, by, false)
}

func (e *Engine) rekindleAs(ctx context.Context, id memory.ID, by memory.Actor, named bool) (*op.RekindleResult, error) {
	const tries = 3
	for range tries {
		row, live := e.stm.Get(id)
		if !live {
			return nil, e.missing(id)
		}
		m, err := row.Memory()
		if err != nil {
			return nil, err
		}
		if !m.Stage.Cold() && !shortened(&m) {
			return e.warmAlready(row)
		}
		if err := e.mayChange(row); err != nil {
			return nil, err
		}
		found, err := e.textFor(ctx, &m, named)
		if err != nil {
			return nil, err
		}
		res, err := e.bringBack(ctx, &m, row.Rev(), found, by)
		if res != nil || err != nil {
			return res, err
		}
	}
	return nil, memory.Errorf(memory.Busy, "memory %s is being changed all the time; try again in a moment", id)
}

func (e *Engine) warmAlready(row *stm.Row) (*op.RekindleResult, error) {
	view, err := e.view(row, e.opt.Now())
	return &op.RekindleResult{Memory: view, Hint: fmt.Sprintf("it is %s, and its text is all there", row.Stage())}, err
}

// textFor looks up a memory's text and refuses one that may not be taken over: that of a
// memory that was merged into another unless it was named, for the other answers for it.
func (e *Engine) textFor(ctx context.Context, m *memory.Memory, named bool) (lookup, error) {
	if into := mergedInto(e.stm.Get, m.ConsolidatedInto); into != nil && !named {
		return lookup{}, memory.Errorf(memory.Conflict, "memory %s was merged into %s, which has its text; emberd rekindle %s brings it back all the same", m.ID, into.ID(), m.ID)
	}
	if row, live := e.stm.Get(m.ID); live && !named {
		if by := successor(e.stm.Get, row); by != nil {
			return lookup{}, memory.Errorf(memory.Conflict, "memory %s was superseded by %s, which holds now; emberd rekindle %s brings it back all the same", m.ID, by.ID(), m.ID)
		}
	}
	found, err := e.lookUpText(ctx, m)
	if err != nil || !found.Edited {
		return found, err
	}
	taken := *m
	err = e.takeContent(&taken, found.note)
	if err != nil { // what was allowed in the text that was archived is allowed still
		if _, text, known := e.archivedText(ctx, m); known {
			taken.Content = text
			err = e.takeContent(&taken, found.note)
		}
	}
	if err != nil {
		return found, memory.Errorf(memory.Conflict, "memory %s stays %s, for the text of its note %q was edited and is not taken over: %w", m.ID, m.Stage, found.Path, err)
	}
	return found, nil
}

// bringBack writes what was found to the log. Without a result the memory was changed
// since it was looked at.
func (e *Engine) bringBack(ctx context.Context, was *memory.Memory, rev string, found lookup, by memory.Actor) (*op.RekindleResult, error) {
	now := stampTime(e.opt.Now())
	var row *stm.Row
	receipt, err := e.stm.Update(ctx, []memory.ID{was.ID}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if row = rows[0]; row == nil || row.Rev() != rev {
			row = nil
			return nil, nil
		}
		m, err := row.Memory()
		if err != nil {
			return nil, err
		}
		set, err := e.broughtBack(&m, found, now, by)
		if err != nil || len(set) == 0 {
			return nil, err
		}
		return &stm.Tx{Verb: rekindleVerb, By: by, Changes: []stm.Change{{ID: m.ID, Set: set, Allowed: true}}}, nil
	})
	if row == nil || err != nil {
		return nil, err
	}
	if receipt.Entry != "" {
		row = receipt.Rows[0]
	}
	if found.Verdict != rekindle.Gone {
		e.used(row, now)
		row, _ = e.stm.Get(was.ID)
	}
	return e.told(ctx, row, was, found, receipt.Entry)
}

// broughtBack is what the log is to say of a memory whose text was looked up.
func (e *Engine) broughtBack(m *memory.Memory, found lookup, now time.Time, by memory.Actor) (map[string]json.RawMessage, error) {
	before, err := fields(m)
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
		warm(m, found.Body, found.Path, now)
		if err := e.seenAgain(m, found.note, by); err != nil {
			return nil, err
		}
	}
	after, err := fields(m)
	return difference(before, after), err
}

// seenAgain says that the memory has the text of a note. A note that states a stage is
// told of the one that the memory has again.
func (e *Engine) seenAgain(m *memory.Memory, note *vault.Note, by memory.Actor) error {
	if note == nil || !carriesID(note.Carried, m.ID) {
		return nil
	}
	m.NoteSeen = renewed(m.NoteSeen, fingerprints(note.Carried), []string{contentField})
	if stage := note.Carried.Fields["stage"]; stage != "" && stage != string(m.Stage) {
		return e.stageToNote(m, note.Path, by)
	}
	return nil
}

// told is the answer. was is the memory when it was cold.
func (e *Engine) told(ctx context.Context, row *stm.Row, was *memory.Memory, found lookup, tx string) (*op.RekindleResult, error) {
	if row == nil {
		return nil, e.missing(was.ID)
	}
	view, err := e.view(row, e.opt.Now())
	if err != nil {
		return nil, err
	}
	e.vitals.rekindles.Add(metrics.By(string(found.Verdict)), 1)
	res := &op.RekindleResult{Memory: view, Verdict: string(found.Verdict), Path: found.Path, Edited: found.Edited, Tx: tx}
	if found.Verdict == rekindle.Gone {
		res.Path = homeOf(was)
		e.instead(ctx, was, res)
	}
	return res, nil
}

// instead tells what there is in the place of a text that is gone. That it cannot be
// found out is no error of the rekindling.
func (e *Engine) instead(ctx context.Context, m *memory.Memory, res *op.RekindleResult) {
	const most = 3
	near, err := e.search(ctx, &op.SearchRequest{Query: onlyWords(m.Content + " " + strings.Join(m.KeyTerms, " ")), Scope: scopeNotes, Limit: most, Track: new(false)})
	if err != nil {
		e.opt.Logger.Warn("no notes found for a text that is gone", "memory", m.ID, "error", err)
	} else {
		for _, hit := range near.Hits {
			res.Near = append(res.Near, *hit.Note)
		}
	}
	tx, others, until := e.textInLog(ctx, m)
	switch {
	case tx == "":
		res.Hint = "its note is gone and the log does not have the text any more; the summary is what is left"
	case others > 0:
		res.Until, res.Hint = until, fmt.Sprintf("its note is gone; emberd undo %s brings the text back, and %d more archived with it", tx, others)
	default:
		res.Until, res.Hint = until, fmt.Sprintf("its note is gone; emberd undo %s brings the text back", tx)
	}
}

// onlyWords leaves of a text what a query may be made of without operators.
func onlyWords(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) {
			return r
		}
		return ' '
	}, text)
}

// textInLog finds the entry that archived the text which a cold memory had, how many
// other memories it archived, and until when the log keeps what it superseded. tx is ""
// when an undo would not bring the text back.
func (e *Engine) textInLog(ctx context.Context, m *memory.Memory) (tx string, others int, until time.Time) {
	entry, _, known := e.archivedText(ctx, m)
	if !known {
		return "", 0, until
	}
	would, err := e.stm.Undo(ctx, stm.Undo{Entry: entry.Tx, DryRun: true})
	reverts := func(item stm.UndoneItem) bool { return item.ID == m.ID && item.Action == stm.Reverted }
	if err != nil || !slices.ContainsFunc(would.Items, reverts) {
		return "", 0, until
	}
	seen := slices.DeleteFunc(would.Entry.IDs, func(id memory.ID) bool { return id == m.ID || !e.live(id) })
	return entry.Tx, len(seen), stampTime(entry.At.Add(e.opt.HistoryKeep))
}

// archivedText is the text that a cold memory had, and the entry that archived it, as
// long as the log has them. It reads the whole log.
func (e *Engine) archivedText(ctx context.Context, m *memory.Memory) (entry stm.Entry, text string, known bool) {
	versions, err := e.stm.History(ctx, m.ID)
	if err != nil {
		e.opt.Logger.Warn("history not read", "memory", m.ID, "error", err)
	}
	for _, v := range slices.Backward(versions) {
		for _, f := range v.Fields {
			if f.Name == contentField && !v.Cut && json.Unmarshal(f.From, &text) == nil && isTextOf(text, m.TextDigest) {
				return v.Entry, text, true
			}
		}
	}
	return entry, "", false
}
