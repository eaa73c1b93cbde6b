package engine

import (
	"cmp"
	"time"

	"emberd/decay"
	"emberd/internal/plainly"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// score is the decay score of a memory. A core memory's never sinks below 1,
// which is what a new one has.
func (e *Engine) score(r *stm.Row, now time.Time) float64 {
	s := e.opt.Decay.Score(int(r.UseCount()), r.LastUsed(), now, r.Strength())
	if r.Core() {
		return max(1, s)
	}
	return s
}

// view is the memory as callers see it at now.
func (e *Engine) view(r *stm.Row, now time.Time) (op.Memory, error) {
	return e.viewIn(&e.stm.Memories, r, now)
}

// viewIn is the memory as callers see it among those of a moment. What took its place is
// told while that is there and counts.
func (e *Engine) viewIn(in *stm.Memories, r *stm.Row, now time.Time) (op.Memory, error) {
	m, err := r.Memory()
	if err != nil {
		return op.Memory{}, memory.Errorf(memory.Internal, "read the memory: %w", err)
	}
	if m.Stage.Cold() {
		m.Summary = m.Content
	}
	m.EmbeddingVersion = cmp.Or(e.embeddedBy(m.ID), m.EmbeddingVersion)
	if (m.SupersededBy != "" || !m.SupersededAt.IsZero()) && successor(in.Get, r) == nil {
		m.SupersededBy, m.SupersededAt = "", time.Time{}
	}
	if e.grant != nil {
		e.withoutUnseen(in, &m)
	}
	return op.Memory{
		Memory:  m,
		Rev:     r.Rev(),
		Status:  m.Status(),
		Score:   e.score(r, now),
		AgeDays: max(0, now.Sub(m.CreatedAt).Hours()/24),
		Trust:   m.Trust(),
		Hidden:  hiddenIn(&m),
	}, nil
}

// hiddenIn are the kinds of characters that nobody sees in what a memory says.
func hiddenIn(m *memory.Memory) (kinds []string) {
	for _, k := range plainly.Kinds(m.Content) {
		kinds = append(kinds, string(k))
	}
	return kinds
}

// listedIn is viewIn for one memory of several: of its provenance chain it has the first
// link and the last two, and counts the others.
func (e *Engine) listedIn(in *stm.Memories, r *stm.Row, now time.Time) (op.Memory, error) {
	m, err := e.viewIn(in, r, now)
	m.ShortenChain(listedSources)
	return m, err
}

// listedSources is how many links of a chain are shown of a memory among others.
const listedSources = 3

// views maps rows to what callers see of them among others, in order.
func (e *Engine) views(in *stm.Memories, rows []*stm.Row, now time.Time) ([]op.Memory, error) {
	out := make([]op.Memory, 0, len(rows))
	for _, r := range rows {
		m, err := e.listedIn(in, r, now)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// weigh fills in everything a rank is made of but the terms.
func (e *Engine) weigh(relevance float64, r *stm.Row, now time.Time, q *question) op.Explain {
	score := e.score(r, now)
	return op.Explain{
		Relevance: relevance,
		Decay:     score,
		Bounded:   decay.Bounded(score),
		Floor:     q.floor,
		Stage:     e.opt.StageFactor.of(r.Stage()),
		Tier:      q.stm,
	}
}

// unfaded is x as it would be had the memory just been used.
func (e *Engine) unfaded(x op.Explain) op.Explain {
	x.Bounded, x.Stage = 1, e.opt.StageFactor.Active
	return x
}

// rank multiplies the parts out.
func rank(x op.Explain) float64 {
	return x.Relevance * decay.RankFactor(x.Bounded, x.Floor) * x.Stage * x.Tier
}
