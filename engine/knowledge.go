package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"emberd/internal/entities"
	"emberd/memory"
	"emberd/op"
)

func (e *Engine) knowledge(ctx context.Context, req *op.KnowledgeRequest) (*op.KnowledgeResult, error) {
	return nil, notYet()
}

// mentions says of each name how often memories mention it, and when last. A name that
// nothing mentions is not among the answers.
func (e *Engine) mentions(names []string) []op.Mention {
	var out []op.Mention
	for _, name := range names {
		if m := e.countMentions(name); m.Count > 0 {
			out = append(out, m)
		}
	}
	return out
}

func (e *Engine) countMentions(name string) op.Mention {
	out, key := op.Mention{Name: name}, entities.Key(name)
	for r := range e.stm.Rows() {
		named := slices.ContainsFunc(r.Entities(), func(n string) bool { return entities.Key(n) == key })
		if !named {
			continue
		}
		m, err := r.Memory()
		if err != nil {
			continue
		}
		out.Count += m.Learned()
		if at := lastLearned(&m); at.After(out.LastSeen) {
			out.LastSeen = at
		}
	}
	return out
}

// entitiesFor are the entities that a text names, the most mentioned first.
func (e *Engine) entitiesFor(text string, limit int) []op.Entity {
	var out []op.Entity
	for _, m := range e.mentions(entities.Find(text, entities.Options{Known: e.names.spelling, Limit: memory.MaxEntities})) {
		out = append(out, op.Entity{Name: m.Name, Mentions: m.Count, LastSeen: m.LastSeen})
	}
	slices.SortStableFunc(out, func(a, b op.Entity) int { return cmp.Compare(b.Mentions, a.Mentions) })
	return out[:min(limit, len(out))]
}

// lastLearned is when a memory was learned last, at first when it was made.
func lastLearned(m *memory.Memory) time.Time {
	at := m.CreatedAt
	for _, s := range m.Sources {
		if s.At.After(at) {
			at = s.At
		}
	}
	return at
}
