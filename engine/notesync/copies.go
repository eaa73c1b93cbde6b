package notesync

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"

	"emberd/engine/core"
	"emberd/engine/notes"
	"emberd/engine/promote"
	"emberd/internal/text/merge"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault"
	"emberd/vault/notename"
)

// isCopy reports whether a note with the ID of a memory is a copy that a sync tool made of its note.
func isCopy(path, home string) bool {
	is, _ := notename.CopyOf(path, home)
	return is && path != home
}

// settleCopies looks after the copies that sync tools made of a memory's note: one without a human's change is
// removed, one with a change of the text is merged into the memory and removed, and one whose change collides
// stays until the user decides. So is a note at an earlier path of the memory's note, which a device that did not
// know of the rename brought back, and the second one after a rename on both devices. What is beside the note of
// a memory that is archived or in the trash, or beside a note that the user is asked about, is removed if it has no
// human's change, and stays otherwise.
func (t *NoteSync) settleCopies(ctx context.Context, w *NoteChange) (outcome, error) {
	became := done
	copies, err := t.copiesOf(ctx, w)
	if err != nil {
		return unclear, err
	}
	for _, c := range copies {
		is, err := c.settle(ctx)
		if err != nil {
			return unclear, err
		}
		if is == unclear {
			became = unclear
		}
	}
	return became, nil
}

// copiesOf returns the copies of the note of a memory.
func (t *NoteSync) copiesOf(ctx context.Context, w *NoteChange) (copies []*copyRun, err error) {
	paths := t.e.Notes.Vault.Carriers.Of(w.ID)
	m, err := t.withCopies(w.ID)
	if len(paths) < 2 || m == nil || err != nil {
		return nil, err
	}
	versions, err := t.e.Stm.History(ctx, w.ID)
	if err != nil {
		return nil, err
	}
	former := formerPaths(versions)
	home := t.homeOf(m, paths, former)
	for _, path := range paths {
		c := &copyRun{t: t, id: w.ID, isKnown: m.NoteGone.IsZero(), home: home, path: path}
		if c.isBeside(w, former) {
			copies = append(copies, c)
		}
	}
	return copies, nil
}

// withCopies returns a memory whose note may have copies: a live one, or one in the trash. It returns nil if the
// memory has no note.
func (t *NoteSync) withCopies(id memory.ID) (*memory.Memory, error) {
	row, live := t.e.Stm.Get(id)
	m := memory.Memory{}
	var err error
	if live {
		m, err = row.Memory()
	} else {
		m, err = t.e.Stm.ReadTrashed(id)
	}
	if err != nil || core.NotePath(&m) == "" {
		return nil, ignoreMissing(err)
	}
	return &m, nil
}

// homeOf returns the path of a memory's note. The log does not follow a rename of the note of a memory in the trash: if
// there is none at the path that it has, the only other note with the memory's ID that is not a copy is the note.
func (t *NoteSync) homeOf(m *memory.Memory, paths, former []string) string {
	home := core.NotePath(m)
	if _, live := t.e.Stm.Get(m.ID); live || slices.Contains(paths, home) {
		return home
	}
	others := slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		return slices.ContainsFunc(former, func(of string) bool { return isCopy(path, of) })
	})
	if len(others) != 1 {
		return home
	}
	return others[0]
}

// isBeside reports whether a note with the memory's ID is a copy of the memory's note, or was the note itself: the
// log names its path, or this device saw it move from such a path.
func (c *copyRun) isBeside(w *NoteChange, former []string) bool {
	if c.path == c.home {
		return false
	}
	isCopied := func(of string) bool {
		_, certain := notename.CopyOf(c.path, of)
		return certain
	}
	was := func(path string) bool { return w.now(path) == c.path }
	c.of = c.home
	if isCopy(c.path, c.home) {
		return true
	}
	if i := slices.IndexFunc(former, isCopied); i >= 0 {
		c.of = former[i]
		return true
	}
	c.former = slices.ContainsFunc(former, was)
	return c.former
}

// copyRun looks after one copy of a memory's note.
type copyRun struct {
	t          *NoteSync
	id         memory.ID
	isKnown    bool // that the note at home is the memory's
	home, path string
	of         string // the path whose copy it is: that of the memory's note, or an earlier one
	note, copy *vault.Note
	like       *vault.Note // what it is a copy of, else the memory's note
	former     bool        // it is no copy: the memory's note was at its path
	left       string      // why it stays
}

func (c *copyRun) settle(ctx context.Context) (outcome, error) {
	if there, err := c.find(ctx); !there || err != nil {
		return done, ignoreSkipped(err)
	}
	copied, like, res, err := c.read(ctx)
	if err != nil || res.Outcome != vault.Written {
		return waits(res), err
	}
	var became outcome
	if c.canJoin() {
		became, err = c.join(ctx, copied, like)
	} else {
		err = c.joinAtRest(ctx, copied, like)
	}
	switch {
	case err != nil || became == unclear:
		return became, err
	case c.left == "":
		return c.remove(ctx, copied)
	case c.former:
		return done, c.ask(ctx)
	}
	return done, nil
}

// find reads the notes, and reports whether both are there and have the memory's ID.
func (c *copyRun) find(ctx context.Context) (there bool, err error) {
	root := c.t.e.Notes.Vault.Root.Load()
	var errs [2]error
	c.note, errs[0] = root.Read(ctx, c.home)
	c.copy, errs[1] = root.Read(ctx, c.path)
	if err := errors.Join(errs[:]...); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return false, err
	}
	c.like = c.note
	if earlier, err := root.Read(ctx, c.of); err == nil && core.CarriesID(earlier.Carried, c.id) {
		c.like = earlier
	}
	return core.CarriesID(c.copy.Carried, c.id) && core.CarriesID(c.note.Carried, c.id), nil
}

// forgotten is why a copy stays whose memory went meanwhile: it is looked at again then.
const forgotten = "the memory was deleted in the meantime"

// join gives the memory what the copy's text has beyond the memory's. The copy stays if it has more that is a human's.
func (c *copyRun) join(ctx context.Context, copied, like []byte) (became outcome, err error) {
	c.left = forgotten
	_, err = c.t.e.Stm.Update(ctx, []memory.ID{c.id}, "", func(rows []*stm.Row) (*stm.Tx, error) {
		if rows[0] == nil {
			return nil, nil
		}
		m, err := rows[0].Memory()
		if err != nil {
			return nil, err
		}
		if settled, err := c.isNoteSettled(ctx, &m); err != nil || !settled {
			became = unclear // the note comes first
			return nil, err
		}
		texts, err := c.t.e.Promote.TextVersions(ctx, &m)
		if err != nil {
			return nil, err
		}
		if c.left, err = c.differsIn(ctx, &m, texts, copied, like); c.left != "" || err != nil {
			return nil, err
		}
		return c.merged(ctx, rows[0], &m, texts)
	})
	return became, err
}

// isNoteSettled reports whether the memory has what the user changed in its note. A text of the note that no user
// wrote into it waits to be replaced, and the copy may be what keeps the note from being written.
func (c *copyRun) isNoteSettled(ctx context.Context, m *memory.Memory) (bool, error) {
	says, fields := notes.Fingerprints(c.note.Carried), notes.TakenOf(m)
	switch {
	case promote.SameSeen(says, m.NoteSeen, fields):
		return true, nil
	case !promote.SameSeen(says, m.NoteSeen, notes.Without(fields, core.ContentField)):
		return false, nil
	}
	return c.t.e.Promote.IsOwnText(ctx, m, c.note)
}

// ask asks the user about a note at an earlier path, unless another question about a note of the memory is open, or
// this one was answered.
func (c *copyRun) ask(ctx context.Context) error {
	row, live := c.t.e.Stm.Get(c.id)
	if !live {
		return nil
	}
	_, asked := core.NoteItem(row, c.path)
	if asked || slices.ContainsFunc(row.ReviewItems(), func(item memory.ReviewItem) bool {
		return item.Agent == op.ReviewNote && item.Status != memory.ItemClosed
	}) {
		return nil
	}
	return c.t.fileClaim(ctx, c.id, c.copy, c.left)
}

// joinAtRest is join for a memory that is archived or in the trash, or whose note is not known: nothing can be merged
// into it.
func (c *copyRun) joinAtRest(ctx context.Context, copied, like []byte) error {
	c.left = forgotten
	m, err := c.t.withCopies(c.id)
	if m == nil || err != nil {
		return err
	}
	texts, err := c.t.e.Promote.TextVersions(ctx, m)
	if err != nil {
		return err
	}
	if c.left, err = c.differsIn(ctx, m, texts, copied, like); c.left != "" || err != nil {
		return err
	}
	body := c.copy.Carried.Body
	known := func(text string) bool { return isBody(body, text) || merge.Has(nearest(texts, body), text, body) }
	if body != c.note.Carried.Body && !slices.ContainsFunc(texts, known) {
		when := "while the memory is archived or in the trash"
		if !c.isKnown {
			when = "until you decide about the note of the memory"
		}
		c.left = "this note has a different text, and emberd cannot merge texts " + when
	}
	return nil
}

// ignoreSkipped drops the error for a note that cannot be read, which a check of the vault reports.
func ignoreSkipped(err error) error {
	if _, skipped := errors.AsType[*vault.Skipped](err); skipped {
		return nil
	}
	return err
}

func waits(res vault.Result) outcome {
	if res.Outcome == vault.Later {
		return unclear
	}
	return done
}

// read returns the bytes of the copy and of what it is a copy of, as they were read before.
func (c *copyRun) read(ctx context.Context) (copied, like []byte, res vault.Result, err error) {
	res, err = c.t.e.Promote.Writing.Do(func(w *vault.Writer) (res vault.Result, err error) {
		copied, like, res, err = vault.ReadCopy(ctx, w, c.path, c.like.Path)
		return res, err
	})
	return copied, like, res, err
}

// merged returns the change that gives the memory what the copy's text has beyond the memory's. The copy stays if the
// two cannot be merged. versions are the texts that the memory has had, latest first.
func (c *copyRun) merged(ctx context.Context, row *stm.Row, m *memory.Memory, versions []string) (*stm.Tx, error) {
	body := c.copy.Carried.Body
	if notes.HasText(c.copy, m) || c.decided(row) {
		return nil, nil
	}
	base, human := c.base(ctx, row, versions)
	if !human {
		return nil, nil
	}
	if unfit := c.t.e.Notes.CheckContent(c.copy, m.Content); unfit != nil {
		c.left = unfit.Error()
		return nil, nil
	}
	text, ok := merge.Texts(base, m.Content, body)
	switch {
	case ok && text == m.Content:
		return nil, nil
	case ok && memory.CheckContent(text) == nil:
		return c.withText(row, m, text)
	case merge.Has(base, m.Content, body):
		return nil, nil
	}
	c.left = "this note and the memory have different changes in the same part of the text"
	if c.former { // the user is asked about the whole note
		return nil, nil
	}
	set := make(map[string]json.RawMessage)
	c.t.e.Hooks.OtherTexts(row, set, []memory.OtherText{{Text: body, Note: c.path, At: c.copy.Updated}})
	return c.change(set), nil
}

// withText returns the change that gives the memory a text, and queues the write of that to the note.
func (c *copyRun) withText(row *stm.Row, m *memory.Memory, text string) (*stm.Tx, error) {
	before, err := core.Fields(m)
	if err != nil {
		return nil, err
	}
	m.Content, m.UpdatedAt = text, core.StampTime(c.t.e.Opt.Now())
	after, err := core.Fields(m)
	if err != nil {
		return nil, err
	}
	_, err = c.t.e.Promote.Requeue(m, c.home, []string{core.ContentField}, m.NoteSeen, core.VaultActor(), "")
	if err != nil {
		return nil, err
	}
	set := core.Difference(before, after)
	c.t.e.AddSource(row, c.t.e.ByNote(c.path, m.Project), set)
	return c.change(set), nil
}

// change returns the change of the memory, nil for none.
func (c *copyRun) change(set map[string]json.RawMessage) *stm.Tx {
	if len(set) == 0 {
		return nil
	}
	return &stm.Tx{Verb: core.NoteVerb, By: core.VaultActor(),
		Changes: []stm.Change{{ID: c.id, Set: set, Allowed: true}}}
}

// decided reports whether the user decided about the copy's text.
func (c *copyRun) decided(row *stm.Row) bool {
	other := memory.OtherText{Text: c.copy.Carried.Body}
	return slices.ContainsFunc(row.ReviewItems(), func(item memory.ReviewItem) bool {
		return item.Agent == op.ReviewText && item.Status == memory.ItemClosed &&
			slices.Contains(item.Labels, op.TextLabel+other.Digits())
	})
}

// base returns the text that copy and memory have in common, and whether the copy has a human's change: a text
// that the log does not have, or one that the note replaced without knowing it.
func (c *copyRun) base(ctx context.Context, row *stm.Row, versions []string) (base string, human bool) {
	for i, text := range versions {
		if !isBody(c.copy.Carried.Body, text) {
			continue
		}
		if i == 1 && c.former && slices.Contains(versions[2:], versions[0]) {
			return versions[0], true // the note that stayed is one from before this text
		}
		if i != 1 || len(versions) == 2 || row.TextRev() == "" || !c.byOthers(ctx, row, text) {
			return "", false
		}
		return versions[2], true
	}
	return nearest(versions, c.copy.Carried.Body), true
}

// nearest returns the text of a memory that a copy of its note changed least. Of texts that are as near, it is an
// earlier one: the copy was made apart from the memory's. versions are the texts that the memory has had, latest first.
func nearest(versions []string, body string) string {
	earlier := append(slices.Clone(versions[1:]), versions[0])
	return slices.MinFunc(earlier, func(a, b string) int {
		return merge.Changed(a, body) - merge.Changed(b, body)
	})
}

// byOthers reports whether the memory's text is an edit of the note that directly replaced one of another
// device: the note may not have had that one yet.
func (c *copyRun) byOthers(ctx context.Context, row *stm.Row, replaced string) bool {
	edits, err := c.t.e.Stm.TextEdits(ctx, []memory.ID{c.id})
	if err != nil {
		return false
	}
	for _, e := range edits[c.id] {
		if e.Stamp.String() == row.TextRev() {
			return e.Verb == core.NoteVerb && e.Before == replaced && e.From[0].Dev != e.Stamp.Dev
		}
	}
	return false
}

// remove moves the copy, whose bytes are given, to the backups, and has the note written that it kept from being
// written.
func (c *copyRun) remove(ctx context.Context, copied []byte) (outcome, error) {
	res, err := c.t.e.Promote.Writing.Do(func(w *vault.Writer) (vault.Result, error) {
		return w.RemoveCopy(ctx, c.path, c.copy.Digest)
	})
	if err != nil {
		return unclear, err
	}
	if res.Outcome != vault.Written {
		return waits(res), nil
	}
	if c.former {
		c.t.joined.Store(c.id, joinedNote{res.Backup, c.t.e.Opt.Now()})
	}
	c.t.e.Opt.Logger.Info("sync conflict copy of a note resolved and backed up", "memory", c.id, "copy", c.path,
		"backup", res.Backup)
	if err := c.t.e.Hooks.CopyTaken(c.path, copied); err != nil {
		c.t.e.Opt.Logger.Warn("copy of a note not listed in the history", "copy", c.path, "error", err)
	}
	c.t.e.Promote.IndexNote(ctx, c.path)
	return done, c.t.e.Promote.RetryWrite(c.id)
}
