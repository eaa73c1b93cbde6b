package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// One line of the log brings up to date so many records, some 350 bytes each, unless their
// meta, of which a part moves, makes them longer.
const (
	migrateAtOnce = 2_000
	migrateBytes  = 1 << 20
)

// outdated are the fields that a record of another system lacks, or has in its meta only,
// nil if there are none or it is of this one, where a search, the clock and the vectors
// say the same whenever asked.
func outdated(r *stm.Row, now time.Time) map[string]json.RawMessage {
	if !r.Imported() {
		return nil
	}
	set := make(map[string]json.RawMessage)
	if r.LastAccessed().IsZero() {
		set["last_accessed_ts"], _ = encode(r.CreatedAt()) // times always encode
	}
	if !r.Has("session_id") {
		set["session_id"] = json.RawMessage(`"` + migratedFrom + `"`)
	}
	if !r.Has("embedding_version") {
		set["embedding_version"] = json.RawMessage(`"` + migratedVersion + `"`)
	}
	lifted(r, set, now)
	if len(set) == 0 {
		return nil
	}
	return set
}

// batch is how many of what is due fit into one line of the log.
func (e *Engine) batch(due []memory.ID) int {
	size := 0
	for i, id := range due[:min(len(due), migrateAtOnce)] {
		if r, live := e.stm.Get(id); live {
			size += len(r.Value("meta"))
		}
		if size > migrateBytes {
			return max(1, i)
		}
	}
	return min(len(due), migrateAtOnce)
}

// migrate gives old records the fields that the specification "adaptive memory health"
// added, in lines of the log that are one journal entry. When a line fails, those before
// it stand, and the next call goes on.
func (e *Engine) migrate(ctx context.Context, req *op.MigrateRequest) (*op.MigrateResult, error) {
	s, err := e.scopeOf(req.Collection, memory.DefaultCollection)
	if err != nil {
		return nil, err
	}
	res, now := &op.MigrateResult{Collection: s.name}, e.opt.Now()
	var due []memory.ID
	for r := range e.stm.Rows() {
		if !s.has(r) {
			continue
		}
		if res.TotalVectors++; outdated(r, now) != nil {
			due = append(due, r.ID())
		}
	}
	if res.TotalVectors == 0 {
		res.Message = fmt.Sprintf("Collection '%s' is empty, no migration needed", s.name)
		return res, s.known(0)
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
		e.reports.outdated()
	}
	return res, nil
}

func (e *Engine) migrateSome(ctx context.Context, ids []memory.ID, res *op.MigrateResult) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	n := 0
	receipt, err := e.stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		tx := &stm.Tx{Verb: migrateVerb, By: op.CallerFrom(ctx), Entry: res.Tx}
		for i, r := range rows {
			if r == nil {
				continue
			}
			if set := outdated(r, e.opt.Now()); set != nil {
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
