package health

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"emberd/engine/core"
	"emberd/engine/memories"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// MigrateAtOnce is how many records one log line migrates, at about 350 bytes each;
// migrateBytes is the limit of their meta, a part of which moves.
const (
	MigrateAtOnce = 2_000
	migrateBytes  = 1 << 20
)

// outdated returns the fields that a record of another system lacks or has in its meta only,
// nil if there are none or the record is emberd's own. At the same clock it always returns the
// same.
func outdated(r *stm.Row, now time.Time) map[string]json.RawMessage {
	if !r.Imported() {
		return nil
	}
	set := make(map[string]json.RawMessage)
	if r.LastAccessed().IsZero() {
		set["last_accessed_ts"], _ = core.Encode(r.CreatedAt()) // times always encode
	}
	if !r.Has("session_id") {
		set["session_id"] = json.RawMessage(`"` + migratedFrom + `"`)
	}
	if !r.Has("embedding_version") {
		set["embedding_version"] = json.RawMessage(`"` + migratedVersion + `"`)
	}
	memories.MoveMeta(r, set, now)
	if len(set) == 0 {
		return nil
	}
	return set
}

// batch returns how many records fit one log line.
func (e *Health) batch(due []memory.ID) int {
	size := 0
	for i, id := range due[:min(len(due), MigrateAtOnce)] {
		if r, live := e.Stm.Get(id); live {
			size += len(r.Value("meta"))
		}
		if size > migrateBytes {
			return max(1, i)
		}
	}
	return min(len(due), MigrateAtOnce)
}

// Migrate adds the fields of the specification "adaptive memory health" to old records, as one
// change of several log lines. If a line fails, those before it stay, and the next call
// continues.
func (e *Health) Migrate(ctx context.Context, req *op.MigrateRequest) (*op.MigrateResult, error) {
	s, err := e.scopeOf(req.Collection, memory.DefaultCollection)
	if err != nil {
		return nil, err
	}
	res, now := &op.MigrateResult{Collection: s.name}, e.Opt.Now()
	var due []memory.ID
	for r := range e.Stm.Rows() {
		if !s.has(r) {
			continue
		}
		if res.TotalVectors++; outdated(r, now) != nil {
			due = append(due, r.ID())
		}
	}
	if res.TotalVectors == 0 {
		res.Message = fmt.Sprintf("Collection '%s' is empty, no migration needed", s.name)
		return res, s.checkExists(0)
	}
	for done := 0; done < len(due); {
		op.Report(ctx, done, len(due))
		some := due[done : done+e.batch(due[done:])]
		if err := e.migrateSome(ctx, some, res); err != nil {
			return nil, err
		}
		done += len(some)
	}
	if res.Skipped = res.TotalVectors - res.Migrated; res.Migrated > 0 {
		e.Reports.outdated()
		e.Opt.Logger.Info("old records migrated", "collection", s.name, "records", res.Migrated)
	}
	return res, nil
}

func (e *Health) migrateSome(ctx context.Context, ids []memory.ID, res *op.MigrateResult) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	n := 0
	receipt, err := e.Stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		tx := &stm.Tx{Verb: migrateVerb, By: op.CallerFrom(ctx), Entry: res.Tx}
		for i, r := range rows {
			if r == nil {
				continue
			}
			if set := outdated(r, e.Opt.Now()); set != nil {
				tx.Changes = append(tx.Changes, stm.Change{ID: ids[i], Set: set})
			}
		}
		n = len(tx.Changes)
		return tx, nil
	})
	if err != nil {
		return err
	}
	if receipt.Entry != "" {
		res.Tx = receipt.Entry
	}
	res.Migrated += n
	return nil
}
