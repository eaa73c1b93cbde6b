package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// edit changes the given fields of one memory. What is compared and checked is
// the memory as it stands inside the store's lock, so of several edits based on
// one revision only the first succeeds.
func (e *Engine) edit(ctx context.Context, req *op.EditRequest) (*op.EditResult, error) {
	id, err := e.stm.Resolve(req.ID)
	if err != nil {
		return nil, err
	}
	if e.opt.DetectSecrets && !req.AllowSecret {
		if err := checkSecrets(editedPassages(req)); err != nil {
			return nil, err
		}
	}
	olds, err := e.replaced(req.Supersedes, id)
	if err != nil {
		return nil, err
	}
	ed := &editing{e: e, req: req, olds: olds, link: e.source(ctx, &op.Provenance{}, "")}
	receipt, err := e.stm.Update(ctx, append([]memory.ID{id}, olds...), "", func(rows []*stm.Row) (*stm.Tx, error) {
		if rows[0] == nil {
			return nil, e.missing(id)
		}
		return ed.tx(ctx, rows)
	})
	if err != nil {
		return nil, err
	}
	row, changed := ed.row, changedFields(ed.set)
	if receipt.Entry != "" && ed.took {
		changed = append(changed, changedSupersedes)
	}
	if len(ed.set) > 0 {
		row = receipt.Rows[0]
		e.names.learnFrom(row)
	}
	answer, err := e.view(row, e.opt.Now())
	return &op.EditResult{Memory: answer, Tx: receipt.Entry, Changed: changed, Pending: ed.waits}, err
}

// editing is one edit under way.
type editing struct {
	e    *Engine
	req  *op.EditRequest
	olds []memory.ID // whose place the memory takes
	link memory.Source

	row   *stm.Row                   // as it was
	set   map[string]json.RawMessage // what is written to it
	took  bool                       // the place of another
	waits *op.PendingWrite           // its note
}

// tx is what the edit writes, rows being the memory and those whose place it takes.
func (ed *editing) tx(ctx context.Context, rows []*stm.Row) (*stm.Tx, error) {
	ed.row = rows[0]
	again := func(text string) []string {
		return ed.e.entitiesOf(text, ed.e.opt.DetectSecrets && !ed.req.AllowSecret)
	}
	set, err := edited(ed.row, ed.req, again, ed.link)
	if err != nil {
		return nil, err
	}
	m, err := ed.row.Memory()
	if err != nil {
		return nil, err
	}
	links := make(map[string]json.RawMessage)
	others, err := ed.e.supersede(&m, ed.row, ed.olds, rows[1:], links)
	if err != nil {
		return nil, err
	}
	if len(set) > 0 {
		if ed.waits, err = ed.e.editedNote(ctx, &m, set, op.CallerFrom(ctx)); err != nil {
			return nil, err
		}
	}
	if set[contentField] != nil {
		ed.link.Project = m.Project
		ed.e.learn(ed.row, ed.link, set)
	}
	ed.took = len(links)+len(others) > 0
	maps.Copy(set, links)
	ed.set = set
	return editTx(ctx, stm.Change{ID: ed.row.ID(), Set: set, Allowed: ed.req.AllowSecret}, others), nil
}

// editTx is what an edit writes to its memory and to those whose place that takes.
func editTx(ctx context.Context, mine stm.Change, others []stm.Change) *stm.Tx {
	tx := &stm.Tx{Verb: "edit", By: op.CallerFrom(ctx)}
	if len(mine.Set) > 0 {
		tx.Changes = append(tx.Changes, mine)
	}
	tx.Changes = append(tx.Changes, others...)
	return tx
}

// changedSupersedes is what an edit changed that made a memory take the place of others.
const changedSupersedes = "supersedes"

// changedFields names what an edit wrote, without what it notes by itself.
func changedFields(set map[string]json.RawMessage) []string {
	names := make([]string, 0, len(set))
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if name != "updated_at" && name != "note_seen" && !stm.IsSourceKey(name) && !stm.IsRelationKey(name) && !stm.IsReviewKey(name) {
			names = append(names, name)
		}
	}
	return names
}

// checkRev refuses a change that is based on another revision than the one
// that holds now. No revision means whatever there is.
func checkRev(r *stm.Row, ifMatch string) error {
	if ifMatch == "" || ifMatch == r.Rev() {
		return nil
	}
	err := memory.Errorf(memory.Conflict, "memory %s was changed since; read it again and repeat the change on revision %s", r.ID(), r.Rev()).At("If-Match")
	err.Current = r.Rev()
	return err
}

// edited returns the fields that come out different, with updated_at, or
// nothing when none does. Entities that were found are found again in another text, and
// a person who writes another text of what a tool or the web said stands for it.
func edited(r *stm.Row, req *op.EditRequest, again func(text string) []string, link memory.Source) (map[string]json.RawMessage, error) {
	if err := checkRev(r, req.IfMatch); err != nil {
		return nil, err
	}
	m, err := r.Memory()
	if err != nil {
		return nil, err
	}
	before, err := fields(&m)
	if err != nil {
		return nil, err
	}
	if (m.Stage.Cold() || shortened(&m)) && req.Content != nil {
		return nil, memory.Errorf(memory.Conflict, "memory %s is %s, and what it holds is a summary of its text; bring the text back first, with emberd rekindle %s", m.ID, m.Stage, m.ID.Short()).At("content")
	}
	was := m
	if err := apply(&m, req); err != nil {
		return nil, err
	}
	if m.EntitiesFound && m.Content != was.Content {
		m.Entities = again(m.Content)
		m.EntitiesFound = len(m.Entities) > 0
	}
	if m.Content != was.Content && m.DataOnly() && confirms(link) {
		m.ConfirmedAt = link.At
	}
	if err := checkStanding(&m, was); err != nil {
		return nil, err
	}
	after, err := fields(&m)
	if err != nil {
		return nil, err
	}
	set := difference(before, after)
	if len(set) > 0 {
		set["updated_at"], err = encode(link.At)
	}
	return set, err
}

// difference returns what turns before into after; null removes. The provenance chain,
// which is stored link by link, is left to [Engine.learn].
func difference(before, after map[string]json.RawMessage) map[string]json.RawMessage {
	set := make(map[string]json.RawMessage)
	for key, value := range after {
		if !inChain(key) && !bytes.Equal(before[key], value) {
			set[key] = value
		}
	}
	for key := range before {
		if _, ok := after[key]; !ok && !inChain(key) {
			set[key] = json.RawMessage("null")
		}
	}
	return set
}

// apply carries the request over to m and checks the result.
func apply(m *memory.Memory, req *op.EditRequest) error {
	assign(&m.Content, req.Content)
	assign(&m.Source, req.Source)
	assign(&m.Context, req.Context)
	assign(&m.Category, req.Category)
	assign(&m.Type, req.Type)
	assign(&m.Section, req.Section)
	assign(&m.Confidence, req.Confidence)
	assign(&m.Importance, req.Importance)
	assign(&m.Strength, req.Strength)
	m.StrengthFound = m.StrengthFound && req.Strength == nil
	assign(&m.Core, req.Core)
	assign(&m.Collection, req.Collection)
	assign(&m.Project, req.Project)
	if m.Collection == "" {
		m.Collection = memory.DefaultCollection
	}
	if err := applyLists(m, req); err != nil {
		return err
	}
	m.Meta = mergedMeta(m.Meta, req.Meta)
	return check(m)
}

func assign[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// applyLists replaces first, then adds, then removes.
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

// mergedMeta returns meta with the keys of change set, or removed where they
// are null.
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

// editedPassages are the new texts of a request; what is in the memory already
// was scanned or allowed before.
func editedPassages(req *op.EditRequest) []passage {
	var out []passage
	for _, p := range []struct {
		field string
		text  *string
	}{{"content", req.Content}, {"context", req.Context}, {"source", req.Source},
		{"category", req.Category}, {"type", req.Type}, {"section", req.Section}, {"collection", req.Collection}, {"project", req.Project}} {
		if p.text != nil {
			out = append(out, passage{field: p.field, text: *p.text})
		}
	}
	if req.Entities != nil {
		out = appendEach(out, "entities", *req.Entities)
	}
	if req.Tags != nil {
		out = appendEach(out, "tags", *req.Tags)
	}
	return appendMeta(appendEach(out, "tags", req.AddTags), "meta", req.Meta)
}
