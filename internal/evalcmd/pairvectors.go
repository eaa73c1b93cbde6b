package evalcmd

import (
	"context"
	"errors"
	"slices"

	"emberd/embedding"
	"emberd/internal/dedupe/similarity"
	"emberd/memory"
)

// pairVectors makes the vectors of judged texts, as a daemon would.
type pairVectors struct {
	embedder *embedding.Embedder
	identity embedding.Identity
	grade    embedding.Calibration
}

// decisive is the trust from which a daemon lets vectors decide what says the same.
const decisive = 0.5

// openPairVectors loads a model in a GGUF file, or has words hashed if there is none.
func (s *session) openPairVectors(ctx context.Context, model string) (v *pairVectors, err error) {
	opt := embedding.Options{Providers: []string{embedding.Words}}
	if model != "" {
		opt = embedding.Options{Providers: []string{embedding.Go}, Model: model}
	}
	e, err := embedding.Open(opt)
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "%w", err)
	}
	v = &pairVectors{embedder: e}
	if v.identity, err = e.Ready(ctx); err == nil {
		v.grade, err = e.Grade(ctx)
	}
	if err != nil {
		return nil, errors.Join(memory.Errorf(memory.Invalid, "%w; name a GGUF file of a model of vectors", err),
			e.Close())
	}
	return v, nil
}

// name is what people call whose vectors they are.
func (v *pairVectors) name() string {
	if v.identity.Lexical {
		return "hashed words"
	}
	return v.identity.Model
}

// textsAtOnce is how many texts are embedded in one call.
const textsAtOnce = 32

// of embeds the texts of pairs, each once. There is none of what the model does not read
// to its end, as little as of memories.
func (v *pairVectors) of(ctx context.Context, s *session, pairs []judgedPair) (map[string][]float32, error) {
	var texts []string
	out := make(map[string][]float32)
	for _, p := range pairs {
		for _, text := range []string{p.A, p.B} {
			if _, known := out[text]; !known && v.embedder.Tokens(ctx, text) <= v.embedder.MaxTokens() {
				out[text] = nil
				texts = append(texts, text)
			}
		}
	}
	for chunk := range slices.Chunk(texts, textsAtOnce) {
		vectors, err := v.embedder.Embed(ctx, embedding.Passage, chunk)
		if err != nil {
			return nil, err
		}
		for i, text := range chunk {
			out[text] = vectors[i]
		}
	}
	return out, nil
}

// byVectors is what vectors say of the pairs of a file.
type byVectors struct {
	Provider string  `json:"provider"`
	Model    string  `json:"model"`
	Trust    float64 `json:"trust"`    // of the exam; a daemon goes by vectors from 0.5 on
	Compared int     `json:"compared"` // pairs of which both texts have a vector; others go by words
	thresholds
	Higher    []atThreshold `json:"higher"` // by words or vectors, whichever is more similar
	Answers   []answered    `json:"answers"`
	Conflicts *toldReport   `json:"conflicts"`
	Merging   *mergeReport  `json:"merging,omitempty"`
}

// judge compares the pairs once more, by vectors where both texts have one.
func (v *pairVectors) judge(ctx context.Context, s *session, r *pairsReport, byWords []weighed) error {
	pairs := make([]judgedPair, len(byWords))
	for i := range byWords {
		pairs[i] = *byWords[i].judgedPair
	}
	vectors, err := v.of(ctx, s, pairs)
	if err != nil {
		return err
	}
	out := &byVectors{Provider: v.identity.Provider, Model: v.name(), Trust: v.grade.Trust(),
		thresholds: newThresholds()}
	all := slices.Clone(byWords)
	for i := range all {
		a, b := vectors[all[i].A], vectors[all[i].B]
		if a == nil || b == nil {
			continue
		}
		cosine, err := similarity.Cosine(a, b)
		if err != nil {
			return err
		}
		all[i].alike, all[i].byVectors = sixDigits(v.grade.Similarity(cosine)), !v.identity.Lexical
		out.Compared++
	}
	for _, set := range [][]atThreshold{out.Thresholds, out.Curve} {
		for i := range set {
			set[i].Cosine = sixDigits(v.grade.CosineFor(set[i].Threshold))
		}
	}
	out.count(all)
	out.Higher = higher(byWords, all)
	out.Answers, out.Conflicts = answersOf(all), conflictsOf(all)
	if m := mergesOf(all); m.Paraphrases > 0 {
		out.Merging = m
	}
	r.Vectors, r.each = out, eachAnswer(byWords, all)
	return nil
}

// higher counts pairs by the higher of two similarities.
func higher(a, b []weighed) []atThreshold {
	both := slices.Clone(a)
	for i := range both {
		both[i].alike = max(a[i].alike, b[i].alike)
	}
	t := newThresholds()
	t.count(both)
	return t.Thresholds
}
