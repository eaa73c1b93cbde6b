package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"emberd/decay"
	"emberd/engine/promote"
	"emberd/engine/review"
	"emberd/internal/dedupe"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// promote creates notes for the memories that qualify, or review items for them.
func (r *agentsRun) promote(ctx context.Context) error {
	r.res.Promote = []op.PromotionResult{}
	if r.e.Notes.Vault == nil {
		r.ran.Problem = "no vault is configured, so emberd promotes no memories"
		return nil
	}
	all, _ := r.e.Promote.Promotable(r.now, r.e.Opt.Promotion)
	r.ran.Found = len(all)
	if !r.promotes {
		return r.fileQualifying(ctx, all)
	}
	for _, c := range all[:r.allow(len(all))] {
		if r.dry && len(r.res.Promote) == MaxFound {
			r.ran.Changed++
			continue
		}
		id := c.Row.ID()
		got, err := r.e.Promote.PromoteMemory(ctx,
			promote.Promotion{ID: id, By: r.by, Force: true, Dry: r.dry, Entry: r.res.Tx})
		switch {
		case ctx.Err() != nil, memory.CodeOf(err) == memory.DiskFull, memory.CodeOf(err) == memory.ReadOnly:
			return err
		case err != nil:
			r.ran.Problem = err.Error()
			continue
		case got.Outcome == op.PromotionPending:
			r.ran.Problem = "emberd cannot write a note yet: " + got.Reason
			continue
		}
		r.recordTx(got.Tx)
		r.ran.Changed++
		if len(r.res.Promote) < MaxFound {
			r.res.Promote = append(r.res.Promote,
				op.PromotionResult{MemoryID: id, VaultPath: got.Path, CriteriaMet: r.criteria(c)})
		}
	}
	return nil
}

// fileQualifying creates items for memories that qualify, if the run may not promote.
func (r *agentsRun) fileQualifying(ctx context.Context, all []promote.Candidate) error {
	var items []memory.ReviewItem
	for _, c := range all {
		id := c.Row.ID()
		items = append(items, memory.ReviewItem{Agent: op.ReviewPromote, Action: "promote", Urgency: op.UrgencyLow,
			MemoryIDs: []memory.ID{id}, Evidence: c.Why})
		if len(r.res.Promote) < MaxFound {
			r.res.Promote = append(r.res.Promote, op.PromotionResult{MemoryID: id, CriteriaMet: r.criteria(c)})
		}
	}
	return r.file(ctx, items)
}

// criteria returns the promotion criteria that a memory meets; one is enough.
func (r *agentsRun) criteria(c promote.Candidate) []string {
	rule, uses, created := r.e.Opt.Promotion, int(c.Row.UseCount()), c.Row.CreatedAt()
	byUse := rule
	byUse.Threshold = math.Inf(1)
	var out []string
	for _, one := range []decay.Promotion{rule, byUse} {
		if why := string(one.Due(c.Score, uses, created, r.now, false)); why != "" && !slices.Contains(out, why) {
			out = append(out, why)
		}
	}
	return out
}

// relations relates memories that share what few others have.
func (r *agentsRun) relations(ctx context.Context) error {
	r.res.Relations = []op.RelationResult{}
	subjects := r.e.subjects()
	links, err := dedupe.DiscoverRelations(ctx, r.e.Text, subjects, r.e.relationVectors(subjects),
		r.e.Opt.Agents.Relations)
	if err != nil {
		return err
	}
	asked := r.pairsInReview()
	links = slices.DeleteFunc(links, func(l dedupe.Link) bool {
		a, b := subjects[l.A].ID, subjects[l.B].ID
		return asked[[2]memory.ID{a, b}] || r.e.relationRemoved(a, b, memory.Related) ||
			r.e.relationRemoved(a, b, memory.Contradicts)
	})
	r.ran.Found = len(links)
	var reqs []op.RelateRequest
	for i, l := range links[:min(len(links), max(MaxFound, r.e.Opt.Agents.Rate))] {
		told := relationResult(subjects, l)
		if i < MaxFound {
			r.res.Relations = append(r.res.Relations, told)
		}
		reqs = append(reqs, op.RelateRequest{From: string(told.FromID), To: string(told.ToID), Type: told.RelationType,
			Strength: &told.Strength,
			Metadata: map[string]json.RawMessage{"confidence": fmt.Appendf(nil, "%.2f", l.Confidence), "found_by": json.RawMessage(`"` + op.AgentRelations + `"`)}})
	}
	return r.relate(ctx, reqs[:r.allow(len(links))])
}

// relationVectors returns the embeddings that similarities of subjects are calculated with, nil to use words
// only. Static embeddings count too: they are only a part of a relation's strength.
func (e *Agents) relationVectors(subjects []dedupe.Subject) *dedupe.Vectors {
	meaning := e.Merge.Semantic.Meaning
	on := meaning.ServingRack()
	if on == nil || on.Grade.Trust() < minTrust {
		return nil
	}
	return &dedupe.Vectors{
		Of:         func(i int) ([]float32, bool) { return on.Vector(subjects[i].ID, meaning.Digest) },
		Similarity: on.Grade.Similarity,
	}
}

// pairsInReview returns the pairs of memories that an undecided review item is about, ascending by ID. It includes
// those of items that a dry run would have created.
func (r *agentsRun) pairsInReview() map[[2]memory.ID]bool {
	pairs := make(map[[2]memory.ID]bool)
	add := func(item memory.ReviewItem) {
		ids := slices.Sorted(slices.Values(item.MemoryIDs))
		for i, a := range ids {
			for _, b := range ids[i+1:] {
				pairs[[2]memory.ID{a, b}] = true
			}
		}
	}
	for item := range r.e.Review.ReviewItems() {
		if item.Status != memory.ItemClosed {
			add(item)
		}
	}
	for _, item := range r.would {
		add(item)
	}
	return pairs
}

// relationRemoved reports whether a user removed a relation of that type between two memories, in
// either direction.
func (e *Agents) relationRemoved(a, b memory.ID, typ string) bool {
	taken := func(from, to memory.ID) bool {
		row, live := e.Stm.Get(from)
		return !live || !review.UndoneAt(row, stm.RelationKey(memory.RelationID(from, to, typ, ""))).IsZero()
	}
	return taken(a, b) || taken(b, a)
}

// subjects returns the memories that may be related: those of the latest that are current and not archived.
// They include their existing relations of any kind, so that related memories are not related again.
func (e *Agents) subjects() []dedupe.Subject {
	var out []dedupe.Subject
	place := make(map[memory.ID]int)
	for _, row := range e.Stm.Latest(maxCompared) {
		if row.Stage().Cold() || e.Superseded(row) {
			continue
		}
		place[row.ID()] = len(out)
		out = append(out, dedupe.Subject{ID: row.ID(), Group: row.Collection(), Text: row.Content(),
			Entities: row.Entities(), Tags: row.Tags(), Related: make(map[memory.ID]bool)})
	}
	for row := range e.Stm.Rows() {
		for _, rel := range e.Stm.Relations(row) {
			for _, ends := range [][2]memory.ID{{rel.From, rel.To}, {rel.To, rel.From}} {
				if i, ok := place[ends[0]]; ok {
					out[i].Related[ends[1]] = true
				}
			}
		}
	}
	return out
}

func relationResult(subjects []dedupe.Subject, l dedupe.Link) op.RelationResult {
	var why []string
	for _, shared := range []struct {
		what  string
		names []string
	}{{"both memories mention ", l.Entities}, {"both memories are tagged ", l.Tags},
		{"both memories contain the words ", l.Words}} {
		if len(shared.names) > 0 {
			why = append(why, shared.what+strings.Join(shared.names, ", "))
		}
	}
	return op.RelationResult{FromID: subjects[l.A].ID, ToID: subjects[l.B].ID, RelationType: memory.Related,
		Strength: round(l.Strength), Confidence: round(l.Confidence), Jaccard: round(l.Jaccard),
		SharedEntities: slices.Concat([]string{}, l.Entities), Reasoning: strings.Join(why, "; ")}
}

// round rounds to four digits.
func round(x float64) float64 { return math.Round(1e4*x) / 1e4 }
