package health

import (
	"cmp"
	"context"
	"fmt"

	"emberd/engine/core"
	"emberd/engine/lifecycle"
	"emberd/engine/merge"
	"emberd/internal/dedupe"
	"emberd/internal/dedupe/contradiction"
	"emberd/internal/dedupe/similarity"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// HealthMerge keeps one of two memories, with the counts, confidence and relations of both,
// and moves the other to the trash, in one log line. The kept text does not change. If the
// request does not name the memory to keep and the other one contains more, nothing changes: a
// review item asks the user to decide.
func (e *Health) HealthMerge(ctx context.Context, req *op.HealthMergeRequest) (*op.HealthMergeResult, error) {
	two, err := e.findBoth(req)
	if err != nil {
		return nil, err
	}
	k, err := e.chooseKept(req, two)
	if err != nil {
		return nil, err
	}
	if why := k.lossReason(ctx); why != "" && req.Keep != op.KeepFirst && req.Keep != op.KeepSecond {
		return nil, k.fileForReview(ctx, why)
	}
	m := merge.MergeRun{Merge: e.Merge, Archiver: lifecycle.Archiver{E: e.Lifecycle, By: op.CallerFrom(ctx)},
		Rows:  []*stm.Row{k.kept, k.other},
		Rules: dedupe.Rules{Into: k.kept.ID(), Trash: true}}
	receipt, err := m.Apply(ctx, MergeVerb, "")
	if err != nil {
		return nil, err
	}
	e.Reports.outdated()
	kept := receipt.Rows[0]
	e.Opt.Logger.Info("merged two memories", "kept", kept.ID(), "discarded", k.other.ID())
	related, err := e.relatedMemories(kept)
	return &op.HealthMergeResult{KeptID: kept.ID(), DiscardedID: k.other.ID(), NewAccessCount: kept.AccessCount(),
		NewConfidence: kept.Confidence(), RelatedMemories: related, Tx: receipt.Entry}, err
}

// findBoth returns the two memories of a request, in its order.
func (e *Health) findBoth(req *op.HealthMergeRequest) (two [2]*stm.Row, err error) {
	s, err := e.scopeOf(req.Collection, memory.DefaultCollection)
	if err != nil {
		return two, err
	}
	for i, text := range []string{req.ID1, req.ID2} {
		field := [...]string{"id1", "id2"}[i]
		id, err := e.End(text, field)
		if err != nil {
			return two, err
		}
		row, live := e.Stm.Get(id)
		switch {
		case !live:
			return two, core.About(e.Missing(id), field)
		case !s.has(row):
			return two, memory.Errorf(memory.NotFound,
				"memory %s is in collection %q, not in %q; use the collection of the memory, or all", id,
				row.Collection(), s.name).At(field)
		}
		two[i] = row
	}
	if two[0].ID() == two[1].ID() {
		return two, memory.Errorf(memory.Invalid, "id1 and id2 are the same memory, %s; use two different memories",
			two[0].ID()).At("id2")
	}
	return two, nil
}

// twoMemories are a memory to keep and one to remove.
type twoMemories struct {
	e           *Health
	kept, other *stm.Row
	decoded     [2]memory.Memory // both, the kept one first
}

// chooseKept chooses the memory to keep. It returns an error if one of the two cannot be removed,
// or kept.
func (e *Health) chooseKept(req *op.HealthMergeRequest, two [2]*stm.Row) (*twoMemories, error) {
	first := true
	switch cmp.Or(req.Keep, op.KeepHigherConfidence) {
	case op.KeepHigherConfidence:
		first = two[0].Confidence() >= two[1].Confidence()
	case op.KeepHigherAccess:
		first = two[0].AccessCount() >= two[1].AccessCount()
	case op.KeepFirst:
	case op.KeepSecond:
		first = false
	default:
		return nil, memory.Errorf(memory.Invalid,
			"invalid keep %.20q; use higher_confidence, higher_access, id1 or id2", req.Keep).At("keep")
	}
	k := &twoMemories{e: e, kept: two[0], other: two[1]}
	if !first {
		k.kept, k.other = k.other, k.kept
	}
	if err := k.refuse(); err != nil {
		return nil, err
	}
	for i, row := range []*stm.Row{k.kept, k.other} {
		var err error
		if k.decoded[i], err = row.Memory(); err != nil {
			return nil, err
		}
	}
	return k, nil
}

func (k *twoMemories) refuse() error {
	for _, r := range []*stm.Row{k.kept, k.other} {
		next := core.Successor(k.e.Stm.Get, r)
		switch {
		case !hasWholeText(r):
			return memory.Errorf(memory.Conflict,
				"memory %s is %s and contains only a summary; first, run: emberd rekindle %s", r.ID(), r.Stage(),
				r.ID().Short())
		case next != nil:
			return memory.Errorf(memory.Conflict,
				"memory %s supersedes %s, which emberd keeps only for its history; merge the newer memory instead",
				next.ID(), r.ID())
		}
	}
	switch {
	case k.other.Core():
		return memory.Errorf(memory.Conflict,
			"memory %s is core, and only emberd forget %s deletes a core memory; keep this memory and discard %s",
			k.other.ID(), k.other.ID().Short(), k.kept.ID())
	case k.other.Promoted():
		return memory.Errorf(memory.Conflict,
			"memory %s has a note in the vault that contains its text; keep this memory and discard %s", k.other.ID(),
			k.kept.ID())
	}
	return nil
}

// lossReason returns why the text of the other memory may not be dropped, "" if it may.
func (k *twoMemories) lossReason(ctx context.Context) string {
	if k.decoded[0].DataOnly() && !k.decoded[1].DataOnly() {
		return "an unconfirmed memory would replace a memory of the user"
	}
	if stm.NormalizeText(k.decoded[0].Content).Of(k.decoded[1].Content) {
		return ""
	}
	kept, other := contradiction.Of(k.e.Text, k.decoded[0].Content), contradiction.Of(k.e.Text, k.decoded[1].Content)
	if why := cmp.Or(kept.Differ(other), other.Adds(kept)); why != "" {
		return why
	}
	if alike := k.covered(ctx); alike < merge.MinLinked {
		return fmt.Sprintf("the memories have different topics (similarity %.2f)", alike)
	}
	return ""
}

// covered returns the higher of two values: the share of the other text in the kept one or a
// part of it, by words, and the similarity of both by embedding, if the model reads both to their
// end.
func (k *twoMemories) covered(ctx context.Context) float64 {
	if shared := similarity.TextSimilarity(k.decoded[0].Content, k.decoded[1].Content); shared >= 2*merge.MinLinked {
		return shared // rare words cannot lower it much
	}
	alike, _ := k.e.Similar.NewSimilarity(k.decoded[1].Content).To(k.decoded[0].Content)
	on := k.e.Semantic.Meaning.ServingRack()
	if !on.TrustedForMerge() || !on.FitsModel(ctx, k.decoded[0].Content) || !on.FitsModel(ctx, k.decoded[1].Content) {
		return alike
	}
	v, one := on.Vector(k.kept.ID(), k.e.Semantic.Meaning.Digest)
	w, both := on.Vector(k.other.ID(), k.e.Semantic.Meaning.Digest)
	if cosine, err := similarity.Cosine(v, w); one && both && err == nil {
		alike = max(alike, on.Grade.Similarity(cosine))
	}
	return alike
}

// fileForReview creates a review item for the two, and returns an error that names it. The error
// contains no words of their texts, which the evidence of the item can.
func (k *twoMemories) fileForReview(ctx context.Context, why string) error {
	ids := []memory.ID{k.kept.ID(), k.other.ID()}
	item := memory.ReviewItem{Agent: op.ReviewHealth, Action: MergeVerb, MemoryIDs: ids, Evidence: why}
	_, _, err := k.e.Review.FileItems(ctx, op.CallerFrom(ctx), "", []memory.ReviewItem{item})
	if err != nil {
		k.e.Opt.Logger.Warn("review item not created", "memories", ids, "err", err)
	}
	told := ""
	if filed, err := k.e.Review.FindItem(memory.ReviewItemID(op.ReviewHealth, ids)); err == nil {
		told = " (for details, run: emberd review show " + filed.ID + ")"
	}
	return memory.Errorf(memory.Conflict, "cannot merge the memories: memory %s contains facts that memory %s does "+
		"not contain or contradicts%s; to merge anyway, set keep to \"id1\" (first memory) or \"id2\" (second memory)",
		k.other.ID(), k.kept.ID(), told).At("keep")
}

// relatedMemories returns the memories related to a merged one.
func (e *Health) relatedMemories(r *stm.Row) ([]memory.ID, error) {
	m, err := r.Memory()
	return op.RelatedMemories(&op.OpenedMemory{Memory: op.Memory{Memory: m},
		Relations: core.RelationsOf(&e.Stm.MemorySet, r)}), err
}
