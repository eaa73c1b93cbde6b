package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
	"emberd/vault"
)

const promoteVerb = "promote"

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
	return e.promoteMemory(ctx, promotion{id: id, by: op.CallerFrom(ctx), dry: req.DryRun, force: req.Force})
}

// promotion is what is asked for when one memory is to have a note.
type promotion struct {
	id    memory.ID
	by    memory.Actor // who asked first, however long ago
	dry   bool
	force bool   // whatever its score and its use
	entry string // journal entry to join, "" begins one
}

// promoteMemory carries out one promotion. All of it happens with the memory locked:
// nobody changes it between its note and the log.
func (e *Engine) promoteMemory(ctx context.Context, p promotion) (*op.PromoteResult, error) {
	id, by, dry := p.id, p.by, p.dry
	res := &op.PromoteResult{DryRun: dry}
	var row *stm.Row
	receipt, err := e.stm.Update(ctx, []memory.ID{id}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if row = rows[0]; row == nil {
			return nil, e.missing(id)
		}
		m, err := row.Memory()
		if err = firstError(err, e.mayChange(row), unconfirmed(&m)); err != nil {
			return nil, err
		}
		now := e.opt.Now()
		res.Meets = reasonToPromote(e.opt.Promotion.Bare(), row, e.score(row, now), now)
		if !p.force {
			res.Reason = e.unmet(row, now)
		}
		seen, err := e.noteFor(ctx, &m, dry, res)
		if err != nil || dry || res.Outcome == op.PromotionUnmet {
			return nil, err
		}
		if res.Outcome == op.PromotionPending {
			return nil, e.pending.put(e.laterWrite(id, createNote, res.Path, by, res.Reason))
		}
		done := e.pending.made // what was edited meanwhile still waits
		if res.Outcome == op.PromotionWritten {
			done = e.pending.drop
		}
		if err := done(id); err != nil || res.Outcome == op.PromotionAlready {
			return nil, err
		}
		set, err := e.promoted(m, res, seen)
		return &stm.Tx{Verb: promoteVerb, By: by, Entry: p.entry, Changes: []stm.Change{{ID: id, Set: set}}}, err
	})
	if err != nil {
		return nil, err
	}
	if receipt.Entry != "" {
		row, res.Tx = receipt.Rows[0], receipt.Entry
	}
	if res.Outcome != op.PromotionUnmet && res.Outcome != op.PromotionPending {
		res.Reason = ""
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

// noteFor finds or makes the note of a memory and tells in res what it did. A reason in
// res is why none is made; one that is there counts all the same. seen is what the note
// says of those fields that the memory has too.
func (e *Engine) noteFor(ctx context.Context, m *memory.Memory, dry bool, res *op.PromoteResult) (seen map[string]string, err error) {
	note, err := e.noteOf(ctx, m)
	if err != nil {
		return nil, err
	}
	if note != nil && m.PromotedTo == "" && e.notes.inArchive(note.Path) {
		return e.unarchive(ctx, m, note, dry, res)
	}
	if note != nil {
		return e.adopt(m, note, res), nil
	}
	if m.Stage.Cold() || shortened(m) {
		return nil, memory.Errorf(memory.Conflict, "memory %s is %s: what is left of it is not all of its text, and no note that has it was found; emberd rekindle %s tells what became of it", m.ID, m.Stage, m.ID.Short())
	}
	if res.Reason != "" {
		res.Outcome, res.Path = op.PromotionUnmet, e.noteNames(m)[0]
		return nil, nil
	}
	if why := e.notYet(m); why != "" {
		res.Outcome, res.Reason, res.Path = op.PromotionPending, why, e.noteNames(m)[0]
		return nil, nil
	}
	return e.newNote(ctx, m, dry, res)
}

// unarchive moves the note that keeps a memory's text out of the archive folder, under
// its own name if that is free. The log comes last: a crash in between leaves one note,
// which carries the id and is found by it.
func (e *Engine) unarchive(ctx context.Context, m *memory.Memory, note *vault.Note, dry bool, res *op.PromoteResult) (seen map[string]string, err error) {
	base := path.Base(note.Path)
	stem := strings.TrimSuffix(base, path.Ext(base))
	for _, name := range []string{base, stem + " " + m.ID.Short() + ".md"} {
		to := path.Join(e.opt.VaultPromoted, name)
		if err := e.permitsNote(m, to); err != nil {
			return nil, err
		}
		got, err := e.writing.do(func(w *vault.Writer) (vault.Result, error) {
			if dry {
				return w.CanCreate(to, nil)
			}
			return w.Move(ctx, note.Path, to)
		})
		res.Path = to
		switch {
		case err != nil:
			return nil, diskError(note.Path, err)
		case got.Outcome == vault.Later:
			res.Outcome, res.Reason, res.Until = op.PromotionPending, string(got.Reason), stampTime(got.Until)
			return nil, nil
		case got.Outcome == vault.Written:
			return e.unarchived(ctx, m, note, dry, res)
		case got.Reason != vault.NameTaken:
			return nil, notWritten(to, got.Reason, got.Taken)
		}
	}
	return nil, memory.Errorf(memory.Conflict, "the note %q of memory %s stays in the archive, for there are other notes of its name in the folder for promoted ones; rename it", note.Path, m.ID)
}

// unarchived adopts the note that was moved. What the memory has newer than a note that
// nobody has edited is written to it: nothing was while it lay in the archive.
func (e *Engine) unarchived(ctx context.Context, m *memory.Memory, note *vault.Note, dry bool, res *op.PromoteResult) (seen map[string]string, err error) {
	to := res.Path
	if !dry {
		e.indexNote(ctx, to)
		if note, err = e.reading(ctx, to); err != nil {
			return nil, diskError(to, err)
		}
	}
	seen, res.Path = e.adopt(m, note, res), to
	var stale []string
	for field, says := range fingerprints(note.Carried) {
		if seen[field] == "" && m.NoteSeen[field] == says && field != "stage" {
			seen[field] = says
			stale = append(stale, field)
		}
	}
	if dry || len(stale) == 0 {
		return seen, nil
	}
	if err := e.pending.made(m.ID); err != nil {
		return nil, err
	}
	slices.Sort(stale)
	now := stampTime(e.opt.Now())
	return seen, e.pending.put(pendingWrite{Memory: m.ID, What: updateNote, Path: to, Fields: stale, By: vaultActor(), Since: now, Next: now})
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
	data := noteBytes(m, e.related(m)...)
	got, err := e.place(ctx, m, e.noteNames(m), data, dry)
	res.Path = got.path
	switch {
	case err != nil:
		return nil, err
	case got.found != nil:
		return e.adopt(m, got.found, res), nil
	case got.Outcome == vault.Later:
		res.Outcome, res.Reason, res.Until = op.PromotionPending, string(got.Reason), stampTime(got.Until)
		return nil, nil
	}
	res.Outcome = op.PromotionWritten
	if !dry {
		e.indexNote(ctx, got.path)
	}
	return fingerprints(vault.CarriedBy(data)), nil
}

// placed is where a new note is, or is to be: it was written, or has to wait, or there
// is one already.
type placed struct {
	vault.Result
	path  string
	found *vault.Note // that carries the memory's id
}

// place writes a note under the first of its names that is free.
func (e *Engine) place(ctx context.Context, m *memory.Memory, names []string, data []byte, dry bool) (at placed, err error) {
	var taken []string
	for _, name := range names {
		if err := e.permitsNote(m, name); err != nil {
			return at, err
		}
		at.path = name
		at.Result, err = e.writing.do(func(w *vault.Writer) (vault.Result, error) {
			if dry {
				return w.CanCreate(name, data)
			}
			return w.Create(ctx, name, data)
		})
		switch {
		case err != nil:
			return at, diskError(name, err)
		case at.Outcome == vault.Written || at.Outcome == vault.Later:
			return at, nil
		case at.Reason != vault.NameTaken:
			return at, notWritten(name, at.Reason, at.Taken)
		}
		note, err := e.notes.vault.Load().Read(ctx, at.Taken)
		if err == nil && carries(note, m.ID) {
			at.found = note
			return at, nil
		}
		taken = append(taken, strconv.Quote(at.Taken))
	}
	return at, memory.Errorf(memory.Conflict, "no note was made of memory %s: %s are there and are not its; rename one of them", m.ID, strings.Join(slices.Compact(taken), " and "))
}

// indexNote makes a note that was written findable. Should that fail, the watcher
// brings it.
func (e *Engine) indexNote(ctx context.Context, path string) {
	if err := e.notes.reread(ctx, path); err != nil {
		e.opt.Logger.Warn("a note that was written is indexed later", "error", err)
	}
}

// noteOf reads the note that is the memory's: the one it was promoted to or archived in,
// else the first by path of those that carry its id. Copies that sync tools made are never. An
// error means that there may be one, which cannot be read now.
func (e *Engine) noteOf(ctx context.Context, m *memory.Memory) (*vault.Note, error) {
	paths, home := e.notes.carriers.of(m.ID), homeOf(m)
	if home != "" {
		paths = slices.Insert(paths, 0, home)
	}
	for _, path := range paths {
		note, err := e.notes.vault.Load().Read(ctx, path)
		skipped, unread := errors.AsType[*vault.Skipped](err)
		switch {
		case err == nil && carries(note, m.ID):
			return note, nil
		case err == nil && path == home && note.Frontmatter == vault.InvalidFrontmatter:
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
	if home := homeOf(m); home != "" && m.NoteGone.IsZero() && !slices.Contains(paths, home) {
		paths = slices.Insert(paths, 0, home)
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
	if !hasText(m, c.Body) {
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

// hasText reports whether a note's text is the memory's, of a cold one that which was
// archived.
func hasText(m *memory.Memory, body string) bool {
	if shortened(m) {
		return rekindle.Digest(body) == m.TextDigest
	}
	return vault.Holds(body, m.Content)
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
