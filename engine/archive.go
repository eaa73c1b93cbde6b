package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
	"emberd/vault"
)

// The verbs of the journal for what fades and comes back.
const (
	archiveVerb  = "archive"
	fadeVerb     = "fade"
	rekindleVerb = "rekindle"
)

// How many memories are locked together while they are archived, and how many bytes
// their texts may have in the log, where each stands beside what it leaves behind.
const (
	archiveAtOnce = 32
	archiveBytes  = 1 << 20
	fadeAtOnce    = 512
)

// archiving is what became of memories that were to be archived.
type archiving struct {
	Entry   string // journal entry: the one that was given, or that was begun
	Done    []memory.ID
	Skipped []op.Skipped
}

// archive takes memories to the stage that each move names: archived or rehydratable.
// The text of a warm one is in a note that can be read before the log lets go of it, so
// that a crash in between leaves it in both. A memory that is not as its move says, or
// whose text cannot be kept, is skipped; an error ends the run, and what was done
// before is done.
func (e *Engine) archive(ctx context.Context, moves []rekindle.Move, reason string, by memory.Actor, entry string) (archiving, error) {
	a := archiver{e: e, reason: reason, by: by, out: archiving{Entry: entry}}
	err := a.all(ctx, moves)
	return a.out, err
}

// archiver is one run of archive.
type archiver struct {
	e      *Engine
	reason string
	by     memory.Actor
	dry    bool
	would  []memory.Memory      // of a dry run: what the memories would be
	closed string               // why no note can be made in the archive folder
	made   map[memory.ID]string // notes that were made ahead, see [Engine.keepAhead]
	out    archiving
}

// leaving is a memory that is about to be archived, as it was when it was summarised.
type leaving struct {
	rekindle.Move
	rev  string
	left remains
}

func (a *archiver) skip(id memory.ID, why string) {
	a.out.Skipped = append(a.out.Skipped, op.Skipped{ID: id, Reason: why})
}

func (a *archiver) all(ctx context.Context, moves []rekindle.Move) error {
	var cold, warm []rekindle.Move
	away := a.e.vaultAway()
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
		var group []leaving
		if group, warm = a.portion(ctx, warm); ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := a.cool(ctx, group); err != nil {
			return err
		}
		op.Report(ctx, len(moves)-len(cold)-len(warm), len(moves))
	}
	for some := range slices.Chunk(cold, fadeAtOnce) {
		if err := a.fade(ctx, some); err != nil {
			return err
		}
		cold = cold[len(some):]
		op.Report(ctx, len(moves)-len(cold), len(moves))
	}
	return nil
}

// vaultAway is why no text can go to the vault now, "" if it can.
func (e *Engine) vaultAway() string {
	if e.notes == nil {
		return "there is no vault to keep its text in; name one with vaults: in the config or emberd serve --vault"
	}
	_, w := e.notes.current()
	status := w.Status()
	switch {
	case status.Gone || !e.notes.vault.Load().Current():
		return "the vault is not there; connect its disk, or let the sync tool bring it back"
	case !e.notes.complete.Load():
		return "the notes are still being read for the first time, and one of them may have its text"
	case status.Frozen != "":
		return fmt.Sprintf("%s; if that was meant: emberd vault confirm", status.Frozen)
	}
	return ""
}

// portion takes the first of the moves that are carried out together, and summarises
// what is to go: a model may take long, and nothing is locked yet.
func (a *archiver) portion(ctx context.Context, moves []rekindle.Move) (group []leaving, rest []rekindle.Move) {
	size := 0
	for i, m := range moves {
		row, why := a.asPlanned(m)
		if why != "" {
			a.skip(m.ID, why)
			continue
		}
		size += len(row.Fields()[contentField])
		if len(group) == archiveAtOnce || len(group) > 0 && size > archiveBytes {
			return group, moves[i:]
		}
		l, why := a.leave(ctx, m, row)
		if why != "" {
			a.skip(m.ID, why)
			continue
		}
		group = append(group, l)
	}
	return group, nil
}

// leave summarises a memory, or says why it is not archived.
func (a *archiver) leave(ctx context.Context, m rekindle.Move, row *stm.Row) (leaving, string) {
	full, err := row.Memory()
	if err != nil || !keepable(full.Content) {
		return leaving{}, notKept + "; it stays in the log"
	}
	l := leaving{Move: m, rev: row.Rev(), left: remains{stage: m.To, reason: a.reason}}
	l.left.summary, l.left.terms = a.e.summarize(ctx, full.Content, full.Entities)
	return l, ""
}

// asPlanned returns the memory that a move is about, or why it is not to be moved.
func (a *archiver) asPlanned(m rekindle.Move) (*stm.Row, string) {
	row, live := a.e.stm.Get(m.ID)
	if !live {
		return nil, "it was forgotten meanwhile"
	}
	return row, unlike(row, m)
}

// unlike is why a memory is not as its move says.
func unlike(row *stm.Row, m rekindle.Move) string {
	switch {
	case row == nil:
		return "it was forgotten meanwhile"
	case row.Core():
		return "it is a core memory, and those never fade"
	case row.Stage() != m.From:
		return fmt.Sprintf("it is %s already", row.Stage())
	case !m.From.Cold() && row.Has("text_digest"):
		return "two devices changed it at once, and its text is in its note only; emberd rekindle brings it back"
	case !row.LastUsed().Equal(m.Used):
		return "it was used meanwhile"
	}
	return ""
}

// cool archives a group in one line of the log.
func (a *archiver) cool(ctx context.Context, group []leaving) error {
	ids := make([]memory.ID, len(group))
	for i, l := range group {
		ids[i] = l.ID
	}
	return a.commit(ctx, ids, archiveVerb, func(rows []*stm.Row) ([]stm.Change, error) {
		var changes []stm.Change
		for i, l := range group {
			set, why, err := a.cooled(ctx, rows[i], l)
			switch {
			case err != nil:
				return nil, err
			case why != "":
				a.skip(l.ID, why)
			default:
				changes = append(changes, stm.Change{ID: l.ID, Set: set})
			}
		}
		return changes, nil
	})
}

// commit writes the changes that fn makes of locked memories, as one line.
func (a *archiver) commit(ctx context.Context, ids []memory.ID, verb string, fn func([]*stm.Row) ([]stm.Change, error)) error {
	var changes []stm.Change
	receipt, err := a.e.stm.Update(ctx, ids, "", func(rows []*stm.Row) (_ *stm.Tx, err error) {
		if changes, err = fn(rows); err != nil || a.dry {
			return nil, err
		}
		return &stm.Tx{Verb: verb, By: a.by, Entry: a.out.Entry, Changes: changes}, nil
	})
	if err != nil {
		return err
	}
	if receipt.Entry != "" {
		a.out.Entry = receipt.Entry
	}
	for _, c := range changes {
		a.out.Done = append(a.out.Done, c.ID)
	}
	return nil
}

// cooled makes sure of the note of a locked memory, and returns what the log is to say
// then, or why the memory is skipped.
func (a *archiver) cooled(ctx context.Context, row *stm.Row, l leaving) (set map[string]json.RawMessage, why string, err error) {
	if why = unlike(row, l.Move); why == "" && row.Rev() != l.rev {
		why = "it was changed meanwhile"
	}
	if why != "" {
		return nil, why, nil
	}
	m, err := row.Memory()
	if err != nil {
		return nil, "", err
	}
	before, err := fields(&m)
	if err != nil {
		return nil, "", err
	}
	kept, why, err := a.keep(ctx, &m)
	if why != "" || err != nil {
		return nil, why, err
	}
	l.left.path, l.left.body = kept.path, kept.body
	if !chill(&m, l.left, stampTime(a.e.opt.Now())) {
		return nil, notKept, nil
	}
	if m.NoteGone, m.NoteSeen = (time.Time{}), kept.seen; m.PromotedTo != "" {
		m.PromotedTo = kept.path
	}
	if a.dry {
		a.would = append(a.would, m)
		return nil, "", nil
	}
	if kept.stage != "" && kept.stage != string(m.Stage) {
		if err := a.e.stageToNote(&m, kept.path, a.by); err != nil {
			return nil, "", err
		}
	}
	after, err := fields(&m)
	if set = difference(before, after); err == nil {
		set[contentField] = after[contentField] // however short the text was: this is what is archived
	}
	return set, "", err
}

// keeping is the note that a memory's text was found in, or put into.
type keeping struct {
	path  string
	body  string            // its text
	seen  map[string]string // what it says that the memory has
	stage string            // that it states, "" for none
}

// keep finds or makes the note that has the text of a memory, and has read it: what the
// log lets go of is, byte for byte but for the white space around it, what came back
// from the disk. A note that was made is synced by then, and so is its name; that is
// what a [vault.Writer] guarantees for everything that is [vault.Written].
func (a *archiver) keep(ctx context.Context, m *memory.Memory) (kept keeping, why string, err error) {
	note, err := a.e.noteOf(ctx, m)
	if note == nil && err == nil {
		if home := homeOf(m); home != "" {
			return kept, fmt.Sprintf("its note %q is not at its path or does not carry its id; put it back, or promote the memory again", home), nil
		}
		return a.newKept(ctx, m)
	}
	if err == nil && !says(note, m) {
		note, why, err = a.renewKept(ctx, m, note)
	}
	if err != nil {
		why, err = reasonOf(ctx, err)
	}
	if note == nil || why != "" || err != nil {
		return kept, why, err
	}
	return a.found(m, note)
}

// reasonOf makes a reason to skip one memory of an error. That nobody waits any more is
// one of all of them.
func reasonOf(ctx context.Context, err error) (string, error) {
	if ctx.Err() != nil {
		return "", err
	}
	return err.Error(), nil
}

// found accepts a note that was read.
func (a *archiver) found(m *memory.Memory, note *vault.Note) (kept keeping, why string, err error) {
	if !says(note, m) {
		return kept, editedMeanwhile(note.Path), nil
	}
	kept = keeping{path: note.Path, body: note.Carried.Body, seen: agreed(m, note.Carried), stage: note.Carried.Fields["stage"]}
	if m.NoteSeen != nil { // what a human changed beside the text is still to be taken over
		kept.seen = renewed(m.NoteSeen, fingerprints(note.Carried), []string{contentField})
	}
	return kept, "", nil
}

func editedMeanwhile(path string) string {
	return fmt.Sprintf("somebody edited its note %q, and emberd takes that over within a minute or two", path)
}

// renewKept gives an archive note the text that its memory has by now. One that a human
// has changed as well is left for now, and so is a promoted note: its text is the truth.
func (a *archiver) renewKept(ctx context.Context, m *memory.Memory, note *vault.Note) (*vault.Note, string, error) {
	says := fingerprints(note.Carried)
	switch {
	case slices.Contains(a.e.pending.fields(m.ID), contentField):
		return nil, fmt.Sprintf("its text is still to be written to its note %q", note.Path), nil
	case m.PromotedTo != "" || !sameSeen(says, m.NoteSeen, []string{contentField}):
		return nil, editedMeanwhile(note.Path), nil
	}
	changed := slices.DeleteFunc(noteFields(), func(field string) bool { return field == "stage" || says[field] != m.NoteSeen[field] })
	if a.dry {
		return a.shown(m, note.Path), "", nil
	}
	res, err := a.e.writeNote(ctx, note, noteEdit(m, changed, note.Carried.Body))
	if err != nil || res.Outcome != vault.Written {
		return nil, fmt.Sprintf("its note %q was not written: %s", note.Path, res.Reason), diskError(note.Path, err)
	}
	if note, err = a.e.reading(ctx, note.Path); err == nil {
		m.NoteSeen = renewed(m.NoteSeen, agreed(m, note.Carried), changed)
	}
	return note, "", err
}

// reading reads a note of which it is known that it is there and carries an id.
func (e *Engine) reading(ctx context.Context, path string) (*vault.Note, error) {
	note, err := e.notes.vault.Load().Read(ctx, path)
	if err == nil && note.Carried == nil {
		err = fmt.Errorf("the note %q lost its memory-id while it was written", path)
	}
	return note, err
}

// shown is the note that a dry run would have made.
func (a *archiver) shown(m *memory.Memory, path string) *vault.Note {
	return &vault.Note{File: vault.File{Path: path}, Carried: vault.CarriedBy(archiveBytesOf(m))}
}

// archiveBytesOf is the note that keeps the text of a memory. It states no stage, which
// would have to be kept true: bringing a memory back does not touch its note.
func archiveBytesOf(m *memory.Memory) []byte {
	whole := *m
	whole.Stage = memory.Active
	return noteBytes(&whole)
}

// newKept writes the text of a memory into the archive folder.
func (a *archiver) newKept(ctx context.Context, m *memory.Memory) (kept keeping, why string, err error) {
	if a.closed != "" {
		return kept, a.closed, nil
	}
	if a.e.opt.VaultArchive == "" {
		return kept, "there is no folder to keep its text in; set vault.archive_folder", nil
	}
	if name := a.made[m.ID]; name != "" {
		if note, err := a.e.notes.vault.Load().Read(ctx, name); err == nil && carries(note, m.ID) {
			return a.found(m, note)
		}
	}
	got, err := a.e.place(ctx, m, a.e.namesIn(a.e.opt.VaultArchive, m), archiveBytesOf(m), a.dry)
	note := got.found
	switch {
	case err != nil && (memory.CodeOf(err) == memory.Conflict || ctx.Err() != nil):
		why, err = reasonOf(ctx, err)
		return kept, why, err
	case err != nil:
		a.closed = err.Error() // the next note would fare no better
		return kept, a.closed, nil
	case got.Outcome == vault.Later:
		return kept, fmt.Sprintf("its note %q cannot be written now: %s", got.path, laterText(&got.Result, a.e.opt.Now())), nil
	case note == nil && a.dry:
		note = a.shown(m, got.path)
	case note == nil:
		if note, err = a.e.reading(ctx, got.path); err != nil {
			why, err = reasonOf(ctx, err)
			return kept, why, err
		}
	}
	return a.found(m, note)
}

// fade takes archived memories on to rehydratable, which leaves everything but the
// stage as it is.
func (a *archiver) fade(ctx context.Context, moves []rekindle.Move) error {
	ids := make([]memory.ID, len(moves))
	for i, m := range moves {
		ids[i] = m.ID
	}
	return a.commit(ctx, ids, fadeVerb, func(rows []*stm.Row) ([]stm.Change, error) {
		var changes []stm.Change
		for i, move := range moves {
			why := unlike(rows[i], move)
			if why == "" && move.To != memory.Rehydratable {
				why = fmt.Sprintf("it is %s already", move.From)
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
		return changes, nil
	})
}

func (a *archiver) faded(row *stm.Row, move rekindle.Move) (stm.Change, error) {
	raw, err := encode(move.To)
	c := stm.Change{ID: move.ID, Set: map[string]json.RawMessage{"stage": raw}}
	said := row.Fields()["note_seen"]
	if err != nil || a.dry || a.e.notes == nil || said == nil {
		return c, err
	}
	var seen map[string]string
	if err := json.Unmarshal(said, &seen); err != nil || !statesStage(seen) {
		return c, err
	}
	m, err := row.Memory()
	if err == nil {
		err = a.e.tellStage(&m, a.by)
	}
	return c, err
}
