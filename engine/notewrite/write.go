package notewrite

import (
	"context"

	"emberd/engine/core"
	"emberd/internal/notejournal"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
)

// Write creates a note, or replaces one that has the digest that the caller read.
func (e *NoteWrite) Write(ctx context.Context, req *op.NoteWriteRequest) (*op.NoteChangeResult, error) {
	if err := e.Notes.NeedVault(); err != nil {
		return nil, err
	}
	c := &change{verb: WriteVerb, path: req.Path, digest: req.Digest, preview: req.Preview, secrets: req.AllowSecret,
		texts: []core.Passage{{Field: "text", Text: req.Text}, {Field: "path", Text: req.Path}},
		edit:  func([]byte) ([]byte, error) { return []byte(req.Text), nil }}
	if req.Digest != "" {
		return e.reviseNamed(ctx, req.Path, c)
	}
	var err error
	if c.path, err = newPath(req.Path); err != nil {
		return nil, err
	}
	return e.create(ctx, c)
}

// create makes the note of a change.
func (e *NoteWrite) create(ctx context.Context, c *change) (*op.NoteChangeResult, error) {
	if err := core.FirstError(e.checkTexts(c), e.CheckPlace(c.path)); err != nil {
		return nil, err
	}
	if !c.secrets {
		if err := e.checkName("path", c.path); err != nil {
			return nil, err
		}
	}
	if _, err := e.Notes.Vault.Root.Load().Stat(c.path); err == nil {
		return nil, memory.Errorf(memory.Conflict,
			"note %q already exists; to replace the note, read the note and pass its digest", c.path).At("digest")
	}
	res := &op.NoteChangeResult{Path: c.path, Created: true, Preview: c.preview}
	out, err := e.apply(c, nil, res)
	if err != nil {
		return nil, err
	}
	var entry notejournal.Entry
	got, err := e.Promote.Writing.Do(func(w *vault.Writer) (vault.Result, error) {
		got, err := w.CanCreate(c.path, out)
		if err != nil || got.Outcome != vault.Written || c.preview {
			return got, err
		}
		note := notejournal.Note{Path: c.path, After: notejournal.Digest(out)}
		if entry, err = e.record(ctx, &entry, c.verb, note, nil); err != nil {
			return vault.Result{}, err
		}
		return w.Create(ctx, c.path, out)
	})
	if c.preview && err == nil && got.Outcome == vault.Written {
		return res, nil
	}
	return e.finished(ctx, res, entry, &got, err)
}
