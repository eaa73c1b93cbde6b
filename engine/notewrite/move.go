package notewrite

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"emberd/engine/core"
	"emberd/internal/notejournal"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
	"emberd/vault/linkindex"
	"emberd/vault/markdown"
)

// Move gives a note another path. Links follow: each leads where it led before, in the note itself and in others.
// It moves nothing if a link in a note outside of the folders for agents would have to change.
func (e *NoteWrite) Move(ctx context.Context, req *op.NoteMoveRequest) (*op.NoteChangeResult, error) {
	if err := e.Notes.NeedVault(); err != nil {
		return nil, err
	}
	from, err := e.one(ctx, req.Path)
	if err != nil {
		return nil, err
	}
	to, err := newPath(req.To)
	if err == nil {
		err = core.FirstError(e.CheckPlace(from), e.CheckPlace(to), e.checkName("to", to))
	}
	if err != nil {
		return nil, asSent(err, from, req.Path)
	}
	m, err := e.plan(ctx, from, to)
	if err != nil {
		return nil, asSent(err, from, req.Path)
	}
	m.verb = MoveVerb
	if req.Preview {
		res := m.result()
		res.Preview = true
		return res, nil
	}
	res, err := e.carryOut(ctx, m)
	return res, asSent(err, from, req.Path)
}

// move is a move of a note, with the notes whose links follow.
type move struct {
	from, to string
	verb     string
	undoes   string
	notes    []relinked // the moved one first
}

// relinked is a note before and after, and how many of its links change.
type relinked struct {
	path          string // before the move
	before, after []byte
	links         int
}

// plan reads the notes that a move changes. Each must be one that can be written now.
func (e *NoteWrite) plan(ctx context.Context, from, to string) (*move, error) {
	links, err := e.Notes.Vault.AllLinks(ctx)
	if err != nil {
		return nil, err
	}
	if err := e.checkFree(from, to); err != nil {
		return nil, err
	}
	r := links.Rename(from, to)
	now, err := e.current(ctx, from)
	if err == nil && vault.ListIn(now) != "" {
		err = e.errOwn(from)
	}
	if err != nil {
		return nil, err
	}
	first, err := e.relink(r, from, now)
	if err != nil {
		return nil, err
	}
	m := &move{from: from, to: to, notes: []relinked{first}}
	return m, e.planSources(ctx, r, m)
}

// planSources adds the notes whose links follow.
func (e *NoteWrite) planSources(ctx context.Context, r *linkindex.Renaming, m *move) error {
	var outside []string
	for _, source := range r.Sources() {
		if source == m.from || e.Notes.Vault.InArchive(source) {
			continue
		}
		text, err := e.Notes.Vault.Root.Load().Text(ctx, source)
		if err != nil || vault.ListIn([]byte(text)) != "" {
			continue // it is gone, or emberd writes it anew
		}
		n, err := e.relink(r, source, []byte(text))
		if err != nil {
			return aboutSource(err, source)
		}
		if n.links == 0 {
			continue
		}
		if e.CheckPlace(source) != nil {
			outside = append(outside, source)
			continue
		}
		now, err := e.current(ctx, source)
		if err == nil && !bytes.Equal(now, n.before) {
			n, err = e.relink(r, source, now)
		}
		if err != nil {
			return aboutSource(err, source)
		}
		m.notes = append(m.notes, n)
	}
	return e.errOutside(m, outside)
}

// errOutside returns the error for links in notes that may not be written, nil if there are none.
func (e *NoteWrite) errOutside(m *move, outside []string) error {
	if len(outside) == 0 {
		return nil
	}
	return memory.Errorf(memory.Forbidden, "cannot move note %q: emberd would have to change links in %d notes "+
		"outside of the folders for agents (%s); ask the user to move the "+
		"note in Obsidian, or to add folders to vault.agent_folders", m.from, len(outside),
		e.folderList()).At("path").About(outside...)
}

// checkFree returns an error if the new path is taken.
func (e *NoteWrite) checkFree(from, to string) error {
	if from == to {
		return memory.Errorf(memory.Invalid, "the note already has the path %q; choose another path", to).At("to")
	}
	if strings.EqualFold(from, to) {
		return memory.Errorf(memory.Conflict, "cannot move note %q: %q differs only in capitals, and some "+
			"systems treat both as the same name; rename the note in Obsidian", from, to).At("to")
	}
	if _, err := e.Notes.Vault.Root.Load().Stat(to); err == nil {
		return memory.Errorf(memory.Conflict, "cannot move note %q: %q already exists; choose another path", from,
			to).At("to")
	}
	got, err := e.Promote.Writing.Do(func(w *vault.Writer) (vault.Result, error) { return w.CanCreate(to, nil) })
	if err != nil {
		return e.errWrite(to, err)
	}
	return e.errOutcome(to, &got)
}

// relink returns a note with the links that it has after a move.
func (e *NoteWrite) relink(r *linkindex.Renaming, source string, now []byte) (relinked, error) {
	unwritable := ""
	after, n, err := e.Notes.Vault.Root.Load().Relink(now, func(l markdown.Link) (vault.Target, bool) {
		to, alias, ok := r.Target(source, l.Target)
		if !ok {
			unwritable = l.Target
			return vault.Target{}, false
		}
		t := vault.Target{Name: to}
		if alias {
			t.Text = l.Target
		}
		return t, to != l.Target
	})
	if err == nil && unwritable != "" {
		err = memory.Errorf(memory.Conflict, "cannot move the note, because emberd cannot change one "+
			"of the links to the note; change that link in Obsidian").At("to").
			About(source, unwritable)
	}
	if err != nil {
		return relinked{}, e.errWrite(source, err)
	}
	return relinked{path: source, before: now, after: after, links: n}, nil
}

// result returns the answer for a move that is carried out.
func (m *move) result() *op.NoteChangeResult {
	res := &op.NoteChangeResult{Path: m.to, From: m.from, Changed: true, Digest: shortDigest(m.notes[0].after)}
	var all strings.Builder
	for i, n := range m.notes {
		path := n.path
		if i == 0 {
			path = m.to
			fmt.Fprintf(&all, "rename from %s\nrename to %s\n", m.from, m.to)
		}
		if n.links > 0 {
			res.Links = append(res.Links, op.NoteLinkCount{Path: path, Count: n.links})
		}
		if text, err := diff(n.path, path, n.before, n.after); err == nil {
			all.WriteString(text)
		}
	}
	res.Diff = all.String()
	return res
}

// entry returns the entry of the journal, and the texts from before.
func (m *move) entry(by memory.Actor) (e notejournal.Entry, texts [][]byte) {
	e = notejournal.Entry{Verb: m.verb, By: by, Undoes: m.undoes}
	for i, n := range m.notes {
		note := notejournal.Note{Path: n.path, After: notejournal.Digest(n.after)}
		if i == 0 {
			note.Path, note.From = m.to, m.from
		}
		e.Notes, texts = append(e.Notes, note), append(texts, n.before)
	}
	return e, texts
}

// carryOut moves the note, and then has the links follow. A note that a program saves in that moment keeps what
// the program saved, and is in the answer as left.
func (e *NoteWrite) carryOut(ctx context.Context, m *move) (*op.NoteChangeResult, error) {
	res := m.result()
	entry, texts := m.entry(op.CallerFrom(ctx))
	entry, err := e.Journal.Begin(entry, texts)
	if err != nil {
		return nil, e.errWrite(m.from, err)
	}
	got, err := e.Promote.Writing.Do(func(w *vault.Writer) (vault.Result, error) {
		return vault.Reviser{Writer: w}.Rename(ctx, m.from, m.to, digestOf(m.notes[0].before))
	})
	if err != nil || got.Outcome != vault.Written {
		res.Path = m.from
		return e.finished(ctx, res, entry, &got, err)
	}
	ctx = context.WithoutCancel(ctx)
	e.Promote.IndexNote(ctx, m.to)
	e.Promote.IndexNote(ctx, m.from)
	for i, n := range m.notes {
		path := n.path
		if i == 0 {
			path = m.to
		}
		if n.links == 0 && bytes.Equal(n.before, n.after) {
			continue
		}
		if why := e.follow(ctx, path, n.before, n.after); why != "" {
			res.Left = append(res.Left, op.NoteLeft{Path: path, Reason: why})
		}
	}
	res.Tx = entry.Tx
	return res, nil
}

// follow writes the links of one note, and returns why it did not.
func (e *NoteWrite) follow(ctx context.Context, path string, before, after []byte) (why string) {
	got, err := e.Promote.Writing.Do(func(w *vault.Writer) (vault.Result, error) {
		return vault.Reviser{Writer: w}.Revise(ctx, path, func(now []byte) ([]byte, error) {
			if !bytes.Equal(now, before) {
				return nil, errChanged(path)
			}
			return after, nil
		})
	})
	if err == nil {
		err = e.errOutcome(path, &got)
	}
	e.Promote.IndexNote(ctx, path)
	if err != nil {
		return err.Error()
	}
	return ""
}
