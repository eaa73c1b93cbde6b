package core

import (
	"cmp"
	"time"

	"emberd/internal/text/invisible"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// Score returns the decay score of a memory. The score of a core memory is at least 1, which
// is that of a new memory.
func (e *View) Score(r *stm.Row, now time.Time) float64 {
	s := e.Opt.Decay.Score(int(r.UseCount()), r.LastUsed(), now, r.Strength())
	if r.Core() {
		return max(1, s)
	}
	return s
}

// MemoryView returns the memory as callers see it at now.
func (e *View) MemoryView(r *stm.Row, now time.Time) (op.Memory, error) {
	return e.ViewIn(&e.Stm.MemorySet, r, now)
}

// ViewIn returns the memory as callers see it within one state of the log. It includes the
// memory that supersedes it, if that one is live.
func (e *View) ViewIn(in *stm.MemorySet, r *stm.Row, now time.Time) (op.Memory, error) {
	r = r.Unpacked()
	m, err := r.Memory()
	if err != nil {
		return op.Memory{}, memory.Errorf(memory.Internal, "cannot read the memory: %w", err)
	}
	if m.Stage.Cold() {
		m.Summary = m.Content
	}
	model := e.Hooks.Embedded(r)
	m.EmbeddingVersion = cmp.Or(model, m.EmbeddingVersion)
	if (m.SupersededBy != "" || !m.SupersededAt.IsZero()) && Successor(in.Get, r) == nil {
		m.SupersededBy, m.SupersededAt = "", time.Time{}
	}
	if e.Grant != nil {
		e.withoutUnseen(in, &m)
	}
	return op.Memory{
		Memory:       m,
		HasEmbedding: model != "",
		Rev:          r.Rev(),
		Status:       m.Status(),
		Score:        e.Score(r, now),
		AgeDays:      max(0, now.Sub(m.CreatedAt).Hours()/24),
		Trust:        m.Trust(),
		Hidden:       hiddenKinds(&m),
		Undecided:    Undecided(r).ID,
	}, nil
}

// hiddenKinds returns the kinds of invisible characters in a memory's texts.
func hiddenKinds(m *memory.Memory) (kinds []string) {
	for _, k := range invisible.Kinds(m.Content) {
		kinds = append(kinds, string(k))
	}
	return kinds
}

// ListedIn returns ViewIn for one memory of a list. It has the first link and the last two
// links of the provenance chain, and the number of the others.
func (e *View) ListedIn(in *stm.MemorySet, r *stm.Row, now time.Time) (op.Memory, error) {
	m, err := e.ViewIn(in, r, now)
	m.ShortenChain(listedSources)
	return m, err
}

// listedSources is how many links of the provenance chain a listed memory shows.
const listedSources = 3

// Views returns the rows as callers see them in a list, in order.
func (e *View) Views(in *stm.MemorySet, rows []*stm.Row, now time.Time) ([]op.Memory, error) {
	out := make([]op.Memory, 0, len(rows))
	for _, r := range rows {
		m, err := e.ListedIn(in, r, now)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}
