package embedding

import (
	"context"
	"fmt"
)

// Calibration is how a model did in an exam: pairs of short sentences with the same meaning in
// other words, so that none of them shares a stem with its partner. What goes by
// spelling alone, as generated weights and hashed words do, finds partners no more often
// than by chance, and is not trusted with the ranking of notes. What knows
// synonyms finds most.
//
// all-MiniLM-L6-v2 in Q8_0, which was trained with English, has a Score of 0.655, a Low of 0.072
// and a High of 0.556, and full Trust; a test holds it to that. The mean cosine of the English
// pairs alone is 0.60.
type Calibration struct {
	// Exam is the version of the exam.
	Exam int `json:"exam"`
	// Score is the share of sentences whose partner is nearer than all others, less what
	// chance gives: 0 to 1.
	Score float64 `json:"score"`
	// Low and High are the mean cosines of sentences that have nothing to do with each
	// other and of partners.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Lexical vectors sit no exam, since they are not about meaning: their Low is 0,
	// their High 1, and they are never trusted.
	Lexical bool `json:"lexical,omitempty"`
}

// examVersion changes whenever the exam or its rules do.
const examVersion = 1

// Current reports whether a stored Grade is one of the exam as it is today.
func (g Calibration) Current() bool { return g.Exam == examVersion }

// Scores from which a model is trusted a little, and fully. Chance, with its luck, stays
// below the first by far: of 120 sentences it places one, and more than eight not once in
// a million. A model of one language answers the sentences of the others hardly, which is
// why the second is far from 1.
const (
	trustFrom  = 0.15
	trustFully = 0.55
)

// Trust is what share of its weight the model is to have, 0 to 1.
func (g Calibration) Trust() float64 {
	if g.Lexical || !(g.High > g.Low) {
		return 0
	}
	return clamp((g.Score - trustFrom) / (trustFully - trustFrom))
}

// bounds are Low and High, or for a model that could not tell partners from others what
// they are for all-MiniLM-L6-v2: a user who forces its weight gets a ranking.
func (g Calibration) bounds() (low, high float64) {
	if !g.Lexical && g.Trust() == 0 {
		return unrelated, partners
	}
	return g.Low, g.High
}

// Meaning brings a cosine to 0, as of texts that have nothing to do with each other, to
// 1, as of short texts that say the same in other words. Texts that share words as well may
// have more. It never falls where the cosine rises, and is not cut at 1: of long texts many
// are above it, and it has to tell these apart.
func (g Calibration) Meaning(cosine float64) float64 {
	low, high := g.bounds()
	return max(0, (cosine-low)/(high-low))
}

// Cosine is from what cosine on Meaning is at least that, which is above 0.
func (g Calibration) Cosine(meaning float64) float64 {
	low, high := g.bounds()
	return low + meaning*(high-low)
}

// What unrelated sentences and partners of the exam have on the scale of the thresholds,
// which is that of cosines of all-MiniLM-L6-v2. They were assumed from what is published of
// it; measured were 0.07 and 0.56, of English alone 0.60.
const (
	unrelated = 0.1
	partners  = 0.7
)

// Similarity brings a cosine to the scale on which the thresholds for duplicates and the
// like are set: 1 is 1, and partners and unrelated sentences of the exam lie where they
// lie there. Like Meaning it never falls. Of a model without Trust it says nothing.
func (g Calibration) Similarity(cosine float64) float64 {
	low, high := g.bounds()
	switch {
	case g.Lexical || cosine >= 1:
		return clamp(cosine)
	case cosine <= high:
		return clamp(unrelated + (partners-unrelated)*(cosine-low)/(high-low))
	}
	return clamp(partners + (1-partners)*(cosine-high)/(1-high))
}

func clamp(x float64) float64 { return min(max(x, 0), 1) }

// Grade examines the model that Ready describes, once for each identity; a model takes
// some seconds for it. Callers may keep a Grade with the Identity, as long as it is
// Current.
func (e *Embedder) Grade(ctx context.Context) (g Calibration, err error) {
	err = e.with(ctx, func(c *choice) error {
		key := c.identity.Key()
		e.mu.Lock()
		known, ok := e.grades[key]
		e.mu.Unlock()
		if ok {
			g = known
			return nil
		}
		if g, err = e.examine(ctx, c); err != nil {
			return fmt.Errorf("examine the model of vectors: %w", err)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.grades[key] = g
		return nil
	})
	if err != nil {
		return Calibration{}, err
	}
	return g, nil
}

func (e *Embedder) examine(ctx context.Context, c *choice) (Calibration, error) {
	if c.identity.Lexical {
		return Calibration{Exam: examVersion, Lexical: true, High: 1}, nil
	}
	var texts []string
	for _, p := range exam() {
		texts = append(texts, p[0], p[1])
	}
	var vectors [][]float32
	for i := range texts { // one by one, so that bulk gets its turns
		v, err := e.embedWith(ctx, c, Passage, texts[i:i+1])
		if err != nil {
			return Calibration{}, err
		}
		vectors = append(vectors, v...)
	}
	return mark(vectors), nil
}

// mark grades the vectors of the exam: partners stand side by side, and one without a
// vector finds no partner.
func mark(vectors [][]float32) Calibration {
	var low, high mean
	found := 0
	for i, v := range vectors {
		partner := i ^ 1
		best := cosineOr(v, vectors[partner], -1)
		nearest := v != nil && vectors[partner] != nil
		for j, other := range vectors {
			switch {
			case j == i || v == nil || other == nil:
			case j == partner:
				high.add(best)
			default:
				near := cosine(v, other)
				low.add(near)
				nearest = nearest && near < best
			}
		}
		if nearest {
			found++
		}
	}
	chance := 1 / float64(len(vectors)-1)
	share := float64(found) / float64(len(vectors))
	return Calibration{Exam: examVersion, Score: clamp((share - chance) / (1 - chance)), Low: low.value(),
		High: high.value()}
}

func cosineOr(a, b []float32, otherwise float64) float64 {
	if a == nil || b == nil {
		return otherwise
	}
	return cosine(a, b)
}

type mean struct {
	sum float64
	n   int
}

func (m *mean) add(x float64) { m.sum, m.n = m.sum+x, m.n+1 }

// value is 0 of nothing.
func (m *mean) value() float64 { return m.sum / float64(max(m.n, 1)) }
