package memories

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Journal verbs of relations.
const (
	RelateVerb   = "relate"
	UnrelateVerb = "unrelate"
)

// RelationRequest is a relation to create, or the reason why it cannot be.
type RelationRequest struct {
	memory.Relation
	Value json.RawMessage
	there bool // it existed before; Err has that
	Err   error
}

func (w *RelationRequest) size() int { return len(w.ID) + len(w.Value) }

// Relate creates one relation. It does not count as an edit of the first memory: neither its
// update time nor its note changes.
func (e *Memories) Relate(ctx context.Context, req *op.RelateRequest) (*op.RelateResult, error) {
	made, tx, err := e.RelateAll(ctx, &op.RelateBatchRequest{Items: []op.RelateRequest{*req}})
	if err == nil {
		err = made[0].Err
	}
	if err != nil {
		return nil, err
	}
	return &op.RelateResult{Relation: made[0].Relation, Tx: tx}, nil
}

// RelateBatch creates the valid relations as one change, and returns one answer for each item,
// in order.
func (e *Memories) RelateBatch(ctx context.Context, req *op.RelateBatchRequest) (*op.RelateBatchResult, error) {
	if err := core.FirstError(core.CheckBatch(len(req.Items), "relations", "items"), e.Joins(req.Tx)); err != nil {
		return nil, err
	}
	made, tx, err := e.RelateAll(ctx, req)
	if err != nil {
		return nil, err
	}
	res := &op.RelateBatchResult{Tx: tx, Results: make([]op.RelateBatchAnswer, len(made))}
	for i, w := range made {
		if w.Err == nil || w.there {
			res.Results[i].ID = w.ID
		}
		if w.Err != nil {
			res.Results[i].Error = op.ProblemOf(w.Err)
		}
	}
	return res, nil
}

// RelateAll writes the relations in a few transactions of one change, that of the request if
// it names one; in a dry run it writes none. If the first fails, all fail. If a later one
// fails, the earlier ones stay, and the remaining relations get the error.
func (e *Memories) RelateAll(ctx context.Context,
	req *op.RelateBatchRequest) (all []RelationRequest, tx string, err error) {
	tx = req.Tx
	written := false
	all = make([]RelationRequest, len(req.Items))
	var good []*RelationRequest
	now := core.StampTime(e.Opt.Now())
	for i := range req.Items {
		w := &all[i]
		if w.Err = e.checkRelationRequest(w, &req.Items[i], now); w.Err == nil {
			good = append(good, w)
		}
	}
	for len(good) > 0 {
		n, size := 0, 0
		for n < len(good) && (n == 0 || size+good[n].size() <= core.ChunkBytes) {
			size += good[n].size()
			n++
		}
		receipt, err := e.relateSome(ctx, good[:n], tx, req.DryRun)
		if err != nil && !written {
			return nil, "", err
		}
		if err != nil {
			for _, w := range good {
				w.Err = err
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

// checkRelationRequest checks the fields of a relation.
func (e *Memories) checkRelationRequest(w *RelationRequest, req *op.RelateRequest, now time.Time) (err error) {
	w.Relation = memory.Relation{Type: req.Type, Kind: req.Kind, Strength: core.ValueOr(req.Strength, 1),
		CreatedAt: now, Metadata: req.Metadata}
	if !req.CreatedAt.IsZero() {
		w.CreatedAt = core.StampTime(req.CreatedAt)
	}
	if err := core.CheckTime("created_at", w.CreatedAt, now); err != nil {
		return err
	}
	if w.From, err = e.End(req.From, "from"); err != nil {
		return err
	}
	if w.To, err = e.End(req.To, "to"); err != nil {
		return err
	}
	w.ID = memory.RelationID(w.From, w.To, w.Type, w.Kind)
	if err := core.CheckRelation(&w.Relation); err != nil {
		return err
	}
	if e.Opt.DetectSecrets && !req.AllowSecret {
		if err := core.CheckSecrets(core.AppendMeta([]core.Passage{{Field: "kind", Text: req.Kind}}, "metadata",
			req.Metadata)); err != nil {
			return err
		}
	}
	w.Value, err = stm.RelationValue(&w.Relation)
	return err
}

// relateSome creates relations in one transaction, and sets the error of those that it leaves
// out.
func (e *Memories) relateSome(ctx context.Context, some []*RelationRequest, entry string,
	dry bool) (stm.Receipt, error) {
	var ids []memory.ID
	for _, w := range some {
		ids = append(ids, w.From, w.To)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return e.Stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		g := e.NewTxBuilder(ids, rows)
		for _, w := range some {
			w.there, w.Err = g.Add(w)
		}
		if dry {
			return nil, nil
		}
		tx := &stm.Tx{Verb: RelateVerb, By: op.CallerFrom(ctx), Entry: entry, Changes: g.Changes()}
		for i := range tx.Changes {
			tx.Changes[i].Allowed = true
		}
		return tx, nil
	})
}

// NewRelationRequest returns a relation to create, with its ID.
func NewRelationRequest(r memory.Relation) (*RelationRequest, error) {
	r.ID = memory.RelationID(r.From, r.To, r.Type, r.Kind)
	value, err := stm.RelationValue(&r)
	return &RelationRequest{Relation: r, Value: value}, err
}

// TxBuilder collects the changes of a transaction. The caller has locked the memories.
type TxBuilder struct {
	E    *Memories
	ids  []memory.ID
	Ends map[memory.ID]*TxMemory
}

// NewTxBuilder returns a builder for locked memories; the row of a deleted one is nil.
func (e *Memories) NewTxBuilder(ids []memory.ID, rows []*stm.Row) *TxBuilder {
	g := &TxBuilder{E: e, ids: ids, Ends: make(map[memory.ID]*TxMemory, len(ids))}
	for i, id := range ids {
		g.Ends[id] = &TxMemory{Row: rows[i]}
	}
	return g
}

// Changes returns the changes of the memories, in the order of their IDs.
func (g *TxBuilder) Changes() (out []stm.Change) {
	for _, id := range g.ids {
		if set := g.Ends[id].Set; len(set) > 0 {
			out = append(out, stm.Change{ID: id, Set: set})
		}
	}
	return out
}

// Related reports whether a memory had a relation of type related, without a kind, to another.
func (g *TxBuilder) Related(from, to memory.ID) bool {
	row := g.Ends[from].Row
	return row != nil && row.Has(stm.RelationKey(memory.RelationID(from, to, memory.Related, "")))
}

// TxMemory is one memory, nil if it is not live, and the relations that it gets.
type TxMemory struct {
	Row   *stm.Row
	Set   map[string]json.RawMessage
	bytes int // size of all relations that start at it, once Set is made
}

// Add adds a relation, or returns why it cannot be added.
func (g *TxBuilder) Add(w *RelationRequest) (there bool, err error) {
	from, key := g.Ends[w.From], stm.RelationKey(w.ID)
	switch {
	case from.Row == nil:
		return false, core.About(g.E.Missing(w.From), "from")
	case g.Ends[w.To].Row == nil:
		return false, core.About(g.E.Missing(w.To), "to")
	case from.Row.Has(key) || from.Set[key] != nil:
		err := memory.Errorf(memory.Conflict, "a relation of this type from memory %s to memory %s already "+
			"exists: %s; remove that relation first, or use another type", w.From, w.To, w.ID).At("type")
		err.Current = w.ID
		return true, err
	}
	from.begin()
	if w.Relation.IsSupersession() {
		if err := g.E.Similar.CheckSupersede(from.Row, g.Ends[w.To].Row); err != nil {
			return false, err
		}
	}
	if from.bytes+w.size() > memory.MaxRelationsBytes {
		return false,
			memory.Errorf(memory.TooLarge, "cannot create the relation: the relations of memory %s already have %d "+
				"bytes (limit %d); remove relations, or create the relation from the other memory", w.From, from.bytes,
				memory.MaxRelationsBytes).At("from")
	}
	from.Set[key] = w.Value
	from.bytes += w.size()
	if w.Relation.IsSupersession() {
		to := g.Ends[w.To]
		to.begin()
		maps.Copy(to.Set, g.E.Similar.PlaceTaken(w.From))
	}
	return false, nil
}

// begin prepares Set.
func (g *TxMemory) begin() {
	if g.Set == nil {
		g.Set, g.bytes = make(map[string]json.RawMessage), g.Row.RelationBytes()
	}
}

// Unrelate removes relations, all of them or none.
func (e *Memories) Unrelate(ctx context.Context, req *op.UnrelateRequest) (*op.UnrelateResult, error) {
	shorts := strings.Split(req.ID, ",")
	if n := len(shorts); n > memory.MaxIDs {
		return nil, memory.Errorf(memory.TooLarge, "too many IDs: %d (limit %d); split the request", n,
			memory.MaxIDs).At("id")
	}
	gone, err := e.Stm.ResolveRelations(shorts)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(gone, func(a, b memory.Relation) int { return strings.Compare(a.ID, b.ID) })
	gone = slices.CompactFunc(gone, func(a, b memory.Relation) bool { return a.ID == b.ID })
	tx, err := RemoveRelations(ctx, e, gone, "")
	return &op.UnrelateResult{Removed: gone, Tx: tx}, err
}

// RemoveRelations removes relations, all of them or none, in the change entry, a new one if that is "". The
// relations must be sorted by ID, each there once.
func RemoveRelations(ctx context.Context, e *Memories, gone []memory.Relation, entry string) (tx string, err error) {
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
		if r.IsSupersession() && !slices.Contains(ids, r.To) {
			ids = append(ids, r.To)
		}
	}
	receipt, err := e.Stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		tx := &stm.Tx{Verb: UnrelateVerb, By: op.CallerFrom(ctx), Entry: entry}
		for i, id := range ids {
			for key := range sets[id] {
				if rows[i] == nil || !rows[i].Has(key) {
					return nil, memory.Errorf(memory.Conflict, "a relation of memory %s was removed in the "+
						"meantime; to list its relations, run: emberd show %s", id, id.Short()).At("id")
				}
			}
			set := make(map[string]json.RawMessage)
			maps.Copy(set, sets[id])
			if rows[i] != nil {
				maps.Copy(set, e.Similar.RestorePlace(rows[i], gone))
			}
			if len(set) > 0 {
				tx.Changes = append(tx.Changes, stm.Change{ID: id, Set: set})
			}
		}
		return tx, nil
	})
	return receipt.Entry, err
}
