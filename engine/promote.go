package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
)

// promote gives a memory a note: note first, index second, log line last, so that a
// crash leaves a note that carries the memory's id, which the next promotion adopts.
func (e *Engine) promote(ctx context.Context, req *op.PromoteRequest) (*op.PromoteResult, error) {
	if err := e.needVault(); err != nil {
		return nil, err
	}
	id, err := e.stm.Resolve(strings.TrimSpace(req.ID))
	if err != nil {
		return nil, err
	}
	return e.promoteMemory(ctx, id, op.CallerFrom(ctx), req.DryRun)
}

// promoteMemory is promote for who asked first, however long ago. All of it happens
// with the memory locked: nobody changes it between its note and the log.
func (e *Engine) promoteMemory(ctx context.Context, id memory.ID, by memory.Actor, dry bool) (*op.PromoteResult, error) {
	res := &op.PromoteResult{DryRun: dry}
	var row *stm.Row
	receipt, err := e.stm.Update(ctx, []memory.ID{id}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if row = rows[0]; row == nil {
			return nil, e.missing(id)
		}
		m, err := row.Memory()
		if err != nil {
			return nil, err
		}
		seen, err := e.noteFor(ctx, &m, dry, res)
		if err != nil || dry {
			return nil, err
		}
		if res.Outcome == op.PromotionPending {
			return nil, e.pending.put(e.laterWrite(id, createNote, res.Path, by, res.Reason))
		}
		if err := e.pending.drop(id); err != nil || res.Outcome == op.PromotionAlready {
			return nil, err
		}
		set, err := e.promoted(m, res, seen)
		return &stm.Tx{Verb: "promote", By: by, Changes: []stm.Change{{ID: id, Set: set}}}, err
	})
	if err != nil {
		return nil, err
	}
	if receipt.Entry != "" {
		row, res.Tx = receipt.Rows[0], receipt.Entry
	}
	e.writing.nudge()
	res.Memory, err = e.view(row, e.opt.Now())
	return res, err
}

// promoted returns what a promotion writes to the log.
func (e *Engine) promoted(m memory.Memory, res *op.PromoteResult, seen map[string]string) (set map[string]json.RawMessage, err error) {
	before, err := fields(&m)
	if err != nil {
		return nil, err
	}
	if m.PromotedAt.IsZero() || res.Outcome == op.PromotionWritten {
		m.PromotedAt = stampTime(e.opt.Now())
	}
	m.PromotedTo, m.VaultPath, m.NoteSeen, m.NoteGone = res.Path, res.Path, seen, time.Time{}
	after, err := fields(&m)
	return difference(before, after), err
}

// noteFor finds or makes the note of a memory and tells in res what it did. seen is
// what the note says of those fields that the memory has too.
func (e *Engine) noteFor(ctx context.Context, m *memory.Memory, dry bool, res *op.PromoteResult) (seen map[string]string, err error) {
	note, err := e.noteOf(ctx, m)
	if err != nil {
		return nil, err
	}
	if note != nil {
		return e.adopt(m, note, res), nil
	}
	if m.Stage.Cold() {
		return nil, memory.Errorf(memory.Conflict, "memory %s is %s: what is left of it is not all of its text, so that no note is made of it; undo what archived it first", m.ID, m.Stage)
	}
	if why := e.notYet(m); why != "" {
		res.Outcome, res.Reason, res.Path = op.PromotionPending, why, e.noteNames(m)[0]
		return nil, nil
	}
	return e.newNote(ctx, m, dry, res)
}

// adopt takes a note that carries the memory's id for the memory's.
func (e *Engine) adopt(m *memory.Memory, note *vault.Note, res *op.PromoteResult) map[string]string {
	res.Path, res.Outcome = note.Path, op.PromotionAdopted
	if m.PromotedTo == note.Path && m.NoteGone.IsZero() {
		res.Outcome = op.PromotionAlready
	}
	return agreed(m, note.Carried)
}

// notYet is why it is too early to say that the memory has no note.
func (e *Engine) notYet(m *memory.Memory) string {
	_, w := e.notes.current()
	switch frozen := w.Status().Frozen; {
	case !e.notes.complete.Load():
		return "the notes are still being read for the first time, and one of them may be this memory's"
	case frozen != "" && m.PromotedTo != "":
		return fmt.Sprintf("%s; if that was meant: emberd vault confirm", frozen)
	}
	return ""
}

// newNote writes the note under the first name that is free.
func (e *Engine) newNote(ctx context.Context, m *memory.Memory, dry bool, res *op.PromoteResult) (seen map[string]string, err error) {
	data := noteBytes(m)
	var taken []string
	for _, name := range e.noteNames(m) {
		got, err := e.writing.do(func(w *vault.Writer) (vault.Result, error) {
			if dry {
				return w.CanCreate(name, data)
			}
			return w.Create(ctx, name, data)
		})
		res.Path = name
		switch {
		case err != nil:
			return nil, diskError(name, err)
		case got.Outcome == vault.Written:
			res.Outcome = op.PromotionWritten
			if !dry {
				e.indexNote(ctx, name)
			}
			return fingerprints(vault.CarriedBy(data)), nil
		case got.Outcome == vault.Later:
			res.Outcome, res.Reason, res.Until = op.PromotionPending, string(got.Reason), stampTime(got.Until)
			return nil, nil
		case got.Reason != vault.NameTaken:
			return nil, notWritten(name, got.Reason, got.Taken)
		}
		note, err := e.notes.vault.Load().Read(ctx, got.Taken)
		if err == nil && carries(note, m.ID) {
			return e.adopt(m, note, res), nil
		}
		taken = append(taken, strconv.Quote(got.Taken))
	}
	return nil, memory.Errorf(memory.Conflict, "no note was made of memory %s: %s are there and are not its; rename one of them", m.ID, strings.Join(slices.Compact(taken), " and "))
}

// indexNote makes a note that was written findable. Should that fail, the watcher
// brings it.
func (e *Engine) indexNote(ctx context.Context, path string) {
	if err := e.notes.reread(ctx, path); err != nil {
		e.opt.Logger.Warn("a note that was written is indexed later", "error", err)
	}
}

// noteOf reads the note that is the memory's: the one it was promoted to, else the
// first by path of those that carry its id. Copies that sync tools made are never. An
// error means that there may be one, which cannot be read now.
func (e *Engine) noteOf(ctx context.Context, m *memory.Memory) (*vault.Note, error) {
	paths := e.notes.carriers.of(m.ID)
	if m.PromotedTo != "" {
		paths = slices.Insert(paths, 0, m.PromotedTo)
	}
	for _, path := range paths {
		note, err := e.notes.vault.Load().Read(ctx, path)
		skipped, unread := errors.AsType[*vault.Skipped](err)
		switch {
		case err == nil && carries(note, m.ID):
			return note, nil
		case err == nil && path == m.PromotedTo && note.Frontmatter == vault.InvalidFrontmatter:
			return nil, memory.Errorf(memory.Conflict, "the note %q of memory %s has frontmatter that is not valid; mend it, for it may carry the id", path, m.ID)
		case unread && (skipped.Reason == vault.NotLocal || skipped.Reason == vault.Unsettled):
			return nil, memory.Errorf(memory.Busy, "the note %q of memory %s cannot be read: %s", path, m.ID, skipped.Reason)
		case err != nil && !unread && !errors.Is(err, fs.ErrNotExist):
			return nil, diskError(path, err)
		}
	}
	return nil, nil
}

// notesOf are the paths of the notes that were made of a memory or carry its id.
func (e *Engine) notesOf(m *memory.Memory) []string {
	var paths []string
	if e.notes != nil {
		paths = e.notes.carriers.of(m.ID)
	}
	if m.PromotedTo != "" && m.NoteGone.IsZero() && !slices.Contains(paths, m.PromotedTo) {
		paths = slices.Insert(paths, 0, m.PromotedTo)
	}
	return paths
}

func carries(note *vault.Note, id memory.ID) bool {
	return carriesID(note.Carried, id) && !note.Copy
}

// agreed returns the fingerprints of what the memory has as the note says it. What is
// left out counts as changed by the human, and is taken over.
func agreed(m *memory.Memory, c *vault.Carried) map[string]string {
	seen := fingerprints(c)
	tags, err := memory.NormalizeTags(c.Tags)
	if err != nil || !slices.Equal(tags, m.Tags) {
		delete(seen, "tags")
	}
	if c.Body != vault.Body(m.Content) {
		delete(seen, contentField)
	}
	if c.Fields["category"] != m.Category {
		delete(seen, "category")
	}
	if text, ok := c.Fields["strength"]; ok {
		if x, err := strconv.ParseFloat(text, 64); err != nil || x != m.Strength {
			delete(seen, "strength")
		}
	}
	if text, ok := c.Fields["stage"]; ok {
		if stage, err := memory.ParseStage(text); err != nil || stage != m.Stage {
			delete(seen, "stage")
		}
	}
	return seen
}

// sameSeen compares what a note said of the given fields.
func sameSeen(a, b map[string]string, of []string) bool {
	for _, field := range of {
		if a[field] != b[field] {
			return false
		}
	}
	return true
}

// renewed is seen with the fields of now that are among those named.
func renewed(seen, now map[string]string, of []string) map[string]string {
	out := maps.Clone(seen)
	if out == nil {
		out = make(map[string]string)
	}
	for _, field := range of {
		if print, ok := now[field]; ok {
			out[field] = print
		}
	}
	return out
}
