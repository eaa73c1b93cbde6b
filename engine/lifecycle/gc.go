package lifecycle

import (
	"context"
	"fmt"

	"emberd/decay"
	"emberd/engine/core"
	"emberd/engine/search"
	"emberd/memory"
	"emberd/op"
	"emberd/rekindle"
	"emberd/stm"
)

const (
	// CollectBytes is the size limit of the memories deleted in one log line, which contains
	// them whole.
	CollectBytes = stm.MaxLine / 4
	maxInLine    = 1000
	maxCollected = 10_000 // maximum limit of a request
)

// Gc collects the active and demoted memories with the lowest decay scores. Those in the archive stay
// there: they cost a search nothing, and their texts are notes. So do imported ones that CortexGraph had archived
// or promoted.
func (e *Lifecycle) Gc(ctx context.Context, req *op.GCRequest) (*op.GCResult, error) {
	if err := memory.CheckRange("limit", float64(req.Limit), 0, maxCollected); err != nil {
		return nil, err
	}
	if req.ArchiveInstead {
		if err := e.Notes.NeedVault(); err != nil {
			return nil, err
		}
	}
	c := gcRun{e: e, rows: make(map[memory.ID]*stm.Row), by: op.CallerFrom(ctx)}
	c.res = op.GCResult{DryRun: search.ValueOrTrue(req.DryRun), Threshold: e.Opt.ForgetBelow, MemoryIDs: []memory.ID{}}
	due := c.due(req.Limit)
	var err error
	switch {
	case c.res.DryRun:
		for _, d := range due {
			c.collected(d.ID, d.Score)
		}
	case req.ArchiveInstead:
		err = c.archiveAll(ctx, due)
	default:
		err = c.removeAll(ctx, due)
	}
	if err != nil && c.res.Tx == "" {
		return nil, err
	}
	c.finish(req.ArchiveInstead, err)
	return &c.res, nil
}

// gcRun is one collection.
type gcRun struct {
	e    *Lifecycle
	by   memory.Actor
	rows map[memory.ID]*stm.Row // as they were when listed
	n    int
	res  op.GCResult
}

// due returns the memories to collect, lowest score first.
func (c *gcRun) due(limit int) []decay.Candidate {
	now := c.e.Opt.Now()
	var all []decay.Candidate
	for r := range c.e.Stm.Rows() {
		if r.Stage().Cold() {
			continue
		}
		if score := c.e.Score(r, now); score < c.res.Threshold && (r.Promoted() || core.RowStatus(r) == "active") {
			all = append(all, decay.Candidate{ID: string(r.ID()), Score: score, Core: r.Core(), Promoted: r.Promoted()})
			c.rows[r.ID()] = r
		}
	}
	return decay.Collect(all, c.res.Threshold, limit)
}

// collected counts a memory.
func (c *gcRun) collected(id string, score float64) {
	c.n++
	c.res.FreedScoreSum += score
	c.res.MemoryIDs = append(c.res.MemoryIDs, memory.ID(id))
}

func (c *gcRun) skip(id memory.ID, why string) { c.res.Skipped = Skipped(c.res.Skipped, id, why) }

// archiveAll archives the memories.
func (c *gcRun) archiveAll(ctx context.Context, due []decay.Candidate) error {
	var moves []rekindle.Move
	scores := make(map[memory.ID]float64)
	for _, d := range due {
		r := c.rows[memory.ID(d.ID)]
		scores[r.ID()] = d.Score
		moves = append(moves, rekindle.Move{ID: r.ID(), From: r.Stage(), To: memory.Archived, Used: stm.LastTouched(r)})
	}
	got, err := c.e.Archive(ctx, moves, core.GcVerb, c.by, "")
	c.res.Tx = got.Entry
	for _, s := range got.Skipped {
		c.skip(s.ID, s.Reason)
	}
	for _, id := range got.Done {
		c.collected(string(id), scores[id])
	}
	return err
}

// removeAll moves the memories to the trash, as many at a time as one log line can contain.
func (c *gcRun) removeAll(ctx context.Context, due []decay.Candidate) error {
	for all := len(due); len(due) > 0; {
		n, size := 0, 0
		for n < min(len(due), maxInLine) && (n == 0 || size < CollectBytes) {
			for key, value := range c.rows[memory.ID(due[n].ID)].Fields() {
				size += len(key) + len(value)
			}
			n++
		}
		if err := c.remove(ctx, due[:n]); err != nil {
			return err
		}
		due = due[n:]
		op.Report(ctx, all-len(due), all)
	}
	return nil
}

func (c *gcRun) remove(ctx context.Context, due []decay.Candidate) error {
	ids := make([]memory.ID, len(due))
	for i, d := range due {
		ids[i] = memory.ID(d.ID)
	}
	var gone []decay.Candidate
	receipt, err := c.e.Stm.Update(ctx, ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		tx := &stm.Tx{Verb: core.GcVerb, By: c.by, Entry: c.res.Tx}
		for i, r := range rows {
			if why := c.changed(r, ids[i]); why != "" {
				c.skip(ids[i], why)
				continue
			}
			gone = append(gone, due[i])
			tx.Changes = append(tx.Changes, stm.Change{ID: ids[i], Delete: true})
		}
		return tx, nil
	})
	if err != nil {
		return err
	}
	if receipt.Entry != "" {
		c.res.Tx = receipt.Entry
	}
	for _, d := range gone {
		c.collected(d.ID, d.Score)
	}
	return nil
}

// changed returns why a memory is not collected after all.
func (c *gcRun) changed(r *stm.Row, id memory.ID) string {
	switch {
	case r == nil:
		return "the memory was deleted in the meantime"
	case r.Rev() != c.rows[id].Rev() || !r.LastUsed().Equal(c.rows[id].LastUsed()):
		return "the memory was used or changed in the meantime"
	}
	return ""
}

// finish completes the result in the words of CortexGraph.
func (c *gcRun) finish(archived bool, err error) {
	res, verb := &c.res, "remove"
	res.TotalAffected = c.n
	if archived {
		res.ArchivedCount, verb = c.n, "archive"
	} else {
		res.RemovedCount = c.n
	}
	did := map[string]string{"remove": "Removed", "archive": "Archived"}[verb]
	if res.DryRun {
		did = "Would " + verb
	}
	res.Message = fmt.Sprintf("%s %d low-scoring %s (threshold: %v)", did, c.n, memories(c.n), res.Threshold)
	if err != nil {
		res.Message += "; interrupted: " + err.Error()
	}
}
