package core

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"emberd/internal/access"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// ownCollections are the collections that a limited token can save to. No scope names one.
var ownCollections = []string{memory.DefaultCollection, memory.EntityCollection}

// After returns a memory with the fields of a change. The row is nil for a new memory.
func After(before *stm.Row, c *stm.Change) (memory.Memory, error) {
	fields := make(map[string]json.RawMessage)
	if before != nil {
		fields = before.Fields()
	}
	maps.Copy(fields, c.Set)
	maps.DeleteFunc(fields, func(_ string, value json.RawMessage) bool { return bytes.Equal(value, []byte("null")) })
	m, err := stm.Decode(c.ID, fields)
	if err != nil {
		return m, memory.Errorf(memory.Invalid, "invalid fields of memory %s: %w", c.ID, err)
	}
	return m, nil
}

// confine returns an error of code Forbidden if a limited token turns was into is and thereby adds
// a scope that it does not write, or a name by which other callers find memories, or a statement
// of the user. The error depends on was, is and the token alone, so that it does not show which
// other memories exist.
func (e *View) confine(was, is *memory.Memory) error {
	for _, tag := range is.Tags {
		if !slices.Contains(was.Tags, tag) && !e.Grant.May(access.Subject{Tags: []string{tag}}) {
			return e.notWritten("tags", "tag "+quoted(tag), "omit the tag, or use a tag in the scopes of the token")
		}
	}
	if is.Project != "" && is.Project != was.Project && !e.Grant.May(access.Subject{Project: is.Project}) {
		return e.notWritten("project", "project "+quoted(is.Project), "omit the project")
	}
	if is.Collection != was.Collection && !slices.Contains(ownCollections, is.Collection) {
		return e.notWritten("collection", "collection "+quoted(is.Collection), "omit the collection")
	}
	if slices.ContainsFunc(is.Aliases, func(a string) bool { return !slices.Contains(was.Aliases, a) }) {
		return e.notWritten("aliases", "an alias, which all callers can use to find the memory", "omit the aliases")
	}
	if is.Core != was.Core {
		return memory.Errorf(memory.Forbidden,
			"token %s cannot change the field core; omit the field, or ask the user to run emberd edit",
			e.Grant.Token).At("core")
	}
	return e.vouch(was, is)
}

// vouch returns an error if a limited token makes a text the user's, or confirms it.
func (e *View) vouch(was, is *memory.Memory) error {
	claims := is.Origin == memory.FromUser && was.Origin != memory.FromUser
	if !claims && (is.ConfirmedAt.IsZero() || is.ConfirmedAt.Equal(was.ConfirmedAt)) {
		return nil
	}
	return e.errVouches()
}

// vouchUndo is vouch for an undo that sets these fields. What the user said or confirmed comes back
// with the words that it was about, from one change, and the store gives it back with no others. An
// archived memory has the same text in its note.
func (e *View) vouchUndo(was, is *memory.Memory, set map[string]json.RawMessage) error {
	words := slices.ContainsFunc(slices.Collect(maps.Keys(set)), memory.Stated)
	if !words || is.TextDigest != was.TextDigest {
		return nil
	}
	claims := is.Origin == memory.FromUser && set["origin"] == nil
	if claims || !is.ConfirmedAt.IsZero() && set["confirmed_at"] == nil {
		return e.errVouches()
	}
	return nil
}

func (e *View) errVouches() error {
	return memory.Errorf(memory.Forbidden,
		"token %s cannot mark a text as written or confirmed by the user; ask the user to run emberd edit --confirm",
		e.Grant.Token).At("origin")
}

func (e *View) notWritten(field, what, instead string) error {
	if len(e.Grant.Write) == 0 {
		return e.errReadOnly()
	}
	return memory.Errorf(memory.Forbidden, "token %s cannot set %s, because %s; %s", e.Grant.Token, what,
		WriteLimit(e.Grant), instead).At(field)
}

func (e *View) errReadOnly() error {
	return memory.Errorf(memory.Forbidden, "token %s is read-only; ask the user for a token with a write scope",
		e.Grant.Token)
}

func quoted(s string) string { return `"` + memory.Clip(s) + `"` }

// RecordedOrigin returns whose words a caller's text is: the claim, or what the caller's way in
// implies. The words of a limited token are at most an agent's. Then instead is that origin.
func (e *View) RecordedOrigin(p *op.Provenance, by *memory.Actor) (origin, instead string) {
	origin = cmp.Or(p.Origin, by.Origin())
	if e.Grant != nil && origin == memory.FromUser {
		return memory.FromAgent, memory.FromAgent
	}
	return origin, ""
}

// Reattribute gives a memory that a limited token edits the origin of that token's words, whichever
// field it changes: a reader takes all of them for the author's. What a tool or the web said keeps its
// origin until the user confirms it.
func (e *View) Reattribute(m, was *memory.Memory) error {
	if e.Grant == nil || m.DataOnly() {
		return nil
	}
	changed, err := Changes(was, m)
	if err == nil && len(changed) > 0 {
		m.Origin, m.ConfirmedAt = memory.FromAgent, time.Time{}
	}
	return err
}

// checkSave returns an error if the caller's limited token cannot save a request.
func (e *View) checkSave(req *op.SaveRequest) error {
	tags, err := memory.NormalizeTags(req.Tags)
	if err != nil {
		return err
	}
	is := memory.Memory{Tags: tags, Project: req.Project, Aliases: req.Aliases, Core: req.Core,
		Collection: cmp.Or(req.Collection, memory.DefaultCollection)}
	return e.confine(&memory.Memory{Collection: memory.DefaultCollection}, &is)
}
