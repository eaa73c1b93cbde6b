package notes

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/rekindle"
	"emberd/vault"
	"emberd/vault/frontmatter"
	"emberd/vault/noteedit"
)

// TextLookup is the text of a cold memory, and where it is.
type TextLookup struct {
	rekindle.Outcome
	Body string      // in the form of a note; "" if it is gone
	Note *vault.Note // nil if it is gone, or never was in a note
}

// LookUpText reads the text of a cold memory and reports the state of its note, which is a note that the
// memory owns ([Owns]). It changes nothing. If a note cannot be read now, it returns an error, and
// never reports it as gone.
func (e *Notes) LookUpText(ctx context.Context, m *memory.Memory) (TextLookup, error) {
	home := core.NotePath(m)
	if m.TextDigest == "" { // only its stage changed
		return TextLookup{Outcome: rekindle.Outcome{Verdict: rekindle.Unchanged, Path: home}, Body: m.Content}, nil
	}
	if e.Vault == nil {
		return TextLookup{},
			memory.Errorf(memory.NotFound, "the text of memory %s is in note %q, but no vault is configured; "+
				"set vaults: in the config file, or run: emberd serve --vault DIR", m.ID, home)
	}
	var read []TextLookup
	var known []rekindle.Note
	var claim error
	for i, path := range slices.Insert(e.Vault.Carriers.Of(m.ID), 0, home) {
		if path == "" || i > 0 && path == home {
			continue
		}
		found, id, err := e.readFor(ctx, m, path)
		if err != nil {
			return TextLookup{}, err
		}
		if found == nil || found.Note.Copy && path != home {
			continue
		}
		if id == m.ID && !Owns(m, found.Note) {
			claim = core.FirstError(claim, e.errOpenClaim(m, path))
			continue
		}
		read = append(read, *found)
		known = append(known, rekindle.Note{Path: path, ID: id, Digest: rekindle.Digest(found.Body)})
		if out := rekindle.Judge(m.ID, home, m.TextDigest, known); out.Path == home && out.Verdict != rekindle.Gone {
			break // this note decides, whatever the others are
		}
	}
	out := rekindle.Judge(m.ID, home, m.TextDigest, known)
	if out.Verdict == rekindle.Gone {
		return TextLookup{Outcome: out}, core.FirstError(claim, e.errIfMaybePresent(m))
	}
	at := slices.IndexFunc(read, func(l TextLookup) bool { return l.Note.Path == out.Path })
	read[at].Outcome = out
	return read[at], nil
}

// readFor reads a note that may contain a memory's text, and returns its memory ID. The result
// is nil if the note does not.
func (e *Notes) readFor(ctx context.Context, m *memory.Memory, path string) (*TextLookup, memory.ID, error) {
	note, err := e.Vault.Root.Load().Read(ctx, path)
	skipped, unread := errors.AsType[*vault.Skipped](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", nil
	case unread && skipped.Reason != vault.Unsettled && skipped.Reason != vault.NotLocal:
		return nil, "", memory.Errorf(memory.Conflict, "cannot read note %q with the text of memory %s: %s", path, m.ID,
			skipped.Reason)
	case unread:
		return nil, "", memory.Errorf(memory.Busy, "cannot read note %q with the text of memory %s now: %s", path, m.ID,
			skipped.Reason)
	case err != nil:
		return nil, "",
			memory.Errorf(memory.Busy, "cannot read note %q with the text of memory %s now: %w", path, m.ID, err)
	case note.Carried != nil:
		id, _ := memory.ParseID(note.MemoryID) // an invalid ID matches no memory
		if id == "" {
			id = memory.ID(note.MemoryID)
		}
		return &TextLookup{Note: note, Body: note.Carried.Body}, id, nil
	case note.Frontmatter == vault.InvalidFrontmatter:
		return nil, "", memory.Errorf(memory.Conflict,
			"note %q of memory %s has invalid frontmatter, which might contain the memory ID; fix the frontmatter",
			path, m.ID)
	}
	body, err := e.bodyOf(ctx, path, m.ID)
	return &TextLookup{Note: note, Body: body}, "", err
}

// bodyOf returns the text of a note without an ID, as it would be with this one.
func (e *Notes) bodyOf(ctx context.Context, path string, id memory.ID) (string, error) {
	text, err := e.Vault.Root.Load().Text(ctx, path)
	if err != nil {
		return "", memory.Errorf(memory.Busy, "cannot read note %q now: %w", path, err)
	}
	carrying, err := noteedit.Splice([]byte(text),
		noteedit.Edit{Set: []frontmatter.Field{{Key: MemoryIDKey, Value: frontmatter.Text(string(id))}}})
	if c := vault.CarriedBy(carrying); err == nil && c != nil {
		return c.Body, nil
	}
	return "", nil // not a form that emberd writes, so it is not the archived text
}

// errIfMaybePresent returns an error if a note that was not found may still arrive.
func (e *Notes) errIfMaybePresent(m *memory.Memory) error {
	why, home := e.VaultUnavailable(), core.NotePath(m)
	if id, there := e.Vault.Carriers.At(home); why == "" && there && id == m.ID {
		why = string(NoteAway)
	}
	if why == "" {
		return nil
	}
	return memory.Errorf(memory.Busy,
		"note %q with the text of memory %s not found, but the note might still exist: %s", home, m.ID, why)
}
