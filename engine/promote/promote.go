package promote

import (
	"context"
	"crypto/sha256"
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

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
)

// Promote creates a note for a memory. It writes the note first, then the index, then the log
// line. A crash in between leaves a note with the memory's ID, which the next promotion
// adopts.
func (e *Promote) Promote(ctx context.Context, req *op.PromoteRequest) (*op.PromoteResult, error) {
	if err := core.FirstError(e.Notes.NeedVault(), e.Joins(req.Tx)); err != nil {
		return nil, err
	}
	id, err := e.Stm.Resolve(strings.TrimSpace(req.ID))
	if err != nil {
		return nil, err
	}
	res, err := e.PromoteMemory(ctx, Promotion{ID: id, By: op.CallerFrom(ctx), Dry: req.DryRun, Force: req.Force,
		Entry: req.Tx})
	if errors.Is(err, fs.ErrClosed) && !e.Notes.Vault.Away().IsZero() {
		return nil, e.Notes.Vault.ErrAway()
	}
	if err == nil && res.Outcome == op.PromotionPending && !e.Notes.Vault.Released().IsZero() {
		res.Reason = "the vault is released; to open it, run: emberd vault reopen"
	}
	return res, err
}

// Promotion is the request to create one memory's note.
type Promotion struct {
	ID    memory.ID
	By    memory.Actor // the first caller, even if the write waited
	Dry   bool
	Force bool   // regardless of score and use
	Entry string // change to join, "" for a new one
	// Note is the digest of a note that the user confirmed as the memory's, zero for none.
	Note [sha256.Size]byte
	// Shown reports whether that note was shown with a path: of two with the same bytes, that one counts.
	Shown func(path string) bool
}

// PromoteMemory runs one promotion. It locks the memory from the note to the log line, so that
// no other change comes in between.
func (e *Promote) PromoteMemory(ctx context.Context, p Promotion) (*op.PromoteResult, error) {
	id, by, dry := p.ID, p.By, p.Dry
	res := &op.PromoteResult{DryRun: dry}
	var row *stm.Row
	waiting, queued := e.Pending.of(id)
	receipt, err := e.Stm.Update(ctx, []memory.ID{id}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if row = rows[0]; row == nil {
			return nil, e.Missing(id)
		}
		m, err := row.Memory()
		if err = core.FirstError(err, e.MayChange(row), core.Unconfirmed(&m)); err != nil {
			return nil, err
		}
		if p.Note != ([sha256.Size]byte{}) {
			return e.adoptConfirmed(ctx, &p, row, res)
		}
		if path, _, is := m.PromotedElsewhere(); is && !p.Force {
			res.Outcome, res.Path = op.PromotionAlready, path
			return nil, nil
		}
		now := e.Opt.Now()
		res.Meets = reasonToPromote(e.Opt.Promotion.Bare(), row, e.Score(row, now), now)
		if !p.Force {
			res.Reason = e.unmet(row, now)
		}
		seen, err := e.noteFor(ctx, &m, dry, res)
		if err != nil || dry || res.Outcome == op.PromotionUnmet {
			return nil, err
		}
		if res.Outcome == op.PromotionPending {
			return nil, e.Pending.Put(newPendingWrite(e, id, CreateNote, res.Path, by, res.Reason))
		}
		if e.Pending.madeCreate(id); res.Outcome == op.PromotionWritten { // else edits in the meantime still wait
			e.Pending.made(id)
		}
		if res.Outcome == op.PromotionAlready {
			return nil, nil
		}
		set, err := e.promotedFields(m, res, func(m *memory.Memory) { m.NoteSeen = seen })
		return &stm.Tx{Verb: core.PromoteVerb, By: by, Entry: p.Entry, Changes: []stm.Change{{ID: id, Set: set}}}, err
	})
	if err != nil && res.Outcome == op.PromotionWritten && !dry {
		err = e.takeBack(ctx, res.Path, err)
	}
	if err != nil && queued {
		err = core.FirstError(err, e.Pending.Put(waiting))
	}
	if err != nil {
		return nil, err
	}
	if receipt.Entry != "" {
		row, res.Tx = receipt.Rows[0], receipt.Entry
	}
	if res.Outcome != op.PromotionUnmet && res.Outcome != op.PromotionPending {
		res.Reason = ""
	}
	e.Writing.Nudge()
	res.Memory, err = e.MemoryView(row, e.Opt.Now())
	return res, err
}

// takeBack removes the note at path, which was made for a promotion that the log did not take, so that the
// memory has none. If it cannot, or if it is not known what the log took, the code of the error is Unknown.
func (e *Promote) takeBack(ctx context.Context, path string, cause error) error {
	if memory.CodeOf(cause) == memory.Unknown {
		return cause
	}
	ctx = context.WithoutCancel(ctx)
	note, err := e.Notes.Vault.Root.Load().Read(ctx, path)
	res := vault.Result{}
	if err == nil {
		res, err = e.RemoveNote(ctx, note)
	}
	if err == nil && res.Outcome == vault.Written {
		return cause
	}
	return memory.Errorf(memory.Unknown, "emberd created note %q, but could not record the promotion in the log "+
		"or remove the note; when the log is writable, emberd adopts the note: %w", path, errors.Join(cause, err))
}

// RemoveNote moves a note that emberd made into the writer's backups, unless its bytes are others by now, and
// takes it out of the index. The watcher takes the loss for what it is.
func (e *Promote) RemoveNote(ctx context.Context, note *vault.Note) (vault.Result, error) {
	res, err := e.Writing.Do(func(w *vault.Writer) (vault.Result, error) {
		return vault.Reviser{Writer: w}.Withdraw(ctx, note.Path, note.Digest)
	})
	if err == nil && res.Outcome == vault.Written {
		e.noteRemoved(ctx, note.Path)
	}
	return res, err
}

// noteRemoved takes a note that emberd removed out of the index, and tells the watcher whose doing that was.
func (e *Promote) noteRemoved(ctx context.Context, path string) {
	_, w := e.Notes.Vault.Current()
	w.Removed(path)
	e.IndexNote(ctx, path)
}

// promotedFields returns the fields that a promotion writes to the log, with those that change sets.
func (e *Promote) promotedFields(m memory.Memory, res *op.PromoteResult,
	change func(*memory.Memory)) (set map[string]json.RawMessage, err error) {
	before, err := core.Fields(&m)
	if err != nil {
		return nil, err
	}
	if m.PromotedAt.IsZero() || res.Outcome == op.PromotionWritten {
		m.PromotedAt = core.StampTime(e.Opt.Now())
	}
	m.PromotedTo, m.VaultPath, m.NoteGone = res.Path, res.Path, time.Time{}
	change(&m)
	after, err := core.Fields(&m)
	return core.Difference(before, after), err
}

// noteFor finds or creates the note of a memory and reports it in res. A reason in res is why
// it creates none; an existing note is used anyway. seen are the fingerprints of the fields
// that the memory has too.
func (e *Promote) noteFor(ctx context.Context, m *memory.Memory, dry bool,
	res *op.PromoteResult) (seen map[string]string, err error) {
	note, err := e.NoteOf(ctx, m)
	if err != nil {
		return nil, err
	}
	if note != nil && m.PromotedTo == "" && e.Notes.Vault.InArchive(note.Path) {
		return e.unarchive(ctx, m, note, dry, res)
	}
	if note != nil {
		return e.adopt(m, note, res), nil
	}
	if m.Stage.Cold() || core.Shortened(m) {
		return nil, memory.Errorf(memory.Conflict, "memory %s is %s and has only a summary, and emberd found no note "+
			"with its text; to search for the text, run: emberd rekindle %s", m.ID, m.Stage, m.ID.Short())
	}
	if res.Reason != "" {
		res.Outcome, res.Path = op.PromotionUnmet, e.NoteNames(m)[0]
		return nil, nil
	}
	if why := e.tooEarly(m); why != "" {
		res.Outcome, res.Reason, res.Path = op.PromotionPending, why, e.NoteNames(m)[0]
		return nil, nil
	}
	return e.newNote(ctx, m, dry, res)
}

// unarchive moves the note with a memory's text out of the archive folder, under its own name
// if that is free. The log comes last: a crash in between leaves one note, found by its ID.
func (e *Promote) unarchive(ctx context.Context, m *memory.Memory, note *vault.Note, dry bool,
	res *op.PromoteResult) (seen map[string]string, err error) {
	base := path.Base(note.Path)
	stem := strings.TrimSuffix(base, path.Ext(base))
	for _, name := range []string{base, stem + " " + m.ID.Short() + ".md"} {
		to := path.Join(e.Opt.VaultPromoted, name)
		if err := e.CheckNotePath(m, to); err != nil {
			return nil, err
		}
		got, err := e.Writing.Do(func(w *vault.Writer) (vault.Result, error) {
			if dry {
				return w.CanCreate(to, nil)
			}
			return w.Move(ctx, note.Path, to)
		})
		res.Path = to
		switch {
		case err != nil:
			return nil, DiskError(note.Path, err)
		case got.Outcome == vault.Later:
			res.Outcome, res.Reason, res.Until = op.PromotionPending, string(got.Reason), core.StampTime(got.Until)
			return nil, nil
		case got.Outcome == vault.Written:
			return e.adoptUnarchived(ctx, m, note, dry, res)
		case got.Reason != vault.NameTaken:
			return nil, errNotWritten(to, got.Reason, got.Taken)
		}
	}
	return nil, memory.Errorf(memory.Conflict, "note %q of memory %s stays in the archive, because the folder for "+
		"promoted notes already contains notes with its name; rename the note", note.Path, m.ID)
}

// adoptUnarchived adopts the moved note. If the user has not edited the note, it gets the newer
// fields of the memory, because edits are not written to the archive folder.
func (e *Promote) adoptUnarchived(ctx context.Context, m *memory.Memory, note *vault.Note, dry bool,
	res *op.PromoteResult) (seen map[string]string, err error) {
	to := res.Path
	if !dry {
		e.IndexNote(ctx, to)
		if note, err = e.Notes.Reading(ctx, to); err != nil {
			return nil, DiskError(to, err)
		}
	}
	seen, res.Path = e.adopt(m, note, res), to
	var stale []string
	for field, says := range notes.Fingerprints(note.Carried) {
		if seen[field] == "" && m.NoteSeen[field] == says && field != "stage" {
			seen[field] = says
			stale = append(stale, field)
		}
	}
	if dry || len(stale) == 0 {
		return seen, nil
	}
	e.Pending.madeCreate(m.ID)
	slices.Sort(stale)
	return seen, e.Pending.Put(e.NoteUpdate(m.ID, to, stale, core.VaultActor(), ""))
}

// adopt makes a note with the memory's ID the memory's note.
func (e *Promote) adopt(m *memory.Memory, note *vault.Note, res *op.PromoteResult) map[string]string {
	res.Path, res.Outcome = note.Path, op.PromotionAdopted
	if m.PromotedTo == note.Path && m.NoteGone.IsZero() {
		res.Outcome = op.PromotionAlready
	}
	return notes.Agreed(m, note.Carried)
}

// tooEarly returns why it is too early to decide that the memory has no note.
func (e *Promote) tooEarly(m *memory.Memory) string {
	_, w := e.Notes.Vault.Current()
	switch frozen := w.Status().Frozen; {
	case !e.Notes.Vault.Complete.Load():
		return "emberd is still reading the notes for the first time, and one of them might " +
			"belong to this memory; try again later"
	case frozen != "" && m.PromotedTo != "":
		return fmt.Sprintf("%s; if you deleted the notes, run: emberd vault confirm-deletions", frozen)
	}
	return ""
}

// newNote writes the note under the first free name.
func (e *Promote) newNote(ctx context.Context, m *memory.Memory, dry bool,
	res *op.PromoteResult) (seen map[string]string, err error) {
	note, seen, err := e.earlierNote(ctx, m)
	if err != nil {
		return nil, err
	}
	if note != nil {
		e.adopt(m, note, res)
		e.IndexNote(ctx, note.Path)
		return seen, nil
	}
	data := NoteBytes(m)
	got, err := e.Place(ctx, m, e.NoteNames(m), data, dry)
	res.Path = got.Path
	switch {
	case err != nil:
		return nil, err
	case got.Found != nil:
		return e.adopt(m, got.Found, res), nil
	case got.Outcome == vault.Later:
		res.Outcome, res.Reason, res.Until = op.PromotionPending, string(got.Reason), core.StampTime(got.Until)
		return nil, nil
	}
	res.Outcome = op.PromotionWritten
	if !dry {
		e.IndexNote(ctx, got.Path)
	}
	return notes.Fingerprints(vault.CarriedBy(data)), nil
}

// notePlacement is the result of placing a new note: it was written, has to wait, or exists
// already.
type notePlacement struct {
	vault.Result
	Path  string
	Found *vault.Note // existing note with the memory's ID
}

// Place writes a note under the first free name. A name from which emberd has just
// removed the note of another memory is not free.
func (e *Promote) Place(ctx context.Context, m *memory.Memory, names []string, data []byte,
	dry bool) (at notePlacement, err error) {
	var taken []string
	for i, name := range names {
		if err := e.CheckNotePath(m, name); err != nil {
			return at, err
		}
		at.Path = name
		at.Result, err = e.Writing.Do(func(w *vault.Writer) (vault.Result, error) {
			if dry {
				return vault.Reviser{Writer: w}.CanCreate(name, data)
			}
			return vault.Reviser{Writer: w}.Create(ctx, name, data)
		})
		switch {
		case err != nil:
			return at, DiskError(name, err)
		case at.Outcome == vault.Later && at.Reason == vault.RecentlyOurs && i+1 < len(names):
			continue
		case at.Outcome == vault.Written || at.Outcome == vault.Later:
			return at, nil
		case at.Reason != vault.NameTaken:
			return at, errNotWritten(name, at.Reason, at.Taken)
		}
		note, err := e.Notes.Vault.Root.Load().Read(ctx, at.Taken)
		if err == nil && Carries(note, m.ID) && notes.Owns(m, note) {
			at.Found = note
			return at, nil
		}
		taken = append(taken, strconv.Quote(at.Taken))
	}
	return at, memory.Errorf(memory.Conflict, "cannot promote memory %s: %s already exist; rename one of them", m.ID,
		strings.Join(slices.Compact(taken), " and "))
}

// IndexNote indexes notes that were written. If that fails, the watcher reports them later.
func (e *Promote) IndexNote(ctx context.Context, paths ...string) {
	if err := e.Notes.Vault.Reread(ctx, paths...); err != nil {
		e.Opt.Logger.Warn("written note not indexed yet; emberd indexes it later", "error", err)
	}
}

// NoteOf reads the memory's note: the one that it was promoted to or archived in, else the
// first by path with its ID that is the memory's ([notes.Owns]). It skips copies of sync tools. An
// error means that a note may exist and cannot be read now.
func (e *Promote) NoteOf(ctx context.Context, m *memory.Memory) (*vault.Note, error) {
	note, unread, err := e.FindNote(ctx, m)
	if note == nil && err == nil {
		err = unread
	}
	return note, err
}

// FindNote is NoteOf, with apart from other errors the one about notes that have the ID, are not at the path
// of the memory's note, and cannot be read now: any program can put one there.
func (e *Promote) FindNote(ctx context.Context, m *memory.Memory) (found *vault.Note, unread, err error) {
	paths, home := e.Notes.Vault.Carriers.Of(m.ID), core.NotePath(m)
	if home != "" {
		paths = slices.Insert(paths, 0, home)
	}
	for _, path := range paths {
		note, err := e.noteAt(ctx, m, path)
		switch {
		case note != nil:
			return note, nil, nil
		case path == home && m.NoteGone.IsZero() && err != nil:
			return nil, nil, err
		}
		unread = core.FirstError(unread, err)
	}
	return nil, unread, nil
}

// noteAt reads the note at path if it is the memory's. An error means that it may be and cannot be read now.
func (e *Promote) noteAt(ctx context.Context, m *memory.Memory, path string) (*vault.Note, error) {
	note, err := e.Notes.Vault.Root.Load().Read(ctx, path)
	skipped, unread := errors.AsType[*vault.Skipped](err)
	switch {
	case err == nil && Carries(note, m.ID) && notes.Owns(m, note):
		return note, nil
	case err == nil && path == core.NotePath(m) && m.NoteGone.IsZero() &&
		note.Frontmatter == vault.InvalidFrontmatter:
		return nil, memory.Errorf(memory.Conflict,
			"note %q of memory %s has invalid frontmatter, which might contain the memory ID; fix the frontmatter",
			path, m.ID)
	case unread && (skipped.Reason == vault.NotLocal || skipped.Reason == vault.Unsettled):
		return nil, memory.Errorf(memory.Busy, "cannot read note %q of memory %s: %s", path, m.ID, skipped.Reason)
	case err != nil && !unread && !errors.Is(err, fs.ErrNotExist):
		return nil, DiskError(path, err)
	}
	return nil, nil
}

// NotesOf returns the paths of the notes of a memory, or with its ID.
func (e *Promote) NotesOf(m *memory.Memory) []string {
	var paths []string
	if e.Notes.Vault != nil {
		paths = e.Notes.Vault.Carriers.Of(m.ID)
	}
	if home := core.NotePath(m); home != "" && m.NoteGone.IsZero() && !slices.Contains(paths, home) {
		paths = slices.Insert(paths, 0, home)
	}
	return paths
}

// Carries reports whether a note has the ID of the memory and is not a copy of a sync tool.
func Carries(note *vault.Note, id memory.ID) bool {
	return core.CarriesID(note.Carried, id) && !note.Copy
}

// SameSeen reports whether two sets of fingerprints agree in the given fields.
func SameSeen(a, b map[string]string, of []string) bool {
	for _, field := range of {
		if a[field] != b[field] {
			return false
		}
	}
	return true
}

// Renewed returns seen with the given fields replaced by those of now.
func Renewed(seen, now map[string]string, of []string) map[string]string {
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
