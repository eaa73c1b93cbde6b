package engine

import (
	"context"
	"strings"
	"sync"

	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
)

const (
	// mostNear is how many memories, and how many notes, a search takes in for what they
	// mean: the same for every page, so that paging is stable.
	mostNear = 200
	// leastNear is how near (0 as any text, 1 the same meaning) something has to be.
	leastNear = 0.25
	// meaningWeight is what the same meaning is worth beside all words of the question, by a
	// model that can be trusted in full. Vectors that come to two thirds to five sixths of
	// words by themselves do best at a third to two thirds of it (docs/evaluation.md).
	meaningWeight = 0.3
)

// closeness is what the meaning of a question gives to what is near to it.
type closeness struct {
	memories map[memory.ID]*op.MeaningExplain
	notes    map[string]*op.MeaningExplain // by path
}

// ofMemories are the scores of memories, nil without any.
func (n *closeness) ofMemories() map[memory.ID]float64 {
	if len(n.memories) == 0 {
		return nil
	}
	scores := make(map[memory.ID]float64, len(n.memories))
	for id, x := range n.memories {
		scores[id] = x.Score
	}
	return scores
}

// ofNotes are the scores of notes, nil without any.
func (n *closeness) ofNotes() map[string]ltm.Near {
	if len(n.notes) == 0 {
		return nil
	}
	near := make(map[string]ltm.Near, len(n.notes))
	for path, x := range n.notes {
		near[path] = ltm.Near{Score: x.Score, Line: x.Line}
	}
	return near
}

// fusion is the one place where meaning meets words. A hit's relevance is
//
//	relevance = words + A · w · t · near        near = (cos − low) / (high − low), 0 to 1
//
// words is BM25's sum over the terms, which cannot come to more than about A, the sum of
// their idf; near is the cosine brought to 0 for texts that have nothing to do with each
// other and 1 for the same meaning, by what the model's exam measured (low, high); t is what
// that exam says the model can be trusted, or the setting; w is meaningWeight. So both are
// brought to one scale by bounds that are known beforehand, and added: the weighted sum of
// scores after a theoretical normalisation of Bruch, Gai and Ingber, "An Analysis of Fusion
// Functions for Hybrid Retrieval", ACM TOIS 42(1), 2023, which they find to be better than
// reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009) within a domain and out
// of it. RRF would also throw the distances away that decay, stage and rekindling go by, and
// a rank by 1/(60+r) could not be explained term by term.
//
// The factor A scales the sum to the unit of words, so that with t = 0, or for what is not
// near, the relevance is that of words, bit by bit.
type fusion struct {
	sense *sense
	unit  float64 // A · w · t
}

// of is what something near adds, nil if it is not near enough.
func (f *fusion) of(s sensed) *op.MeaningExplain {
	near := f.sense.near(s.cosine)
	if near < leastNear {
		return nil
	}
	return &op.MeaningExplain{Cosine: s.cosine, Near: near, Line: s.line, Score: f.unit * near}
}

// all is what everything that was found near adds.
func (f *fusion) all(found *nearby) closeness {
	out := closeness{make(map[memory.ID]*op.MeaningExplain, len(found.memories)), make(map[string]*op.MeaningExplain, len(found.notes))}
	for _, s := range found.memories {
		if x := f.of(s); x != nil {
			out.memories[s.id] = x
		}
	}
	for _, s := range found.notes {
		if x := f.of(s); x != nil {
			out.notes[s.path] = x
		}
	}
	return out
}

// sensing is the meaning of a question, or why there is none.
type sensing struct {
	*sense
	without string
}

// senseSoon begins to work out what the question means, if that is to count.
func (a *asking) senseSoon(ctx context.Context) {
	if a.q.sense != nil {
		return
	}
	a.q.sense = func() sensing { return sensing{} }
	text := a.q.meant()
	if a.e.meaning == nil || a.q.trust == 0 || text == "" || !a.present {
		return
	}
	got := make(chan sensing, 1)
	go func() {
		s, without := a.e.meaning.senseOf(ctx, text)
		got <- sensing{s, without}
	}()
	a.q.sense = sync.OnceValue(func() sensing { return <-got })
}

// meant is what of a question has a meaning: its words and phrases, not what selects.
func (q *question) meant() string {
	return strings.TrimSpace(strings.Join(append([]string{q.query.Words}, q.query.Must.Phrases...), " "))
}

// senseNear finds what is near to the question, of what passes its conditions.
func (a *asking) senseNear(ctx context.Context, c corpus) error {
	a.senseSoon(ctx)
	a.q.near = closeness{}
	s := a.q.sense()
	a.tellMeaning(s)
	if s.sense == nil {
		return nil
	}
	if a.nearest == nil {
		found, err := a.whatIsNear(ctx, s.sense, c)
		if err != nil {
			return err
		}
		a.nearest = found
	}
	f := fusion{sense: s.sense, unit: a.weightOf(c) * meaningWeight * a.q.trust}
	a.q.near = f.all(a.nearest)
	a.res.AtLeast = a.res.AtLeast || len(a.q.near.memories) == mostNear || len(a.q.near.notes) == mostNear
	return nil
}

// nearby is what is near to a question, of what passes its conditions, whichever of its
// words are looked for.
type nearby struct{ memories, notes []sensed }

// whatIsNear looks through the vectors of both tiers at once.
func (a *asking) whatIsNear(ctx context.Context, s *sense, c corpus) (*nearby, error) {
	var out nearby
	w := nearQuery{least: leastNear}
	if a.q.memories {
		w.memories, w.acceptMemory = mostNear, a.q.in.Accepting(a.e.stmQuery(a.q, c, 0, false, a.now))
	}
	if !a.q.notes {
		out.memories, _ = s.nearest(ctx, w)
		return &out, nil
	}
	err := a.e.notes.ask(func(index *ltm.Index) error {
		return index.Accepting(a.e.ltmQuery(ctx, a.q, c, 0, false), func(accept func(string) bool) {
			w.notes, w.acceptNote = mostNear, accept
			out.memories, out.notes = s.nearest(ctx, w)
		})
	})
	return &out, err
}

// tellMeaning says in the answer what part vectors had in it.
func (a *asking) tellMeaning(s sensing) {
	told := a.e.toldOf(s.sense, s.without)
	if told != nil && !a.present {
		told.Without = "there are no vectors of the past"
	}
	if a.res.Meaning = told; told != nil {
		told.Weight = a.q.trust
	}
}

// held is how much of what was asked something holds by its words, or means, in the unit
// of asked, which is the most.
func (a *asking) held(x *op.Explain, asked float64) float64 {
	held := min(asked, a.matched(x.Terms))
	if x.Meaning != nil {
		held = max(held, a.q.trust*x.Meaning.Near*asked)
	}
	return held
}
