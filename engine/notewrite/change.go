package notewrite

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"emberd/engine/core"
	"emberd/engine/promote"
	"emberd/internal/access"
	"emberd/internal/notejournal"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
	"emberd/vault/frontmatter"
	"emberd/vault/markdown"
	"emberd/vault/notename"
)

// maxNote bounds the notes that callers write, in bytes: as much of a note as is searched.
const maxNote = 1 << 20

// change is one change of the bytes of a note.
type change struct {
	verb    string
	path    string
	digest  string // that the note must have, "" for any
	preview bool
	texts   []core.Passage // of the caller
	secrets bool           // may be in them
	edit    func(note []byte) ([]byte, error)
}

// revise carries out a change, or shows it.
func (e *NoteWrite) revise(ctx context.Context, c *change) (*op.NoteChangeResult, error) {
	if err := e.checkTexts(c); err != nil {
		return nil, err
	}
	if err := e.CheckPlace(c.path); err != nil {
		return nil, err
	}
	if c.preview {
		return e.preview(ctx, c)
	}
	res := &op.NoteChangeResult{Path: c.path}
	var entry notejournal.Entry
	got, err := e.Promote.Writing.Do(func(w *vault.Writer) (vault.Result, error) {
		return vault.Reviser{Writer: w}.Revise(ctx, c.path, func(now []byte) ([]byte, error) {
			out, err := e.apply(c, now, res)
			if err == nil && res.Changed {
				note := notejournal.Note{Path: c.path, After: notejournal.Digest(out)}
				entry, err = e.record(ctx, &entry, c.verb, note, now)
			}
			return out, err
		})
	})
	return e.finished(ctx, res, entry, &got, err)
}

// preview shows what a change would do now.
func (e *NoteWrite) preview(ctx context.Context, c *change) (*op.NoteChangeResult, error) {
	res := &op.NoteChangeResult{Path: c.path, Preview: true}
	now, err := e.current(ctx, c.path)
	if err == nil {
		_, err = e.apply(c, now, res)
	}
	if err != nil {
		return nil, err
	}
	return res, nil
}

// current reads a note that could be written now.
func (e *NoteWrite) current(ctx context.Context, name string) (now []byte, err error) {
	now, got, err := e.Current(ctx, name)
	if err != nil {
		return nil, err
	}
	return now, e.errOutcome(name, &got)
}

// record writes an entry of the journal, in place of one for the same change that was not carried out.
func (e *NoteWrite) record(ctx context.Context, earlier *notejournal.Entry, verb string, note notejournal.Note,
	before []byte) (notejournal.Entry, error) {
	if earlier.Tx != "" {
		if err := e.Journal.Drop(earlier.Tx); err != nil {
			return *earlier, err
		}
	}
	return e.Journal.Begin(notejournal.Entry{Verb: verb, By: op.CallerFrom(ctx), Undoes: earlier.Undoes,
		Notes: []notejournal.Note{note}}, [][]byte{before})
}

// finished returns the answer after a write.
func (e *NoteWrite) finished(ctx context.Context, res *op.NoteChangeResult, entry notejournal.Entry, got *vault.Result,
	err error) (*op.NoteChangeResult, error) {
	ctx = context.WithoutCancel(ctx)
	if err == nil && got.Outcome == vault.Written {
		if res.Changed {
			res.Tx = entry.Tx
			e.Promote.IndexNote(ctx, res.Path)
		}
		return res, nil
	}
	if entry.Tx != "" && err == nil { // with an error it is not known what became of it
		e.Chores.Settle("update of the list of note changes", e.Journal.Drop(entry.Tx))
	}
	if err != nil {
		return nil, e.errWrite(res.Path, err)
	}
	return nil, e.errOutcome(res.Path, got)
}

// errWrite returns the error for a write that failed.
func (e *NoteWrite) errWrite(name string, err error) error {
	if typed, ok := errors.AsType[*memory.Error](err); ok {
		return typed
	}
	if bad, ok := errors.AsType[*frontmatter.EditError](err); ok {
		return memory.Errorf(memory.Conflict, "cannot change note %q: %s", name, bad.Reason).At("path")
	}
	return promote.DiskError(name, err)
}

// errOutcome returns the error for a note that was not written, nil if it was.
func (e *NoteWrite) errOutcome(name string, got *vault.Result) error {
	switch {
	case got.Outcome == vault.Written:
		return nil
	case got.Reason == vault.VaultReplaced:
		return e.Notes.Vault.ErrAway()
	case got.Outcome == vault.Later:
		return memory.Errorf(memory.Busy, "cannot change note %q: %s", name,
			promote.LaterText(got, e.Opt.Now())).At("path")
	case got.Outcome == vault.Conflict:
		return errChanged(name)
	case got.Reason == vault.Gone:
		return memory.Errorf(memory.NotFound, "note %q not found; it was deleted or moved", name).At("path")
	case got.Reason == vault.NameTaken || got.Reason == vault.FolderTaken:
		return memory.Errorf(memory.Conflict, "cannot write note %q: %s; choose another path", name,
			got.Reason).At("path").About(got.Taken)
	}
	return memory.Errorf(memory.ReadOnly, "cannot change note %q: %s", name, got.Reason).At("path")
}

func errChanged(name string) error {
	return memory.Errorf(memory.Conflict, "note %q has changed since you read it; read it again", name).At("digest")
}

// checkTexts returns an error for what a caller may not write anywhere.
func (e *NoteWrite) checkTexts(c *change) error {
	for _, p := range c.texts {
		if !utf8.ValidString(p.Text) {
			return memory.Errorf(memory.Invalid, "invalid %s: the text is not UTF-8; send UTF-8 text",
				p.Field).At(p.Field)
		}
		if strings.ContainsRune(p.Text, 0) {
			return memory.Errorf(memory.Invalid, "invalid %s: it contains the character U+0000; remove that character",
				p.Field).At(p.Field)
		}
	}
	if c.secrets {
		return nil
	}
	return e.checkSecrets(c.texts)
}

// apply returns the new bytes of a note, nil for one to create, and fills in the answer.
func (e *NoteWrite) apply(c *change, now []byte, res *op.NoteChangeResult) ([]byte, error) {
	if c.digest != "" && !sameDigest(c.digest, now) {
		return nil, errChanged(c.path)
	}
	if err := e.checkOwner(c.path, now); err != nil {
		return nil, err
	}
	out, err := c.edit(now)
	if err == nil {
		out, res.Neutralized, err = neutralized(c.path, now, out)
	}
	if err == nil {
		err = e.checkResult(c, now, out)
	}
	if err == nil && !c.secrets {
		err = e.checkJoined(c, now, out)
	}
	if err != nil {
		return nil, e.errWrite(c.path, err)
	}
	res.Changed, res.Digest = now == nil || !bytes.Equal(now, out), shortDigest(out)
	res.Diff, err = diff(c.path, c.path, now, out)
	return out, err
}

// checkOwner returns an error for a note that is a memory's, or that emberd writes itself.
func (e *NoteWrite) checkOwner(name string, now []byte) error {
	if carried := vault.CarriedBy(now); carried != nil {
		full, err := memory.ParseID(carried.ID)
		if err != nil {
			return memory.Errorf(memory.Conflict, "note %q has an invalid property %s: the value is not "+
				"a memory ID; ask the user to correct the property", name, idKey).At("path")
		}
		id := full.Short()
		return memory.Errorf(memory.Conflict, "note %q belongs to memory %s; to change it, run: emberd edit %s", name,
			id, id).At("path")
	}
	if vault.ListIn(now) != "" {
		return e.errOwn(name)
	}
	return nil
}

// checkResult returns an error for bytes that no caller may make of a note.
func (e *NoteWrite) checkResult(c *change, now, out []byte) error {
	v := e.Notes.Vault.Root.Load()
	before, after := v.Parse(now), v.Parse(out)
	switch {
	case len(out) > maxNote:
		return memory.Errorf(memory.TooLarge, "too many bytes in note %q: %d (limit %d); split the note", c.path,
			len(out), maxNote).At("text")
	case after.Carried != nil || after.List != "" || hasReserved(after) && !hasReserved(before):
		return memory.Errorf(memory.Invalid, "invalid properties: only emberd can set %s and %s; remove these "+
			"properties, and YAML merge keys (<<), which can set properties", idKey, vault.ListKey).At("text")
	case after.Frontmatter == vault.InvalidFrontmatter && before.Frontmatter != vault.InvalidFrontmatter:
		return memory.Errorf(memory.Invalid, "cannot write note %q: its properties would be invalid YAML "+
			"after this change; correct the properties in the request", c.path).At("text")
	}
	return e.checkTags(before, after)
}

// idKey is the property of the note of a memory.
const idKey = "memory-id"

// isReserved reports whether a name is that of a property of emberd's own, in any spelling that Obsidian takes for it.
func isReserved(key string) bool {
	key = notename.Fold(strings.TrimSpace(key))
	return key == idKey || key == vault.ListKey
}

// hasReserved reports whether a note has a property of emberd's own in a spelling that emberd does not read, or takes
// properties over from another value, as YAML does with <<.
func hasReserved(note *vault.Note) bool {
	return slices.ContainsFunc(note.Properties,
		func(p markdown.Property) bool { return p.Key == "<<" || isReserved(p.Key) })
}

// checkTags returns an error if a limited token adds a tag, which is a scope, that it does not write.
func (e *NoteWrite) checkTags(before, after *vault.Note) error {
	if e.Grant == nil {
		return nil
	}
	had := make(map[string]bool)
	for _, tag := range before.Tags {
		had[tag.Key] = true
	}
	for _, tag := range after.Tags {
		if !had[tag.Key] && !e.Grant.May(access.Subject{Tags: []string{tag.Name}}) {
			return memory.Errorf(memory.Forbidden, "token %s cannot add the tag %q, because %s; omit the tag",
				e.Grant.Token, tag.Name, core.WriteLimit(e.Grant)).At("text")
		}
	}
	return nil
}

// shortDigest returns the part of a digest that callers see.
func shortDigest(note []byte) string { return notejournal.Digest(note)[:16] }

// sameDigest reports whether a digest, or the part of it that callers see, is that of a note.
func sameDigest(digest string, note []byte) bool {
	_, err := hex.DecodeString(digest)
	return err == nil && len(digest) >= 16 && strings.HasPrefix(notejournal.Digest(note), digest)
}

// diff returns the unified difference of two states of a note.
func diff(from, to string, before, after []byte) (string, error) {
	old := "a/" + from
	if before == nil {
		old = "/dev/null"
	}
	a, b := string(before), string(after)
	if a == b {
		return "", nil
	}
	return udiff.ToUnified(old, "b/"+to, a, udiff.Lines(a, b), udiff.DefaultContextLines)
}
