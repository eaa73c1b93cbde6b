package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"emberd/decay"
	"emberd/internal/agents"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// promote gives notes to the memories that deserve one, or files that they do.
func (r *agentsRound) promote(ctx context.Context) error {
	r.res.Promote = []op.PromotionResult{}
	if r.e.notes == nil {
		r.ran.Problem = "there is no vault, so that nothing is promoted"
		return nil
	}
	all, _ := r.e.promotable(r.now, r.e.opt.Promotion)
	r.ran.Found = len(all)
	if !r.promotes {
		return r.fileDeserving(ctx, all)
	}
	for _, c := range all[:r.take(len(all))] {
		if r.dry && len(r.res.Promote) == mostFound {
			r.ran.Changed++
			continue
		}
		id := c.row.ID()
		got, err := r.e.promoteMemory(ctx, promotion{id: id, by: r.by, force: true, dry: r.dry, entry: r.res.Tx})
		switch {
		case ctx.Err() != nil, memory.CodeOf(err) == memory.DiskFull, memory.CodeOf(err) == memory.ReadOnly:
			return err
		case err != nil:
			r.ran.Problem = err.Error()
			continue
		case got.Outcome == op.PromotionPending:
			r.ran.Problem = "a note is written later: " + got.Reason
			continue
		}
		r.wrote(got.Tx)
		r.ran.Changed++
		if len(r.res.Promote) < mostFound {
			r.res.Promote = append(r.res.Promote, op.PromotionResult{MemoryID: id, VaultPath: got.Path, CriteriaMet: r.criteria(c)})
		}
	}
	return nil
}

// fileDeserving files memories that deserve a note where nothing is promoted unasked.
func (r *agentsRound) fileDeserving(ctx context.Context, all []candidate) error {
	var items []memory.ReviewItem
	for _, c := range all {
		id := c.row.ID()
		items = append(items, memory.ReviewItem{Agent: op.ReviewPromote, Action: "promote", Urgency: op.UrgencyLow, MemoryIDs: []memory.ID{id}, Evidence: c.why})
		if len(r.res.Promote) < mostFound {
			r.res.Promote = append(r.res.Promote, op.PromotionResult{MemoryID: id, CriteriaMet: r.criteria(c)})
		}
	}
	return r.file(ctx, items)
}

// criteria are the rules that a memory meets, of which one suffices.
func (r *agentsRound) criteria(c candidate) []string {
	rule, uses, created := r.e.opt.Promotion, int(c.row.UseCount()), c.row.CreatedAt()
	byUse := rule
	byUse.Threshold = math.Inf(1)
	var out []string
	for _, one := range []decay.Promotion{rule, byUse} {
		if why := string(one.Due(c.score, uses, created, r.now, false)); why != "" && !slices.Contains(out, why) {
			out = append(out, why)
		}
	}
	return out
}

// relations relates memories that name the same.
func (r *agentsRound) relations(ctx context.Context) error {
	r.res.Relations = []op.RelationResult{}
	subjects := r.e.subjects()
	links, err := agents.Discover(ctx, subjects, r.e.opt.Agents.Relations)
	if err != nil {
		return err
	}
	links = slices.DeleteFunc(links, func(l agents.Link) bool { return r.e.unrelated(subjects[l.A].ID, subjects[l.B].ID, memory.Related) })
	r.ran.Found = len(links)
	var reqs []op.RelateRequest
	for i, l := range links {
		told := relationResult(subjects, l)
		if i < mostFound {
			r.res.Relations = append(r.res.Relations, told)
		}
		reqs = append(reqs, op.RelateRequest{From: string(told.FromID), To: string(told.ToID), Type: told.RelationType, Strength: &told.Strength,
			Metadata: map[string]json.RawMessage{"confidence": fmt.Appendf(nil, "%.2f", l.Confidence), "found_by": json.RawMessage(`"` + op.AgentRelations + `"`)}})
	}
	return r.relate(ctx, reqs[:r.take(len(reqs))])
}

// unrelated reports whether somebody took a relation of that type between two memories back,
// whichever way it led.
func (e *Engine) unrelated(a, b memory.ID, typ string) bool {
	taken := func(from, to memory.ID) bool {
		row, live := e.stm.Get(from)
		return !live || !takenBack(row, stm.RelationKey(memory.RelationID(from, to, typ, ""))).IsZero()
	}
	return taken(a, b) || taken(b, a)
}

// subjects are the memories that may be related: those that name something and stand for
// themselves. What one is related to in whatever way counts, so that what somebody has
// related is not related again.
func (e *Engine) subjects() []agents.Subject {
	var out []agents.Subject
	place := make(map[memory.ID]int)
	for row := range e.stm.Rows() {
		names := row.Entities()
		if len(names) == 0 || row.Stage().Cold() || e.superseded(row) {
			continue
		}
		place[row.ID()] = len(out)
		out = append(out, agents.Subject{ID: row.ID(), Group: row.Collection(), Entities: names, Tags: row.Tags(), Related: make(map[memory.ID]bool)})
	}
	for row := range e.stm.Rows() {
		for _, rel := range e.stm.Relations(row) {
			for _, ends := range [][2]memory.ID{{rel.From, rel.To}, {rel.To, rel.From}} {
				if i, ok := place[ends[0]]; ok {
					out[i].Related[ends[1]] = true
				}
			}
		}
	}
	return out
}

func relationResult(subjects []agents.Subject, l agents.Link) op.RelationResult {
	why := fmt.Sprintf("both name %s", strings.Join(l.Entities, ", "))
	if len(l.Tags) > 0 {
		why += "; both are tagged " + strings.Join(l.Tags, ", ")
	}
	return op.RelationResult{FromID: subjects[l.A].ID, ToID: subjects[l.B].ID, RelationType: memory.Related,
		Strength: round(l.Strength), Confidence: round(l.Confidence), SharedEntities: l.Entities, Reasoning: why}
}

// round leaves four digits, which is more than anybody reads.
func round(x float64) float64 { return math.Round(1e4*x) / 1e4 }
