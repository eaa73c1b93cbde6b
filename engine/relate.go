package engine

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// The journal's words for relations that are made and removed.
const (
	relateVerb   = "relate"
	unrelateVerb = "unrelate"
)

// wanted is a relation on its way, or why it cannot be.
type wanted struct {
	memory.Relation
	value json.RawMessage
	there bool // before, so that err says so
	err   error
}

func (w *wanted) size() int { return len(w.ID) + len(w.value) }

// relate makes one relation. It is no edit of the memory that it starts at: neither
// the time of its last change nor its note changes.
func (e *Engine) relate(ctx context.Context, req *op.RelateRequest) (*op.RelateResult, error) {
	made, tx, err := e.relateAll(ctx, &op.RelateBatchRequest{Items: []op.RelateRequest{*req}})
	if err == nil {
		err = made[0].err
	}
	if err != nil {
		return nil, err
	}
	return &op.RelateResult{Relation: made[0].Relation, Tx: tx}, nil
}

// relateBatch makes the relations that can be made under one journal entry and answers
// each item in its place.
func (e *Engine) relateBatch(ctx context.Context, req *op.RelateBatchRequest) (*op.RelateBatchResult, error) {
	switch n := len(req.Items); {
	case n > op.MaxBatch:
		return nil, memory.Errorf(memory.TooLarge, "the batch has %d relations, more than %d; send it in parts", n, op.MaxBatch).At("items")
	case n == 0:
		return nil, memory.Errorf(memory.Invalid, "the batch has no relations; give at least one").At("items")
	}
	if err := e.joins(req.Tx); err != nil {
		return nil, err
	}
	made, tx, err := e.relateAll(ctx, req)
	if err != nil {
		return nil, err
	}
	res := &op.RelateBatchResult{Tx: tx, Results: make([]op.RelateBatchAnswer, len(made))}
	for i, w := range made {
		if w.err == nil || w.there {
			res.Results[i].ID = w.ID
		}
		if w.err != nil {
			res.Results[i].Error = problem(w.err)
		}
	}
	return res, nil
}

// relateAll writes the log in a few transactions of one entry, that of the request if it
// names one, and in a dry run not at all. When the first fails, nothing is made and all fails
// with it; when a later one does, what came before stays, and the relations from there on
// tell the error.
func (e *Engine) relateAll(ctx context.Context, req *op.RelateBatchRequest) (all []wanted, tx string, err error) {
	tx = req.Tx
	written := false
	all = make([]wanted, len(req.Items))
	var good []*wanted
	now := stampTime(e.opt.Now())
	for i := range req.Items {
		w := &all[i]
		if w.err = e.want(w, &req.Items[i], now); w.err == nil {
			good = append(good, w)
		}
	}
	for len(good) > 0 {
		n, size := 0, 0
		for n < len(good) && (n == 0 || size+good[n].size() <= chunkBytes) {
			size += good[n].size()
			n++
		}
		receipt, err := e.relateSome(ctx, good[:n], tx, req.DryRun)
		if err != nil && !written {
			return nil, "", err
		}
		if err != nil {
			for _, w := range good {
				w.err = err
			}
			break
		}
		if receipt.Entry != "" {
			tx, written = receipt.Entry, true
		}
		good = good[n:]
	}
	return all, tx, nil
}

// want checks what a relation says of itself.
func (e *Engine) want(w *wanted, req *op.RelateRequest, now time.Time) (err error) {
	w.Relation = memory.Relation{Type: req.Type, Kind: req.Kind, Strength: valueOr(req.Strength, 1), CreatedAt: now, Metadata: req.Metadata}
	if !req.CreatedAt.IsZero() {
		w.CreatedAt = stampTime(req.CreatedAt)
	}
	if err := checkTime("created_at", w.CreatedAt, now); err != nil {
		return err
	}
	if w.From, err = e.end(req.From, "from"); err != nil {
		return err
	}
	if w.To, err = e.end(req.To, "to"); err != nil {
		return err
	}
	w.ID = memory.RelationID(w.From, w.To, w.Type, w.Kind)
	if err := checkRelation(&w.Relation); err != nil {
		return err
	}
	if e.opt.DetectSecrets && !req.AllowSecret {
		if err := checkSecrets(appendMeta([]passage{{field: "kind", text: req.Kind}}, "metadata", req.Metadata)); err != nil {
			return err
		}
	}
	w.value, err = stm.RelationValue(&w.Relation)
	return err
}

// end is the id that one end of a relation names.
func (e *Engine) end(text, field string) (memory.ID, error) {
	if strings.TrimSpace(text) == "" {
		return "", memory.Errorf(memory.Invalid, "%s is empty; give the id of a memory", field).At(field)
	}
	id, err := e.stm.Resolve(text)
	return id, about(err, field)
}

// about says of an error which field of the request it is about.
func about(err error, field string) error {
	if typed, ok := err.(*memory.Error); ok {
		return typed.At(field)
	}
	return err
}

// checkRelation refuses a relation with a field out of bounds.
func checkRelation(r *memory.Relation) error {
	return firstError(
		memory.CheckRelationType(r.Type),
		memory.CheckText("kind", r.Kind, memory.MaxKind),
		memory.CheckRange("strength", r.Strength, 0, 1),
		checkObject("metadata", r.Metadata, memory.MaxRelationMetaBytes),
	)
}

// relateSome makes relations in one transaction, less those that cannot be, and says
// why of these.
func (e *Engine) relateSome(ctx context.Context, some []*wanted, entry string, dry bool) (stm.Receipt, error) {
	var ids []memory.ID
	for _, w := range some {
		ids = append(ids, w.From, w.To)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return e.stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		g := growth{e: e, ends: make(map[memory.ID]*growing)}
		for i, id := range ids {
			g.ends[id] = &growing{row: rows[i]}
		}
		for _, w := range some {
			w.there, w.err = g.add(w)
		}
		if dry {
			return nil, nil
		}
		tx := &stm.Tx{Verb: relateVerb, By: op.CallerFrom(ctx), Entry: entry}
		for _, id := range ids {
			if set := g.ends[id].set; len(set) > 0 {
				tx.Changes = append(tx.Changes, stm.Change{ID: id, Set: set, Allowed: true})
			}
		}
		return tx, nil
	})
}

// growth is what a transaction adds to memories. Its locks are held.
type growth struct {
	e    *Engine
	ends map[memory.ID]*growing
}

// growing is one memory, nil if it is not live, and the relations it gets.
type growing struct {
	row   *stm.Row
	set   map[string]json.RawMessage
	bytes int // of all relations that start at it, once set is made
}

// add adds a relation, unless there is reason not to.
func (g *growth) add(w *wanted) (there bool, err error) {
	from, key := g.ends[w.From], stm.RelationKey(w.ID)
	switch {
	case from.row == nil:
		return false, about(g.e.missing(w.From), "from")
	case g.ends[w.To].row == nil:
		return false, about(g.e.missing(w.To), "to")
	case from.row.Has(key) || from.set[key] != nil:
		err := memory.Errorf(memory.Conflict, "memory %s has this relation to %s already, as %s; remove that one first, or use another type", w.From, w.To, w.ID).At("type")
		err.Current = w.ID
		return true, err
	}
	from.begin()
	if isSupersession(&w.Relation) {
		if err := g.e.mayTake(from.row, g.ends[w.To].row); err != nil {
			return false, err
		}
	}
	if from.bytes+w.size() > memory.MaxRelationsBytes {
		return false, memory.Errorf(memory.TooLarge, "the relations of memory %s have %d bytes, and may not have more than %d; remove some, or let this one start at the other memory",
			w.From, from.bytes, memory.MaxRelationsBytes).At("from")
	}
	from.set[key] = w.value
	from.bytes += w.size()
	if isSupersession(&w.Relation) {
		to := g.ends[w.To]
		to.begin()
		maps.Copy(to.set, g.e.placeTaken(w.From))
	}
	return false, nil
}

// begin makes room for what a memory gets.
func (g *growing) begin() {
	if g.set == nil {
		g.set, g.bytes = make(map[string]json.RawMessage), g.row.RelationBytes()
	}
}

// unrelate removes relations, all of them or none.
func (e *Engine) unrelate(ctx context.Context, req *op.UnrelateRequest) (*op.UnrelateResult, error) {
	shorts := strings.Split(req.ID, ",")
	if n := len(shorts); n > memory.MaxIDs {
		return nil, memory.Errorf(memory.TooLarge, "%d ids are given, more than %d; do it in parts", n, memory.MaxIDs).At("id")
	}
	gone, err := e.stm.ResolveRelations(shorts)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(gone, func(a, b memory.Relation) int { return strings.Compare(a.ID, b.ID) })
	gone = slices.CompactFunc(gone, func(a, b memory.Relation) bool { return a.ID == b.ID })
	sets := make(map[memory.ID]map[string]json.RawMessage)
	var ids []memory.ID
	for _, r := range gone {
		if sets[r.From] == nil {
			sets[r.From] = make(map[string]json.RawMessage)
			ids = append(ids, r.From)
		}
		sets[r.From][stm.RelationKey(r.ID)] = json.RawMessage("null")
	}
	for _, r := range gone {
		if isSupersession(&r) && !slices.Contains(ids, r.To) {
			ids = append(ids, r.To)
		}
	}
	receipt, err := e.stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		tx := &stm.Tx{Verb: unrelateVerb, By: op.CallerFrom(ctx)}
		for i, id := range ids {
			for key := range sets[id] {
				if rows[i] == nil || !rows[i].Has(key) {
					return nil, memory.Errorf(memory.Conflict, "one of the relations of memory %s went just now; list them again with emberd show %s", id, id.Short()).At("id")
				}
			}
			set := make(map[string]json.RawMessage)
			maps.Copy(set, sets[id])
			if rows[i] != nil {
				maps.Copy(set, e.placeBack(rows[i], gone))
			}
			if len(set) > 0 {
				tx.Changes = append(tx.Changes, stm.Change{ID: id, Set: set})
			}
		}
		return tx, nil
	})
	return &op.UnrelateResult{Removed: gone, Tx: receipt.Entry}, err
}
