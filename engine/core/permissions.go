package core

import (
	"encoding/json"
	"slices"
	"strings"

	"emberd/internal/access"
	"emberd/memory"
	"emberd/stm"
)

// ScopesOf formats scopes as part of a sentence.
func ScopesOf(scopes []access.Scope) string {
	if len(scopes) == 0 {
		return "nothing"
	}
	var out []string
	for _, s := range scopes {
		if text := s.String(); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, ", ")
}

// WriteLimit states, as part of a sentence, which memories and notes a grant allows to change.
func WriteLimit(g *access.Grant) string {
	if len(g.Write) == 0 {
		return "the token is read-only"
	}
	return "the token can change only " + ScopesOf(g.Write)
}

// CanRead reports whether the caller can read a memory.
func (e *View) CanRead(r *stm.Row) bool { return e.Grant.Sees(e.subject(r)) }

// subject returns the fields of a memory that scopes compare.
func (e *View) subject(r *stm.Row) access.Subject {
	x := access.Subject{Tags: r.Tags(), Project: r.Project()}
	if e.folders() {
		x.Note = NoteOfRow(r)
	}
	return x
}

// subjectOf returns the fields of a decoded memory that scopes compare.
func subjectOf(m *memory.Memory) access.Subject {
	x := access.Subject{Tags: m.Tags, Project: m.Project, Note: NotePath(m)}
	if !m.NoteGone.IsZero() {
		x.Note = ""
	}
	return x
}

// folders reports whether the grant has a folder scope.
func (e *View) folders() bool {
	is := func(s access.Scope) bool { return s.Kind == access.Folder }
	return slices.ContainsFunc(e.Grant.Read, is) || slices.ContainsFunc(e.Grant.Write, is)
}

// The fields that determine the note of a memory, in the order of noteIn.
var homeKeys = [...]string{"promoted_to", "vault_path", "note_gone"}

// NoteOfRow returns the path of a memory's note, or "".
func NoteOfRow(r *stm.Row) string {
	r = r.Unpacked()
	var home [len(homeKeys)]string
	for i, key := range homeKeys {
		home[i] = stringValue(r.Value(key))
	}
	return notePathIn(home)
}

// notePathIn returns the path of the note for these values of homeKeys.
func notePathIn(home [len(homeKeys)]string) string {
	if home[2] != "" {
		return ""
	}
	return FirstNonEmpty(home[0], home[1])
}

// stringValue returns a JSON string, or "" for any other value.
func stringValue(value json.RawMessage) (text string) {
	if len(value) == 0 || json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// CheckTx returns an error if the grant does not allow a change of a transaction. The grant must
// cover the memory before and after it, and every scope that the change adds. An undo can restore
// scopes and names that the memory had, but no statement of the user without the text that it is
// about.
func (e *View) CheckTx(before *stm.Row, tx *stm.Tx, c *stm.Change) error {
	if before != nil && !e.Grant.May(e.subject(before)) {
		return e.forbidden(c.ID)
	}
	if c.Delete || len(c.Set) == 0 {
		return nil
	}
	was := memory.Memory{Collection: memory.DefaultCollection}
	is, err := After(before, c)
	if err == nil && before != nil {
		was, err = before.Memory()
	}
	switch {
	case err != nil:
		return err
	case !e.Grant.May(subjectOf(&is)):
		return e.errOutOfScope(c.ID)
	case tx.Verb != stm.UndoVerb:
		return e.confine(&was, &is)
	case before != nil:
		return e.vouchUndo(&was, &is, c.Set)
	}
	return nil
}

func (e *View) forbidden(id memory.ID) error {
	return memory.Errorf(memory.Forbidden,
		"token %s cannot change memory %s, because %s; ask the user to change the memory", e.Grant.Token, id,
		WriteLimit(e.Grant))
}

func (e *View) errOutOfScope(id memory.ID) error {
	return memory.Errorf(memory.Forbidden, "cannot change memory %s: token %s could no longer change the memory "+
		"afterward, because %s; keep the tags, project and note of the memory", id, e.Grant.Token, WriteLimit(e.Grant))
}

// CheckFields returns an error if the grant does not allow the fields in set. Code that writes
// a note before the log calls it first.
func (e *View) CheckFields(m *memory.Memory, set map[string]json.RawMessage) error {
	if e.Grant == nil {
		return nil
	}
	row, live := e.Stm.Get(m.ID)
	if !live {
		return e.Missing(m.ID)
	}
	return e.CheckTx(row, new(stm.Tx), &stm.Change{ID: m.ID, Set: set})
}

// CheckNotePath returns an error if the grant does not allow the memory a note at path.
func (e *View) CheckNotePath(m *memory.Memory, path string) error {
	if e.Grant == nil || e.Grant.May(access.Subject{Tags: m.Tags, Project: m.Project, Note: path}) {
		return nil
	}
	return memory.Errorf(memory.Forbidden,
		"token %s cannot write a note at %q, because %s; ask the user to write the note", e.Grant.Token, path,
		WriteLimit(e.Grant))
}

// CanWrite reports whether the caller may change a memory.
func (e *View) CanWrite(r *stm.Row) bool { return e.Grant == nil || e.Grant.May(e.subject(r)) }

// MayChange returns an error if the caller may not change a memory.
func (e *View) MayChange(r *stm.Row) error {
	if e.CanWrite(r) {
		return nil
	}
	return e.forbidden(r.ID())
}
