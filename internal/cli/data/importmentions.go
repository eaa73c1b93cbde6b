package data

import (
	"cmp"
	"context"
	"slices"
	"time"

	"emberd/internal/cli"
	"emberd/internal/refgraph"
	"emberd/memory"
	"emberd/op"
)

// sendMentions makes the memories of names that only relations have. A relation whose name could not be made has a
// missing end, which the report shows.
func (r *storeImport) sendMentions(ctx context.Context, relations []placed[storeRelation]) error {
	if r.mention == nil {
		return nil
	}
	for some := range slices.Chunk(r.mentions(relations), op.MaxBatch) {
		if r.report.Unasked {
			r.metMentions(some, make([]op.ImportAnswer, len(some)))
			continue
		}
		res, err := cli.Call(ctx, r.s, op.Import, &op.ImportRequest{Tx: r.report.Tx, Again: r.opt.again, Foreign: true,
			AllowSecret: r.opt.allow, DryRun: r.opt.dryRun, Records: some})
		if err != nil {
			return r.unfinished(err)
		}
		r.report.Tx = cmp.Or(r.report.Tx, res.Tx)
		r.metMentions(some, res.Results)
	}
	return nil
}

func (r *storeImport) metMentions(some []op.Record, answers []op.ImportAnswer) {
	for i, a := range answers {
		fate := cmp.Or(a.Fate, op.ImportAdded)
		if fate == op.ImportAdded {
			r.report.Relations.Mentions++
		}
		r.met(&some[i], fate)
	}
}

// mentions returns the memories of names of relations that the import has no entity of.
func (r *storeImport) mentions(relations []placed[storeRelation]) (out []op.Record) {
	seen := make(map[string]bool)
	for _, rel := range relations {
		for _, name := range []string{rel.what.from, rel.what.to} {
			if _, here := r.memories.byID[name]; here || seen[name] {
				continue
			}
			seen[name] = true
			if rec, err := r.mention(name); err == nil && r.fates[string(rec.ID)] == "" {
				out = append(out, rec)
			}
		}
	}
	return out
}

// keptRecord is a record of a memory that existed before the import, which left it as it is.
type keptRecord struct {
	*op.Record
	fate string
}

// createMentioned makes entities of those that existed as names of relations only.
func (r *storeImport) createMentioned(ctx context.Context, kept []keptRecord) error {
	if r.mention == nil || r.opt.dryRun {
		return nil
	}
	for some := range slices.Chunk(kept, memory.MaxIDs) {
		req := &op.OpenManyRequest{Track: new(false), Relations: new(false)}
		for _, k := range some {
			req.IDs = append(req.IDs, string(k.ID))
		}
		res, err := cli.Call(ctx, r.s, op.OpenMany, req)
		if err != nil {
			return r.unfinished(err)
		}
		for i := range res.Memories {
			m := &res.Memories[i].Memory
			at := slices.IndexFunc(some, func(k keptRecord) bool { return k.ID == m.ID })
			if at < 0 || !refgraph.Mentioned(&m.Memory) {
				continue
			}
			if err := r.createEntity(ctx, m, some[at]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *storeImport) createEntity(ctx context.Context, m *op.Memory, k keptRecord) error {
	e, err := entityOfRecord(k.Record)
	if err != nil {
		return err
	}
	place := slices.Index(r.memories.order, e.Name) // as entityRecordOf has it
	req := e.Created(r.now.Add(time.Duration(place)*time.Millisecond), 0)
	req.ID, req.IfMatch, req.AllowSecret = string(m.ID), m.Rev, r.opt.allow
	if _, err := cli.Call(ctx, r.s, op.Edit, req); err != nil {
		return r.unfinished(err)
	}
	if r.report.Added++; k.fate == op.ImportPresent {
		r.report.Present--
	} else {
		r.report.Changed--
	}
	return nil
}
