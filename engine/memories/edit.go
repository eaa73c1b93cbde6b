package memories

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Edit changes the given fields of one memory. Another text is a use of it. It checks the revision with
// the memory locked, so that of several edits of one revision only the first succeeds.
func (e *Memories) Edit(ctx context.Context, req *op.EditRequest) (*op.EditResult, error) {
	id, err := e.Stm.Resolve(req.ID)
	if err != nil {
		return nil, err
	}
	if e.Opt.DetectSecrets && !req.AllowSecret {
		if err := core.CheckSecrets(editedPassages(req)); err != nil {
			return nil, err
		}
	}
	olds, err := e.Similar.Replaced(req.Supersedes, id)
	if err != nil {
		return nil, err
	}
	ed := &editRun{e: e, req: req, superseded: olds, link: e.Source(ctx, &op.Provenance{}, "")}
	receipt, err := e.Stm.Update(ctx, append([]memory.ID{id}, olds...), "", func(rows []*stm.Row) (*stm.Tx, error) {
		if rows[0] == nil {
			return nil, e.Missing(id)
		}
		return ed.tx(ctx, rows)
	})
	if err != nil {
		return nil, err
	}
	row, changed := ed.row, core.ChangedFields(ed.set)
	if receipt.Entry != "" && ed.supersedes {
		changed = append(changed, changedSupersedes)
	}
	if len(ed.set) > 0 {
		row = receipt.Rows[0]
		if ed.set[core.ContentField] != nil {
			row = e.used(ctx, row)
		}
		e.Graph.Names.LearnFrom(row)
	}
	res := &op.EditResult{Tx: receipt.Entry, Changed: changed}
	if ed.inNote {
		res.Pending = e.Promote.FollowEdit(ctx, id)
		if now, live := e.Stm.Get(id); live {
			row = now
		}
	}
	res.Memory, err = e.MemoryView(row, e.Opt.Now())
	return res, err
}

// used counts the use that another text is, and returns the row with it. What emberd changes by itself is none.
func (e *Memories) used(ctx context.Context, row *stm.Row) *stm.Row {
	if op.CallerFrom(ctx).Via == stm.Itself {
		return row
	}
	e.Lifecycle.Used(row, e.Opt.Now())
	if now, live := e.Stm.Get(row.ID()); live {
		return now
	}
	return row
}

// editRun is one edit in progress.
type editRun struct {
	e          *Memories
	req        *op.EditRequest
	superseded []memory.ID // memories that it supersedes
	link       memory.Source

	row        *stm.Row                   // before the edit
	set        map[string]json.RawMessage // changed fields
	supersedes bool                       // it supersedes another
	inNote     bool                       // its note is to be written
}

// tx returns the transaction of the edit; rows are the memory and those that it supersedes.
func (ed *editRun) tx(ctx context.Context, rows []*stm.Row) (*stm.Tx, error) {
	ed.row = rows[0]
	again := func(text string) []string {
		return ed.e.Graph.EntitiesOf(text, ed.e.Opt.DetectSecrets && !ed.req.AllowSecret)
	}
	set, err := ed.fields(again)
	if err != nil {
		return nil, err
	}
	m, err := ed.row.Memory()
	if err != nil {
		return nil, err
	}
	links := make(map[string]json.RawMessage)
	others, err := ed.e.Similar.Supersede(&m, ed.row, ed.superseded, rows[1:], links)
	if err != nil {
		return nil, err
	}
	if len(set) > 0 {
		if ed.inNote, err = ed.e.Promote.EditedNote(&m, set, op.CallerFrom(ctx)); err != nil {
			return nil, err
		}
	}
	if asked := op.CallerFrom(ctx).Via != stm.Itself; asked && (set[core.ContentField] != nil || set["origin"] != nil) {
		ed.link.Project = m.Project
		ed.e.AddSource(ed.row, ed.link, set)
	}
	ed.supersedes = len(links)+len(others) > 0
	maps.Copy(set, links)
	ed.set = set
	return editTx(ctx, stm.Change{ID: ed.row.ID(), Set: set, Allowed: ed.req.AllowSecret}, others), nil
}

// TextChange returns the fields of a locked memory that gets another text, as an edit sets them, and queues
// the write of its note: call [promote.Promote.FollowEdit] once they are in the log. What emberd does by itself
// is no source of the text.
func (e *Memories) TextChange(ctx context.Context, row *stm.Row, text string) (map[string]json.RawMessage, error) {
	ed := &editRun{e: e, req: &op.EditRequest{Content: &text, AllowSecret: true},
		link: e.Source(ctx, &op.Provenance{}, "")}
	_, err := ed.tx(ctx, []*stm.Row{row})
	return ed.set, err
}

// SupersedeTx returns the transaction by which one locked memory supersedes another.
func SupersedeTx(ctx context.Context, e *Memories, row, old *stm.Row) (*stm.Tx, error) {
	ed := &editRun{e: e, req: &op.EditRequest{AllowSecret: true}, superseded: []memory.ID{old.ID()}}
	return ed.tx(ctx, []*stm.Row{row, old})
}

// editTx returns the transaction with the changes of a memory and of those that it supersedes.
func editTx(ctx context.Context, mine stm.Change, others []stm.Change) *stm.Tx {
	tx := &stm.Tx{Verb: "edit", By: op.CallerFrom(ctx)}
	if len(mine.Set) > 0 {
		tx.Changes = append(tx.Changes, mine)
	}
	tx.Changes = append(tx.Changes, others...)
	return tx
}

// changedSupersedes is the name of the change that a memory supersedes others.
const changedSupersedes = "supersedes"

// checkRev returns an error if the memory has another revision. An empty ifMatch accepts any.
func checkRev(r *stm.Row, ifMatch string) error {
	if ifMatch == "" || ifMatch == r.Rev() {
		return nil
	}
	err := memory.Errorf(memory.Conflict, "memory %s has changed; read it again and repeat the edit with revision %s",
		r.ID(), r.Rev()).At("If-Match")
	err.Current = r.Rev()
	return err
}

// fields returns the changed fields with updated_at, or nothing if none changed. If the text
// changes, found entities are found again, and a user who changes the text of an unconfirmed
// memory confirms it.
func (ed *editRun) fields(again func(text string) []string) (map[string]json.RawMessage, error) {
	r, req, link := ed.row, ed.req, ed.link
	if err := checkRev(r, req.IfMatch); err != nil {
		return nil, err
	}
	m, err := r.Memory()
	if err != nil {
		return nil, err
	}
	before, err := core.Fields(&m)
	if err != nil {
		return nil, err
	}
	if (m.Stage.Cold() || core.Shortened(&m)) && req.Content != nil {
		return nil, memory.Errorf(memory.Conflict,
			"memory %s is %s and contains only a summary; first, run: emberd rekindle %s", m.ID, m.Stage,
			m.ID.Short()).At("content")
	}
	was := m
	if err := apply(&m, req); err != nil {
		return nil, err
	}
	if m.EntitiesFound && m.Content != was.Content {
		m.Entities = again(m.Content)
		m.EntitiesFound = len(m.Entities) > 0
	}
	if m.Content != was.Content && m.DataOnly() && core.Confirms(link) {
		m.ConfirmedAt = link.At
	}
	if err := ed.e.Reattribute(&m, &was); err != nil {
		return nil, err
	}
	if err := core.CheckStanding(&m, was); err != nil {
		return nil, err
	}
	after, err := core.Fields(&m)
	if err != nil {
		return nil, err
	}
	set := core.Difference(before, after)
	if len(set) > 0 {
		set["updated_at"], err = core.Encode(link.At)
	}
	return set, err
}

// apply applies the request to m and checks the result.
func apply(m *memory.Memory, req *op.EditRequest) error {
	core.Assign(&m.Content, req.Content)
	core.Assign(&m.Source, req.Source)
	core.Assign(&m.Context, req.Context)
	core.Assign(&m.Category, req.Category)
	core.Assign(&m.Type, req.Type)
	core.Assign(&m.Section, req.Section)
	core.Assign(&m.Confidence, req.Confidence)
	core.Assign(&m.Importance, req.Importance)
	core.Assign(&m.Strength, req.Strength)
	m.StrengthFound = m.StrengthFound && req.Strength == nil
	core.Assign(&m.Core, req.Core)
	core.Assign(&m.Collection, req.Collection)
	core.Assign(&m.Project, req.Project)
	if m.Collection == "" {
		m.Collection = memory.DefaultCollection
	}
	if err := applyLists(m, req); err != nil {
		return err
	}
	m.Meta = mergedMeta(m.Meta, req.Meta)
	return core.Check(m)
}

// applyLists replaces lists first, then adds, then removes.
func applyLists(m *memory.Memory, req *op.EditRequest) (err error) {
	if req.Entities != nil {
		if m.Entities, err = memory.NormalizeEntities(*req.Entities); err != nil {
			return err
		}
		m.EntitiesFound = false
	}
	if req.Tags != nil {
		m.Tags = *req.Tags
	}
	if m.Tags, err = memory.NormalizeTags(slices.Concat(m.Tags, req.AddTags)); err != nil {
		return err
	}
	gone, err := memory.NormalizeTags(req.RemoveTags)
	m.Tags = slices.DeleteFunc(m.Tags, func(t string) bool { return slices.Contains(gone, t) })
	return err
}

// mergedMeta returns meta with the keys of change set, or removed if they are null.
func mergedMeta(meta, change map[string]json.RawMessage) map[string]json.RawMessage {
	if len(change) == 0 {
		return meta
	}
	merged := maps.Clone(meta)
	if merged == nil {
		merged = make(map[string]json.RawMessage)
	}
	for key, value := range change {
		if bytes.Equal(bytes.TrimSpace(value), []byte("null")) {
			delete(merged, key)
			continue
		}
		merged[key] = value
	}
	return merged
}

// editedPassages returns the new texts of a request. The texts in the memory were scanned or
// allowed before.
func editedPassages(req *op.EditRequest) []core.Passage {
	var out []core.Passage
	for _, p := range []struct {
		field string
		text  *string
	}{{"content", req.Content}, {"context", req.Context}, {"source", req.Source},
		{"category", req.Category}, {"type", req.Type}, {"section", req.Section}, {"collection", req.Collection},
		{"project", req.Project}} {
		if p.text != nil {
			out = append(out, core.Passage{Field: p.field, Text: *p.text})
		}
	}
	if req.Entities != nil {
		out = core.AppendEach(out, "entities", *req.Entities)
	}
	if req.Tags != nil {
		out = core.AppendEach(out, "tags", *req.Tags)
	}
	return core.AppendMeta(core.AppendEach(out, "tags", req.AddTags), "meta", req.Meta)
}
