package lifecycle

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/engine/promote"
	"emberd/internal/contain"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
	"emberd/vault"
)

// How many memories are locked and archived together, the size limit of their texts in the
// log, where each is beside its summary, and how many summaries are asked for at the same time.
const (
	archiveAtOnce   = 32
	ArchiveBytes    = 1 << 20
	fadeAtOnce      = 512
	summariesAtOnce = 8
)

// ArchiveRequest is the result of archiving memories.
type ArchiveRequest struct {
	Entry   string // the given change, or the one that was started
	Done    []memory.ID
	Skipped []op.Skipped
}

// Archive moves memories to the stage of each move: archived or rehydratable. The text of a
// warm memory is in a readable note before the log drops it; after a crash in between, both
// have it. Archive skips a memory that differs from its move, or whose text a note would not
// give back. After an error, the memories archived so far stay archived.
func (e *Lifecycle) Archive(ctx context.Context, moves []rekindle.Move, reason string, by memory.Actor,
	entry string) (ArchiveRequest, error) {
	a := Archiver{E: e, Reason: reason, By: by, Out: ArchiveRequest{Entry: entry}}
	err := a.all(ctx, moves)
	return a.Out, err
}

// Archiver is one run of Archive.
type Archiver struct {
	E              *Lifecycle
	Reason         string
	By             memory.Actor
	Dry            bool
	dryRunMemories []memory.Memory         // in a dry run: the memories as they would be
	noNoteReason   string                  // why no note can be created in the archive folder
	Made           map[memory.ID]NoteAhead // see [Lifecycle.KeepAhead]
	Out            ArchiveRequest
	made           int                    // notes created in this run
	texts          []*vault.Note          // notes that are not in the index of archived texts yet
	stages         []promote.PendingWrite // of notes that have another stage than the log gets
}

// ArchiveCandidate is a memory to archive, as it was when it was summarized.
type ArchiveCandidate struct {
	rekindle.Move
	rev      string
	content  string
	entities []string
	archived core.ArchivedText
}

func (a *Archiver) skip(id memory.ID, why string) {
	a.Out.Skipped = append(a.Out.Skipped, op.Skipped{ID: id, Reason: why})
}

func (a *Archiver) all(ctx context.Context, moves []rekindle.Move) error {
	var cold, warm []rekindle.Move
	away := a.E.Notes.VaultUnavailable()
	for _, m := range moves {
		switch {
		case m.From.Cold():
			cold = append(cold, m)
		case away != "":
			a.skip(m.ID, away)
		default:
			warm = append(warm, m)
		}
	}
	for len(warm) > 0 {
		var group []ArchiveCandidate
		if group, warm = a.Portion(ctx, warm); ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := a.ArchiveGroup(ctx, group); err != nil {
			return err
		}
		op.Report(ctx, len(moves)-len(cold)-len(warm), len(moves))
	}
	for some := range slices.Chunk(cold, fadeAtOnce) {
		if err := a.markRehydratable(ctx, some); err != nil {
			return err
		}
		cold = cold[len(some):]
		op.Report(ctx, len(moves)-len(cold), len(moves))
	}
	return nil
}

// Portion returns the first moves that are done together, with their summaries. A model may
// need long for them, so no lock may be held.
func (a *Archiver) Portion(ctx context.Context,
	moves []rekindle.Move) (group []ArchiveCandidate, rest []rekindle.Move) {
	size := 0
	for i, m := range moves {
		row, why := a.plannedRow(m)
		if why != "" {
			a.skip(m.ID, why)
			continue
		}
		size += len(row.Fields()[core.ContentField])
		if len(group) == archiveAtOnce || len(group) > 0 && size > ArchiveBytes {
			rest = moves[i:]
			break
		}
		l, why := a.Leave(m, row)
		if why != "" {
			a.skip(m.ID, why)
			continue
		}
		group = append(group, l)
	}
	a.SummarizeAll(ctx, group)
	return group, rest
}

// Leave returns a memory to be summarized and archived, or why it is not archived.
func (a *Archiver) Leave(m rekindle.Move, row *stm.Row) (ArchiveCandidate, string) {
	full, err := row.Memory()
	if err != nil || !core.FitsNote(full.Content) {
		return ArchiveCandidate{}, core.NotKept + "; the text stays in the log"
	}
	return ArchiveCandidate{Move: m, rev: row.Rev(), content: full.Content, entities: full.Entities,
		archived: core.ArchivedText{Stage: m.To, Reason: a.Reason}}, ""
}

// SummarizeAll gives each memory of a group its summary. A model needs long for one, and can write several at the
// same time.
func (a *Archiver) SummarizeAll(ctx context.Context, group []ArchiveCandidate) {
	contain.Each(len(group), summariesAtOnce, func(i int) {
		l := &group[i]
		l.archived.Summary, l.archived.Terms = a.E.Summarize(ctx, l.content, l.entities)
	})
}

// plannedRow returns the memory of a move, or why it is skipped.
func (a *Archiver) plannedRow(m rekindle.Move) (*stm.Row, string) {
	row, live := a.E.Stm.Get(m.ID)
	if !live {
		return nil, "the memory was deleted in the meantime"
	}
	return row, ChangedReason(row, m)
}

// ChangedReason returns why a memory differs from its move, "" if it does not.
func ChangedReason(row *stm.Row, m rekindle.Move) string {
	switch {
	case row == nil:
		return "the memory was deleted in the meantime"
	case row.Core():
		return "core memories never fade"
	case row.Stage() != m.From:
		return fmt.Sprintf("the memory is already %s", row.Stage())
	case !m.From.Cold() && row.Has("text_digest"):
		return "two devices changed the memory at the same time, and its text is only in its note; to restore the " +
			"text, run: emberd rekindle"
	case !stm.LastTouched(row).Equal(m.Used):
		return "the memory was used or opened in the meantime"
	}
	return ""
}

// ArchiveGroup archives a group in one log line.
func (a *Archiver) ArchiveGroup(ctx context.Context, group []ArchiveCandidate) error {
	ids := make([]memory.ID, len(group))
	for i, l := range group {
		ids[i] = l.ID
	}
	return a.commit(ctx, ids, core.ArchiveVerb, func(rows []*stm.Row) ([]stm.Change, error) {
		var changes []stm.Change
		for i, l := range group {
			set, why, err := a.ArchivedRow(ctx, rows[i], l)
			switch {
			case err != nil:
				return nil, err
			case why != "":
				a.skip(l.ID, why)
			default:
				changes = append(changes, stm.Change{ID: l.ID, Set: set})
			}
		}
		return changes, core.FirstError(a.tellStages(), a.IndexTexts(ctx))
	})
}

// tellStages queues the stages for the notes, before the log gets them.
func (a *Archiver) tellStages() error {
	some := a.stages
	a.stages = nil
	return a.E.Promote.TellStages(some)
}

// IndexTexts indexes the texts of the rows that were archived, before the log drops them.
func (a *Archiver) IndexTexts(ctx context.Context) error {
	texts := a.texts
	if a.texts = nil; len(texts) == 0 {
		return nil
	}
	return a.E.Notes.Vault.IndexTexts(ctx, texts...)
}

// commit writes the changes that fn returns for locked memories, as one line.
func (a *Archiver) commit(ctx context.Context, ids []memory.ID, verb string,
	fn func([]*stm.Row) ([]stm.Change, error)) error {
	var changes []stm.Change
	receipt, err := a.E.Stm.Update(ctx, ids, "", func(rows []*stm.Row) (_ *stm.Tx, err error) {
		if changes, err = fn(rows); err != nil || a.Dry {
			return nil, err
		}
		return &stm.Tx{Verb: verb, By: a.By, Entry: a.Out.Entry, Changes: changes}, nil
	})
	if err != nil {
		return a.uncertain(err)
	}
	if receipt.Entry != "" {
		a.Out.Entry = receipt.Entry
	}
	for _, c := range changes {
		a.Out.Done = append(a.Out.Done, c.ID)
	}
	return nil
}

// uncertain gives an error the code Unknown if something was stored before it: other memories of the run, or notes
// in the archive folder.
func (a *Archiver) uncertain(err error) error {
	if memory.CodeOf(err) == memory.Unknown || len(a.Out.Done) == 0 && a.made == 0 {
		return err
	}
	return memory.Errorf(memory.Unknown, "writing to the log failed after %s archived and %s created "+
		"in the archive folder; the other memories keep their text: %w",
		core.NumberOf(len(a.Out.Done), "memory was", "memories were"), core.NumberOf(a.made, "note was", "notes were"),
		err)
}

// ArchivedRow ensures that a note contains the text of a locked memory. It returns the changes
// for the log, or why the memory is skipped.
func (a *Archiver) ArchivedRow(ctx context.Context, row *stm.Row,
	l ArchiveCandidate) (set map[string]json.RawMessage, why string, err error) {
	if why = ChangedReason(row, l.Move); why == "" && row.Rev() != l.rev {
		why = "the memory was changed in the meantime"
	}
	if why != "" {
		return nil, why, nil
	}
	m, err := row.Memory()
	if err != nil {
		return nil, "", err
	}
	before, err := core.Fields(&m)
	if err != nil {
		return nil, "", err
	}
	kept, why, err := a.ensureNote(ctx, &m)
	if why != "" || err != nil {
		return nil, why, err
	}
	if !a.Dry && kept.note.Digest != a.Made[m.ID].Indexed {
		a.texts = append(a.texts, kept.note)
	}
	l.archived.Path, l.archived.Body = kept.path, kept.body
	if !core.ArchiveText(&m, l.archived, core.StampTime(a.E.Opt.Now())) {
		return nil, core.NotKept, nil
	}
	if m.NoteGone, m.NoteSeen = (time.Time{}), kept.seen; m.PromotedTo != "" {
		m.PromotedTo = kept.path
	}
	if a.Dry {
		a.dryRunMemories = append(a.dryRunMemories, m)
		return nil, "", nil
	}
	if kept.stage != "" && kept.stage != string(m.Stage) {
		a.stages = append(a.stages, a.E.Promote.NoteUpdate(m.ID, kept.path, []string{"stage"}, a.By, ""))
	}
	after, err := core.Fields(&m)
	if set = core.Difference(before, after); err == nil {
		set[core.ContentField] = after[core.ContentField] // even a short text is what is archived
	}
	return set, "", err
}

// archivedNote is the note that contains a memory's text.
type archivedNote struct {
	path  string
	body  string // its text
	note  *vault.Note
	seen  map[string]string // fingerprints of the fields in which it agrees with the memory
	stage string            // the stage in the note, "" for none
}

// ensureNote finds or creates the note with the text of a memory, and reads it. The log drops only
// what was read back from the disk, byte for byte except for white space around it. A created
// note and its name are synced by then; [vault.Writer] guarantees that for everything that is
// [vault.Written].
func (a *Archiver) ensureNote(ctx context.Context, m *memory.Memory) (kept archivedNote, why string, err error) {
	note, err := a.E.Promote.NoteOf(ctx, m)
	if note == nil && err == nil {
		if home := core.NotePath(m); home != "" {
			return kept,
				fmt.Sprintf("the note %q of the memory is missing or does not contain "+
					"the memory ID; restore the note, or promote the memory again", home), nil
		}
		return a.NewKept(ctx, m)
	}
	if err == nil && !notes.HasText(note, m) {
		note, why, err = a.renewNote(ctx, m, note)
	}
	if err != nil {
		why, err = reasonOf(ctx, err)
	}
	if note == nil || why != "" || err != nil {
		return kept, why, err
	}
	return a.acceptNote(m, note)
}

// reasonOf converts an error to the reason to skip one memory. After a cancellation it returns
// the error, which is about all.
func reasonOf(ctx context.Context, err error) (string, error) {
	if ctx.Err() != nil {
		return "", err
	}
	return err.Error(), nil
}

// acceptNote accepts a note that was read.
func (a *Archiver) acceptNote(m *memory.Memory, note *vault.Note) (kept archivedNote, why string, err error) {
	if !notes.HasText(note, m) {
		return kept, editedReason(note.Path), nil
	}
	kept = archivedNote{path: note.Path, note: note, body: note.Carried.Body, seen: notes.Agreed(m, note.Carried),
		stage: note.Carried.Fields["stage"]}
	if m.NoteSeen != nil { // the user's edits of other fields are still to be applied
		kept.seen = promote.SeenWithText(m, note.Carried)
	}
	return kept, "", nil
}

func editedReason(path string) string {
	return fmt.Sprintf(
		"the note %q has edits that emberd has not synced yet; emberd syncs the edits within a minute or two", path)
}

// renewNote writes the current text of a memory to its archive note. It skips a note that the
// user has changed too, and a promoted note, whose text decides.
func (a *Archiver) renewNote(ctx context.Context, m *memory.Memory, note *vault.Note) (*vault.Note, string, error) {
	says := notes.Fingerprints(note.Carried)
	switch {
	case slices.Contains(a.E.Promote.Pending.Fields(m.ID), core.ContentField):
		return nil, fmt.Sprintf("emberd has not written the text of the memory to the note %q yet", note.Path), nil
	case m.PromotedTo != "" || !promote.SameSeen(says, m.NoteSeen, []string{core.ContentField}):
		return nil, editedReason(note.Path), nil
	}
	changed := slices.DeleteFunc(notes.NoteFields(),
		func(field string) bool { return field == "stage" || says[field] != m.NoteSeen[field] })
	if a.Dry {
		return a.shown(m, note.Path), "", nil
	}
	res, err := a.E.Promote.WriteNote(ctx, note, promote.NoteEdit(m, changed, note.Carried.Body))
	if err != nil || res.Outcome != vault.Written {
		return nil, fmt.Sprintf("cannot write note %q: %s", note.Path, res.Reason),
			promote.DiskError(note.Path, err)
	}
	a.E.Promote.IndexNote(ctx, note.Path) // the user may rename it at once
	if note, err = a.E.Notes.Reading(ctx, note.Path); err == nil {
		m.NoteSeen = promote.Renewed(m.NoteSeen, notes.Agreed(m, note.Carried), changed)
	}
	return note, "", err
}

// shown returns the note that a dry run would have created.
func (a *Archiver) shown(m *memory.Memory, path string) *vault.Note {
	return &vault.Note{File: vault.File{Path: path}, Carried: vault.CarriedBy(promote.ArchiveBytes(m))}
}

// NewKept writes the text of a memory to the archive folder.
func (a *Archiver) NewKept(ctx context.Context, m *memory.Memory) (kept archivedNote, why string, err error) {
	if a.noNoteReason != "" {
		return kept, a.noNoteReason, nil
	}
	if a.E.Opt.VaultArchive == "" {
		return kept, "no archive folder is configured; set vault.archive_folder", nil
	}
	if name := a.Made[m.ID].Path; name != "" {
		a.made++
		if note, err := a.E.Notes.Vault.Root.Load().Read(ctx, name); err == nil && promote.Carries(note, m.ID) {
			return a.acceptNote(m, note)
		}
	}
	got, err := a.E.Promote.Place(ctx, m, a.E.Promote.NamesIn(a.E.Opt.VaultArchive, m), promote.ArchiveBytes(m), a.Dry)
	note := got.Found
	switch {
	case err != nil && (memory.CodeOf(err) == memory.Conflict || ctx.Err() != nil):
		why, err = reasonOf(ctx, err)
		return kept, why, err
	case err != nil:
		a.noNoteReason = err.Error() // the next note would fail too
		return kept, a.noNoteReason, nil
	case got.Outcome == vault.Later:
		return kept, fmt.Sprintf("cannot write note %q now: %s", got.Path,
			promote.LaterText(&got.Result, a.E.Opt.Now())), nil
	case note == nil && a.Dry:
		note = a.shown(m, got.Path)
	case note == nil:
		a.made++
		if note, err = a.E.Notes.Reading(ctx, got.Path); err != nil {
			why, err = reasonOf(ctx, err)
			return kept, why, err
		}
	}
	return a.acceptNote(m, note)
}

// markRehydratable changes the stage of archived memories to rehydratable, and nothing else.
func (a *Archiver) markRehydratable(ctx context.Context, moves []rekindle.Move) error {
	ids := make([]memory.ID, len(moves))
	for i, m := range moves {
		ids[i] = m.ID
	}
	return a.commit(ctx, ids, core.FadeVerb, func(rows []*stm.Row) ([]stm.Change, error) {
		var changes []stm.Change
		for i, move := range moves {
			why := ChangedReason(rows[i], move)
			if why == "" && move.To != memory.Rehydratable {
				why = fmt.Sprintf("the memory is already %s", move.From)
			}
			if why != "" {
				a.skip(move.ID, why)
				continue
			}
			c, err := a.faded(rows[i], move)
			if err != nil {
				return nil, err
			}
			changes = append(changes, c)
		}
		return changes, a.tellStages()
	})
}

func (a *Archiver) faded(row *stm.Row, move rekindle.Move) (stm.Change, error) {
	raw, err := core.Encode(move.To)
	c := stm.Change{ID: move.ID, Set: map[string]json.RawMessage{"stage": raw}}
	said := row.Fields()["note_seen"]
	if err != nil || a.Dry || a.E.Notes.Vault == nil || said == nil {
		return c, err
	}
	var seen map[string]string
	if err := json.Unmarshal(said, &seen); err != nil || !promote.StatesStage(seen) {
		return c, err
	}
	m, err := row.Memory()
	if err == nil {
		a.stages = append(a.stages, a.E.Promote.StageWrites(&m, a.By)...)
	}
	return c, err
}
