package data

import (
	"context"
	"slices"

	"emberd/internal/cli"
	"emberd/memory"
	"emberd/op"
)

// importPreview is what would become of the memories of a dry run, by their ids.
type importPreview map[string]string

// fateOutside is that of a memory which is no part of the import, and is there.
const fateOutside = "outside"

// coming reports whether a memory would come in.
func (f importPreview) coming(id string) bool { return f[id] == op.ImportAdded }

// there reports whether a memory is live before the import.
func (f importPreview) there(id string) bool {
	return slices.Contains([]string{op.ImportPresent, op.ImportChanged, fateOutside}, f[id])
}

// met notes what would become of a memory of a dry run.
func (r *storeImport) met(rec *op.Record, fate string) {
	if !r.opt.dryRun {
		return
	}
	if r.fates == nil {
		r.fates = make(importPreview)
	}
	r.fates[string(rec.ID)] = fate
	if fate == op.ImportAdded && r.report.FirstRecord == nil {
		r.report.FirstRecord = rec
	}
}

// foretell is a dry run: the daemon, if there is one, tells what it would do.
func (r *storeImport) foretell(ctx context.Context, memories []placed[op.Record],
	relations []placed[storeRelation]) error {
	err := r.sendMemories(ctx, memories)
	if memory.CodeOf(err) == memory.Unavailable && r.fates == nil {
		r.report.Unasked, err = true, nil
		for _, m := range memories {
			r.report.Added++
			r.met(&m.what, op.ImportAdded)
		}
	}
	if err != nil {
		return err
	}
	if err := r.findOutside(ctx, relations); err != nil {
		return err
	}
	if err := r.sendMentions(ctx, relations); err != nil {
		return err
	}
	var known []placed[storeRelation]
	for _, rel := range relations {
		from, to := rel.what.From, rel.what.To
		switch {
		case !r.fates.coming(from) && !r.fates.there(from):
			r.dangle(rel, rel.what.from)
		case !r.fates.coming(to) && !r.fates.there(to):
			r.dangle(rel, rel.what.to)
		case r.fates.coming(from) || r.fates.coming(to):
			r.report.Relations.Added++
		default:
			known = append(known, rel)
		}
	}
	for some := range slices.Chunk(known, op.MaxBatch) {
		if err := r.sendRelations(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// findOutside looks for ends of relations that are no part of the import.
func (r *storeImport) findOutside(ctx context.Context, relations []placed[storeRelation]) error {
	var ids []string
	for _, rel := range relations {
		for _, id := range []string{rel.what.From, rel.what.To} {
			if r.fates[id] == "" {
				ids = append(ids, id)
			}
		}
	}
	if r.report.Unasked {
		return nil
	}
	slices.Sort(ids)
	for some := range slices.Chunk(slices.Compact(ids), memory.MaxIDs) {
		res, err := cli.Call(ctx, r.s, op.OpenMany, &op.OpenManyRequest{IDs: some, Track: new(false),
			Relations: new(false)})
		several := memory.CodeOf(err) == memory.Ambiguous // which the relations tell of themselves
		if err != nil && !several {
			return err
		}
		for _, id := range some {
			if several || !slices.Contains(res.NotFound, id) {
				r.met(&op.Record{ID: memory.ID(id)}, fateOutside)
			}
		}
	}
	return nil
}
