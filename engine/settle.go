package engine

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"emberd/memory"
	"emberd/stm"
	"emberd/vault"
)

// When the notes of so many memories are deleted together, or of such a part of all
// that have one, it was more often a checkout, a sync tool or a mistake than the wish to
// forget them. Fewer than massLeast never are.
const (
	massNotes = 50
	massShare = 5
	massLeast = 5
)

// outcome is what became of news.
type outcome int

const (
	done    outcome = iota
	unclear         // a note cannot be read now: to be tried again
	missing         // the memory's note was deleted
)

// home is what is at the path that a memory's note had.
type home int

const (
	nowhere home = iota // the memory had none, or it is not there any more
	itself              // the note
	silent              // a note that does not carry the id
	closed              // a note of which that cannot be said
)

// standing is how the notes of a memory are.
type standing struct {
	note *vault.Note // the memory's, nil if there is none
	was  string      // path that the log has
	gone bool        // the log has it that the note was deleted
	home home
	more bool // there is a note that has the id, or may, and is not taken for the memory's
}

// settle brings one memory to what its note says, or what became of that.
func (t *truth) settle(ctx context.Context, w *news) (outcome, error) {
	row, _ := t.e.stm.Get(w.ID)
	m, _, err := t.subject(w.ID, row)
	if m == nil || err != nil {
		return done, err
	}
	if !t.e.notes.vault.Load().Current() {
		return unclear, nil
	}
	s, ok := t.look(ctx, w, m)
	switch {
	case ctx.Err() != nil:
		return unclear, context.Cause(ctx)
	case !ok:
		return unclear, nil
	case s.note != nil:
		return t.follow(ctx, w, &s)
	case row != nil && !s.more && s.home == nowhere && !s.gone && slices.Contains(w.Went, homeOf(m)):
		return missing, nil
	}
	return done, nil
}

// subject is the memory that news are about: a live one, or one that is in the trash
// because its note was deleted, with its fields there. It is nil for any other id.
func (t *truth) subject(id memory.ID, row *stm.Row) (*memory.Memory, map[string]json.RawMessage, error) {
	if row != nil {
		m, err := row.Memory()
		return &m, nil, err
	}
	if by, err := t.e.stm.Forgetting(id); err != nil || by.Verb != goneVerb {
		return nil, nil, ignoreMissing(err)
	}
	m, err := t.e.stm.Forgotten(id)
	if err != nil {
		return nil, nil, ignoreMissing(err)
	}
	kept, err := t.e.stm.ForgottenFields(id)
	return &m, kept, ignoreMissing(err)
}

// ignoreMissing drops the error of an id that is not in the trash.
func ignoreMissing(err error) error {
	if memory.CodeOf(err) == memory.NotFound {
		return nil
	}
	return err
}

// look reads the notes that may be the memory's: that which the log names, then where it
// was moved, then what came, in that order, then the others that carry the id. It is
// false when one cannot be read now.
func (t *truth) look(ctx context.Context, w *news, m *memory.Memory) (s standing, ok bool) {
	was := homeOf(m)
	s.was, s.gone = was, !m.NoteGone.IsZero()
	paths := t.candidates(w, was)
	for i, p := range paths {
		if p == "" || slices.Contains(paths[:i], p) {
			continue
		}
		note, err := t.e.notes.vault.Load().Read(ctx, p)
		skipped, unread := errors.AsType[*vault.Skipped](err)
		at := nowhere
		switch its := err == nil && carriesID(note.Carried, w.ID); {
		case its && note.Copy && p != was:
			s.more = true
		case its:
			at, s.note = itself, note
		case err == nil && note.Frontmatter == vault.InvalidFrontmatter:
			at, s.more = closed, true
		case err == nil:
			at = silent
			s.more = s.more || p != was && slices.Contains(w.Came, p) // it had the id a moment ago
		case errors.Is(err, fs.ErrNotExist):
		case unread && skipped.Reason != vault.Unsettled:
			at, s.more = closed, true // it may carry the id
		default:
			return s, false
		}
		if p == was {
			s.home = at
		}
		if s.note != nil || at == closed && p != was {
			return s, true
		}
	}
	return s, true
}

// candidates are the paths where the memory's note may be. One that never had any is
// rather promoted than archived.
func (t *truth) candidates(w *news, was string) []string {
	paths := slices.Concat([]string{was, w.now(was)}, w.Came, t.e.notes.carriers.of(w.ID))
	if was != "" {
		return paths
	}
	archived := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !t.e.notes.inArchive(p) })
	return append(slices.DeleteFunc(paths, t.e.notes.inArchive), archived...)
}

// moves reports whether the note is the memory's from now on, under another path. One
// that was there all the time is not: on this device the note that the log names may
// be still to come.
func (s *standing) moves(w *news) bool {
	switch {
	case s.note.Path == s.was:
		return false
	case s.was == "":
		return true
	}
	return (s.home == nowhere || s.home == silent) && (s.gone || w.Alive || slices.Contains(w.Came, s.note.Path) || slices.Contains(w.Went, s.was))
}

// counts reports whether the note says what the memory is.
func (s *standing) counts(w *news) bool {
	return s.note.Path == s.was || s.home == nowhere || s.moves(w)
}

// follow writes to the log what differs between the memory and its note. A memory that
// was forgotten with its note comes back with it.
func (t *truth) follow(ctx context.Context, w *news, s *standing) (outcome, error) {
	became := done
	_, err := t.e.stm.Update(ctx, []memory.ID{w.ID}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		m, kept, err := t.subject(w.ID, rows[0])
		if m == nil || err != nil {
			return nil, err
		}
		if homeOf(m) != s.was { // somebody was faster
			became = unclear
			return nil, nil
		}
		if !s.counts(w) || t.stray(m, s) && !says(s.note, m) {
			return nil, nil
		}
		set, err := t.differs(ctx, m, w, s)
		if err != nil || len(set) == 0 && kept == nil {
			return nil, err
		}
		if set[contentField] != nil {
			t.learn(rows[0], kept, t.e.byNote(s.note.Path, m.Project), set)
		}
		return &stm.Tx{Verb: noteVerb, By: vaultActor(), Changes: []stm.Change{{ID: w.ID, Set: over(kept, set), Allowed: true}}}, nil
	})
	return became, err
}

// learn adds to set that a memory was learned once more, which is in row or has the fields
// that the trash kept.
func (t *truth) learn(row *stm.Row, kept map[string]json.RawMessage, link memory.Source, set map[string]json.RawMessage) {
	if row != nil {
		t.e.learn(row, link, set)
		return
	}
	key, value := t.e.stm.LearnedAnew(kept, link)
	set[key] = value
}

// over puts a change over the fields of a memory from the trash. Without any it is just
// the change.
func over(kept, set map[string]json.RawMessage) map[string]json.RawMessage {
	if kept == nil {
		return set
	}
	all := maps.Clone(kept)
	maps.Copy(all, set)
	maps.DeleteFunc(all, func(_ string, value json.RawMessage) bool { return string(value) == "null" })
	return all
}

// stray reports whether the note is a copy that emberd has made of a memory's text and
// lost track of: of one that was brought back, or before a crash. It is no promotion, and
// what the memory says by now may be newer.
func (t *truth) stray(m *memory.Memory, s *standing) bool {
	return s.was == "" && !shortened(m) && t.e.notes.inArchive(s.note.Path)
}

// says reports whether a note has the text of a memory.
func says(note *vault.Note, m *memory.Memory) bool {
	return vault.Holds(note.Carried.Body, m.Content)
}

// differs returns what the log does not have of the note yet.
func (t *truth) differs(ctx context.Context, m *memory.Memory, w *news, s *standing) (map[string]json.RawMessage, error) {
	before, err := fields(m)
	if err != nil {
		return nil, err
	}
	now := stampTime(t.e.opt.Now())
	was := textOf(before)
	if t.stray(m, s) {
		m.NoteSeen = fingerprints(s.note.Carried)
	} else {
		t.e.takeOver(ctx, m, s.note)
	}
	if s.moves(w) {
		t.house(m, s, now)
	}
	m.NoteGone = time.Time{}
	after, err := fields(m)
	if err != nil {
		return nil, err
	}
	if !maps.EqualFunc(was, textOf(after), slices.Equal) {
		if after["updated_at"], err = encode(now); err != nil {
			return nil, err
		}
	}
	return difference(before, after), nil
}

// house gives a memory its note under the path that it has now. A first one promotes it,
// unless it lies in the archive folder.
func (t *truth) house(m *memory.Memory, s *standing, now time.Time) {
	m.VaultPath = s.note.Path
	if m.PromotedTo == "" && (s.was != "" || t.e.notes.inArchive(s.note.Path)) {
		return
	}
	m.PromotedTo = s.note.Path
	if m.PromotedAt.IsZero() {
		m.PromotedAt = now
	}
}

// textOf are the fields that a note decides.
func textOf(set map[string]json.RawMessage) map[string]json.RawMessage {
	out := make(map[string]json.RawMessage)
	for _, field := range noteFields() {
		if value, ok := set[field]; ok {
			out[field] = value
		}
	}
	return out
}

// bury takes in that the notes of memories were deleted: promoted memories go to the
// trash, but for those whose notes hold what they do not have any more.
func (t *truth) bury(ctx context.Context, lost []*news) error {
	if _, w := t.e.notes.current(); len(lost) > 0 && w.Status().Frozen != "" {
		for _, l := range lost {
			t.later(l)
		}
		return nil
	}
	var err error
	became, entries := done, make(map[memory.Actor]string)
	for _, l := range t.really(lost) {
		if by := l.by(); err == nil {
			became, entries[by], err = t.forget(ctx, l, entries[by])
		}
		if err != nil || became == unclear {
			t.later(l)
			continue
		}
		t.settled(l)
	}
	return err
}

// really returns the losses that are to be taken for such. Too many together are held
// back, and what may lie unreadable in the archive folder is looked for again.
func (t *truth) really(lost []*news) (real []*news) {
	var doubtful []*news
	closed := t.e.notes.closedInArchive()
	for _, l := range lost {
		switch {
		case slices.ContainsFunc(l.Went, func(p string) bool { return slices.Contains(closed, path.Base(p)) }):
			t.later(l)
		case l.Meant:
			real = append(real, l)
		default:
			doubtful = append(doubtful, l)
		}
	}
	if !t.mass(len(doubtful)) {
		return append(real, doubtful...)
	}
	for _, l := range doubtful {
		t.again(l, l.due, true)
	}
	return real
}

// mass reports whether so many losses together are too many to believe.
func (t *truth) mass(n int) bool {
	if n < massLeast || n > massNotes {
		return n > massNotes
	}
	all := 0
	for row := range t.e.stm.Rows() {
		if row.Promoted() || row.Stage().Cold() {
			all++
		}
	}
	return massShare*n > all
}

// forget carries out one loss in a journal entry, a new one if entry is "". It is
// unclear when the note is back, or the vault is away.
func (t *truth) forget(ctx context.Context, w *news, entry string) (became outcome, _ string, err error) {
	receipt, err := t.e.stm.Update(ctx, []memory.ID{w.ID}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if rows[0] == nil {
			return nil, nil
		}
		m, err := rows[0].Memory()
		if err != nil || !m.NoteGone.IsZero() || !slices.Contains(w.Went, homeOf(&m)) {
			return nil, err
		}
		if v := t.e.notes.vault.Load(); !v.Current() || !absent(v, homeOf(&m)) {
			became = unclear
			return nil, nil
		}
		c, err := t.without(&m)
		return &stm.Tx{Verb: goneVerb, By: w.by(), Entry: entry, Changes: []stm.Change{c}}, err
	})
	if receipt.Entry != "" {
		entry = receipt.Entry
	}
	return became, entry, err
}

// without is what becomes of a memory whose note was deleted. One that has all of its
// text and was never promoted has lost a copy, and nothing else.
func (t *truth) without(m *memory.Memory) (stm.Change, error) {
	c := stm.Change{ID: m.ID}
	if m.PromotedTo == "" && !shortened(m) && !m.Stage.Cold() {
		none := json.RawMessage("null")
		c.Set = map[string]json.RawMessage{"vault_path": none, "note_seen": none}
		return c, nil
	}
	now, err := encode(stampTime(t.e.opt.Now()))
	if c.Delete = !shortened(m) && !m.Stage.Cold(); c.Delete {
		c.Text = m.Content
	}
	c.Set = map[string]json.RawMessage{"note_gone": now}
	return c, err
}

func absent(v *vault.Vault, path string) bool {
	_, err := v.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
