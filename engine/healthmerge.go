package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"emberd/internal/conflict"
	"emberd/internal/similarity"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// healthMerge keeps one of two memories, with the counts, confidence and relations of both,
// and moves the other to the trash, in one line of the log. The text of the kept one stays
// as it is. Without a word on which to keep, nothing is done if the other says something
// that the kept one does not: that is filed for somebody to decide.
func (e *Engine) healthMerge(ctx context.Context, req *op.HealthMergeRequest) (*op.HealthMergeResult, error) {
	two, err := e.bothOf(req)
	if err != nil {
		return nil, err
	}
	k, err := e.keeping(req, two)
	if err != nil {
		return nil, err
	}
	if why := k.lost(); why != "" && req.Keep != op.KeepFirst && req.Keep != op.KeepSecond {
		return nil, k.ask(ctx, why)
	}
	receipt, err := e.stm.Update(ctx, k.ids, "", func(rows []*stm.Row) (*stm.Tx, error) {
		return k.tx(ctx, rows)
	})
	if err != nil {
		return nil, err
	}
	e.reports.outdated()
	kept := receipt.Rows[0]
	related, err := e.relatedMemories(kept)
	return &op.HealthMergeResult{KeptID: kept.ID(), DiscardedID: k.other.ID(), NewAccessCount: kept.AccessCount(),
		NewConfidence: kept.Confidence(), RelatedMemories: related, Tx: receipt.Entry}, err
}

// bothOf finds the two memories of a request, in its order.
func (e *Engine) bothOf(req *op.HealthMergeRequest) (two [2]*stm.Row, err error) {
	s, err := e.scopeOf(req.Collection, memory.DefaultCollection)
	if err != nil {
		return two, err
	}
	for i, text := range []string{req.ID1, req.ID2} {
		field := [...]string{"id1", "id2"}[i]
		id, err := e.end(text, field)
		if err != nil {
			return two, err
		}
		row, live := e.stm.Get(id)
		switch {
		case !live:
			return two, about(e.missing(id), field)
		case !s.has(row):
			return two, memory.Errorf(memory.NotFound, "memory %s is in the collection %q and not in %q; name that one, or all", id, row.Collection(), s.name).At(field)
		}
		two[i] = row
	}
	if two[0].ID() == two[1].ID() {
		return two, memory.Errorf(memory.Invalid, "id1 and id2 are one memory, %s; name two", two[0].ID()).At("id2")
	}
	return two, nil
}

// discarding is one of two memories that is kept, and the other that is not.
type discarding struct {
	e           *Engine
	kept, other *stm.Row
	said        [2]memory.Memory // of both, the kept one first
	ids         []memory.ID      // the kept one, the other, and those that have relations with it

	sets map[memory.ID]map[string]json.RawMessage // what is written, by memory
}

// keeping chooses which one to keep and refuses what may not go, or not stay.
func (e *Engine) keeping(req *op.HealthMergeRequest, two [2]*stm.Row) (*discarding, error) {
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
		return nil, memory.Errorf(memory.Invalid, "keep is %.20q; use higher_confidence, higher_access, id1 or id2", req.Keep).At("keep")
	}
	k := &discarding{e: e, kept: two[0], other: two[1]}
	if !first {
		k.kept, k.other = k.other, k.kept
	}
	if err := k.refuse(); err != nil {
		return nil, err
	}
	for i, row := range []*stm.Row{k.kept, k.other} {
		var err error
		if k.said[i], err = row.Memory(); err != nil {
			return nil, err
		}
	}
	k.ids = []memory.ID{k.kept.ID(), k.other.ID()}
	return k, k.reach()
}

func (k *discarding) refuse() error {
	for _, r := range []*stm.Row{k.kept, k.other} {
		next := successor(k.e.stm.Get, r)
		switch {
		case !wholly(r):
			return memory.Errorf(memory.Conflict, "memory %s is %s, and what it holds is a summary of its text; bring the text back first, with emberd rekindle %s", r.ID(), r.Stage(), r.ID().Short())
		case next != nil:
			return memory.Errorf(memory.Conflict, "memory %s took the place of %s, which counts no more and is kept for what it was; consolidate that one instead", next.ID(), r.ID())
		}
	}
	switch {
	case k.other.Core():
		return memory.Errorf(memory.Conflict, "memory %s is core, which nothing but emberd forget %s removes; keep that one and discard %s", k.other.ID(), k.other.ID().Short(), k.kept.ID())
	case k.other.Promoted():
		return memory.Errorf(memory.Conflict, "memory %s has a note in the vault, which decides its text; keep that one and discard %s", k.other.ID(), k.kept.ID())
	}
	return nil
}

// lost is why the text of the other memory may not just go, "" if it may.
func (k *discarding) lost() string {
	if k.said[0].DataOnly() && !k.said[1].DataOnly() {
		return "what a tool or the web said would take the place of what somebody said"
	}
	if stm.WordingOf(k.said[0].Content).Of(k.said[1].Content) {
		return ""
	}
	kept, other := conflict.Of(k.e.text, k.said[0].Content), conflict.Of(k.e.text, k.said[1].Content)
	if why := cmp.Or(kept.Differ(other), other.Adds(kept)); why != "" {
		return why
	}
	if alike := k.covered(); alike < leastLinked {
		return fmt.Sprintf("they are about different things: similarity %.2f", alike)
	}
	return ""
}

// covered is how much of the other text is in the kept one or a part of it, by words, or
// how near both are by their vectors, whichever is more.
func (k *discarding) covered() float64 {
	if shared := similarity.TextSimilarity(k.said[0].Content, k.said[1].Content); shared >= 2*leastLinked {
		return shared // rare words cannot make them much less alike
	}
	alike, _ := k.e.like(k.said[1].Content).to(k.said[0].Content)
	on := k.e.meaning.servingRack()
	if !on.decides() {
		return alike
	}
	v, one := on.vector(k.kept.ID(), k.e.meaning.digest)
	w, both := on.vector(k.other.ID(), k.e.meaning.digest)
	if cosine, err := similarity.Cosine(v, w); one && both && err == nil {
		alike = max(alike, on.grade.Similarity(cosine))
	}
	return alike
}

// ask files the two for somebody to decide, and says so in an error. That holds nothing of
// their texts, which the item's evidence may.
func (k *discarding) ask(ctx context.Context, why string) error {
	item := memory.ReviewItem{Agent: op.ReviewHealth, Action: mergeVerb, MemoryIDs: k.ids[:2], Evidence: why}
	_, _, err := k.e.fileItems(ctx, op.CallerFrom(ctx), "", []memory.ReviewItem{item})
	if err != nil {
		k.e.opt.Logger.Warn("review item not filed", "memories", k.ids[:2], "err", err)
	}
	told := ""
	if filed, err := k.e.findItem(memory.ReviewItemID(op.ReviewHealth, k.ids[:2])); err == nil {
		told = ", see emberd review show " + filed.ID
	}
	return memory.Errorf(memory.Conflict, "nothing was changed, for memory %s says something that %s does not, or says otherwise%s; keep with id1 or id2 decides it now", k.other.ID(), k.kept.ID(), told).At("keep")
}

// reach adds those whose relations are to be carried over to what is locked.
func (k *discarding) reach() error {
	in, total := k.e.stm.RelationsTo(k.other.ID(), mostMoved)
	if total > len(in) {
		return memory.Errorf(memory.TooLarge, "%d relations lead to memory %s, and not more than %d are carried over to another; keep that one", total, k.other.ID(), mostMoved)
	}
	var ends []memory.ID
	for _, r := range in {
		ends = append(ends, r.From)
	}
	for _, r := range k.e.stm.Relations(k.other) {
		ends = append(ends, r.To)
	}
	slices.Sort(ends)
	for _, id := range slices.Compact(ends) {
		if !slices.Contains(k.ids[:2], id) {
			k.ids = append(k.ids, id)
		}
	}
	return nil
}

// tx is what is written of the locked rows, which are those of ids.
func (k *discarding) tx(ctx context.Context, rows []*stm.Row) (*stm.Tx, error) {
	for i, was := range []*stm.Row{k.kept, k.other} {
		if rows[i] == nil || rows[i].Rev() != was.Rev() {
			return nil, memory.Errorf(memory.Conflict, "memory %s was changed just now, and nothing was done; try again", was.ID())
		}
	}
	k.kept, k.other = rows[0], rows[1]
	k.sets = make(map[memory.ID]map[string]json.RawMessage)
	at := make(map[memory.ID]*stm.Row, len(rows))
	for i, id := range k.ids {
		if at[id] = rows[i]; rows[i] != nil {
			k.sets[id] = make(map[string]json.RawMessage)
		}
	}
	if err := firstError(k.counts(), k.carryOut(at), k.carryIn(at)); err != nil {
		return nil, err
	}
	tx := &stm.Tx{Verb: mergeVerb, By: op.CallerFrom(ctx)}
	for _, id := range k.ids {
		switch {
		case id == k.other.ID():
			tx.Changes = append(tx.Changes, stm.Change{ID: id, Delete: true})
		case len(k.sets[id]) > 0:
			tx.Changes = append(tx.Changes, stm.Change{ID: id, Set: k.sets[id]})
		}
	}
	return tx, nil
}

// counts merges what both say of themselves, as the specification has it.
func (k *discarding) counts() error {
	kept, other := &k.said[0], &k.said[1]
	aliases, err := memory.NormalizeAliases(slices.Concat(kept.Aliases, other.Aliases))
	if err != nil {
		return err
	}
	now := stampTime(k.e.opt.Now())
	values := map[string]any{
		"confidence":        max(kept.Confidence, other.Confidence),
		"consolidated_at":   now,
		"consolidated_from": oneOfEach(slices.Concat(kept.ConsolidatedFrom, other.ConsolidatedFrom, []memory.ID{other.ID})),
		"updated_at":        now,
	}
	if n := k.other.AccessCount(); n > 0 {
		values["access_count"] = min(math.MaxUint32, k.kept.StoredAccesses()+n)
	}
	if at := latestOf(lastAccess(k.kept), lastAccess(k.other)); !at.IsZero() {
		values["last_accessed_ts"] = stampTime(at)
	}
	if len(aliases) > 0 {
		values["aliases"] = aliases
	}
	for key, value := range values {
		text, err := encode(value)
		if err != nil {
			return err
		}
		k.sets[kept.ID][key] = text
	}
	return nil
}

func oneOfEach(ids []memory.ID) []memory.ID {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// relatedMemories are those of a memory that was merged with another.
func (e *Engine) relatedMemories(r *stm.Row) ([]memory.ID, error) {
	m, err := r.Memory()
	return op.RelatedMemories(&op.OpenedMemory{Memory: op.Memory{Memory: m}, Relations: relationsOf(&e.stm.Memories, r)}), err
}

func latestOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
