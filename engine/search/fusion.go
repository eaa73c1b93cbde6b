package search

import (
	"context"
	"strings"
	"sync"

	"emberd/engine/core"
	"emberd/engine/semantic"
	"emberd/internal/contain"
	"emberd/ltm"
	"emberd/memory"
	"emberd/op"
)

const (
	// MaxNear is how many memories, and how many notes, a search adds by embedding. It is the
	// same for every page, so that paging is stable.
	MaxNear = 200
	// minNear is the minimum similarity, from 0 for unrelated texts to 1 for the same meaning.
	minNear = 0.25
	// meaningWeight is the weight of the same meaning relative to all words of the query, for
	// a fully trusted model. With all-MiniLM-L6-v2, half as much does best on long conversations,
	// and half as much again on facts and chats with an assistant (docs/internals/evaluation.md).
	meaningWeight = 0.13
)

// vectorScores are the scores that memories and notes get for their similarity to the query.
type vectorScores struct {
	Memories map[memory.ID]*op.MeaningExplain
	notes    map[string]*op.MeaningExplain // by path
	// archived are those of archived memories, by the paths of their notes.
	archived  map[string]ltm.Near
	elsewhere map[memory.ID]bool // those memories
	// passages are the hits of memories whose nearest embedding is that of a passage.
	passages map[memory.ID]semantic.NearHit
}

// ofMemories returns the scores of memories, nil without any.
func (n *vectorScores) ofMemories() map[memory.ID]float64 {
	if len(n.Memories) == 0 {
		return nil
	}
	scores := make(map[memory.ID]float64, len(n.Memories))
	for id, x := range n.Memories {
		if !n.elsewhere[id] {
			scores[id] = x.Score
		}
	}
	return scores
}

// setArchived sets which of the memories are archived.
func (n *vectorScores) setArchived(e *Search) {
	n.archived, n.elsewhere = make(map[string]ltm.Near), make(map[memory.ID]bool)
	for id, x := range n.Memories {
		if row, live := e.Stm.Get(id); live && e.Archived(row) {
			n.archived[core.NoteOfRow(row)], n.elsewhere[id] = ltm.Near{Score: x.Score}, true
		}
	}
}

// ofNotes returns the scores of notes, nil without any.
func (n *vectorScores) ofNotes() map[string]ltm.Near {
	if len(n.notes) == 0 {
		return nil
	}
	near := make(map[string]ltm.Near, len(n.notes))
	for path, x := range n.notes {
		near[path] = ltm.Near{Score: x.Score, Line: x.Line}
	}
	return near
}

// fusion is the one place where embeddings and words meet. The relevance of a hit is
//
//	relevance = words + A · w · t · near        near = (cos − low) / (high − low), at least 0
//
// words is the BM25 sum over the terms, which is at most about A, the sum of their IDF. near is
// the cosine scaled to 0 for unrelated texts and 1 for short texts with the same meaning, by the
// bounds that the calibration of the model measured (low, high). t is the trust from the
// calibration, or the setting. w is meaningWeight. So both have the same scale by bounds known
// beforehand, and are added. This is the weighted sum of scores after a theoretical normalization
// of Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", ACM TOIS
// 42(1), 2023. They find it better than reciprocal rank fusion (Cormack, Clarke and Büttcher,
// SIGIR 2009) within a domain and outside of it. RRF would also lose the distances that decay,
// stage and rekindling use, and a rank of 1/(60+r) could not be explained term by term.
//
// The factor A scales the sum to the unit of words. With t = 0, or for a text that is not
// near, the relevance equals that of words bit by bit.
type fusion struct {
	query *semantic.QueryEmbedding
	unit  float64 // A · w · t
}

// of returns what a near text adds, nil if it is not near enough.
func (f *fusion) of(s semantic.NearHit) *op.MeaningExplain {
	near := f.query.NormalizedCosine(s.Cosine)
	if near < minNear {
		return nil
	}
	return &op.MeaningExplain{Cosine: s.Cosine, Near: near, Line: s.Line, Score: f.unit * near}
}

// all returns what all near texts add.
func (f *fusion) all(found *nearbyHits) vectorScores {
	out := vectorScores{Memories: make(map[memory.ID]*op.MeaningExplain, len(found.memories)),
		notes:    make(map[string]*op.MeaningExplain, len(found.notes)),
		passages: make(map[memory.ID]semantic.NearHit)}
	for _, s := range found.memories {
		if x := f.of(s); x != nil {
			out.Memories[s.ID] = x
			if s.Chunk > 0 {
				out.passages[s.ID] = s
			}
		}
	}
	for _, s := range found.notes {
		if x := f.of(s); x != nil {
			out.notes[s.Path] = x
		}
	}
	return out
}

// queryEmbeddingWait is the embedding of a query, or why there is none.
type queryEmbeddingWait struct {
	*semantic.QueryEmbedding
	without string
}

// startQueryEmbedding starts to embed the query, if embeddings count.
func (a *SearchRun) startQueryEmbedding(ctx context.Context) {
	if a.Q.embedding != nil {
		return
	}
	a.Q.embedding = func() queryEmbeddingWait { return queryEmbeddingWait{} }
	text := a.Q.textToEmbed()
	if a.E.Semantic.Meaning == nil || a.Q.trust == 0 || text == "" || !a.Present {
		return
	}
	got := make(chan queryEmbeddingWait, 1)
	go func() {
		made := queryEmbeddingWait{without: "emberd could not compute the embedding of the query"}
		_ = contain.Do(a.E.Opt.Logger, contain.Request, "query embedding", func() error {
			made.QueryEmbedding, made.without = a.E.Semantic.Meaning.EmbedQuery(ctx, text)
			return nil
		})
		got <- made
	}()
	a.Q.embedding = sync.OnceValue(func() queryEmbeddingWait { return <-got })
}

// textToEmbed returns the part of a query to embed: its words and phrases, without filters.
func (q *parsedQuery) textToEmbed() string {
	return strings.TrimSpace(strings.Join(append([]string{q.Query.Words}, q.Query.Must.Phrases...), " "))
}

// FindNear finds the texts near the query among those that meet its conditions.
func (a *SearchRun) FindNear(ctx context.Context, c docFrequencies) error {
	a.startQueryEmbedding(ctx)
	a.Q.Near = vectorScores{}
	s := a.Q.embedding()
	a.reportMeaning(s)
	if s.QueryEmbedding == nil {
		return nil
	}
	if a.nearest == nil {
		found, err := a.searchVectors(ctx, s.QueryEmbedding, c)
		if err != nil {
			return err
		}
		a.nearest = found
	}
	f := fusion{query: s.QueryEmbedding, unit: a.WeightOf(c) * meaningWeight * a.Q.trust}
	if a.Q.Near = f.all(a.nearest); a.Q.hasArchive(a.E) {
		a.Q.Near.setArchived(a.E)
	}
	a.Res.AtLeast = a.Res.AtLeast || len(a.Q.Near.Memories) == MaxNear || len(a.Q.Near.notes) == MaxNear
	return nil
}

// nearbyHits are the texts near a query among those that meet its conditions, whatever its
// terms.
type nearbyHits struct{ memories, notes []semantic.NearHit }

// searchVectors searches the vectors of both tiers at once.
func (a *SearchRun) searchVectors(ctx context.Context, s *semantic.QueryEmbedding,
	c docFrequencies) (*nearbyHits, error) {
	var out nearbyHits
	w := semantic.NearQuery{Least: minNear}
	if a.Q.memories {
		w.Memories, w.AcceptMemory = MaxNear, a.Q.set.Accepting(a.E.StmQuery(a.Q, c, 0, false, a.Now))
	}
	if !a.Q.notes {
		out.memories, _ = s.Nearest(ctx, w)
		return &out, nil
	}
	err := a.E.Notes.Vault.Ask(func(index *ltm.Index) error {
		return index.Accepting(a.E.ltmQuery(ctx, a.Q, c, 0, false), func(accept func(string) bool, listed []string) {
			w.Notes, w.AcceptNote, w.ListedNotes = MaxNear, accept, listed
			out.memories, out.notes = s.Nearest(ctx, w)
		})
	})
	return &out, err
}

// similarity returns the similarity of the query and the nearest vector of a hit, nil without one.
func (a *SearchRun) similarity(h *op.Hit) *float64 {
	s := a.Q.embedding()
	if s.QueryEmbedding == nil {
		return nil
	}
	cosine, known := 0.0, false
	if h.Memory != nil {
		cosine, known = s.CosineOfMemory(h.ID)
	} else {
		cosine, known = s.CosineOfNote(h.Note.Path)
	}
	if !known {
		return nil
	}
	return new(s.Similarity(cosine))
}

// reportMeaning sets in the answer how embeddings took part.
func (a *SearchRun) reportMeaning(s queryEmbeddingWait) {
	told := a.E.Semantic.ToldOf(s.QueryEmbedding, s.without)
	if told != nil && !a.Present {
		told.Without = "emberd stores embeddings only for the current texts"
	}
	if a.Res.Meaning = told; told != nil {
		told.Weight = a.Q.trust
	}
}

// Held returns how much of the query's weight asked a text matches, by words or by embedding. The
// result is at most asked.
func (a *SearchRun) Held(x *op.Explain, asked float64) float64 {
	return min(asked, max(a.matched(x.Terms), a.meant(x)*asked))
}

// meant returns the share of a query that a text matches by embedding, 0 if it has none that is near:
// evenShare if it is as near as evenNear, whatever the weight of embeddings in ranking.
func (a *SearchRun) meant(x *op.Explain) float64 {
	if x.Meaning == nil {
		return 0
	}
	return a.Q.embedding().Rack.Trust() * x.Meaning.Near * evenShare / evenNear
}
