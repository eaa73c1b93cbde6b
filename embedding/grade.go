package embedding

import (
	"context"
	"fmt"
)

// Calibration is how a model did in an exam: pairs of short sentences with the same meaning in
// other words, so that none of them shares a stem with its partner. What goes by
// spelling alone, as generated weights and hashed words do, finds partners no more often
// than by chance, and is not trusted with the ranking of notes. What knows
// synonyms finds most. Questions and passages that answer them are only measured: both
// searches and comparisons need to know which cosines of a model are high, but not for the same
// kinds of texts.
//
// all-MiniLM-L6-v2 in Q8_0, which was trained with English, has a Score of 0.655, a Low of 0.072
// and a High of 0.556, a PassageLow of 0.057 and a PassageHigh of 0.471, and full Trust; a test
// holds it to that. The mean cosine of the English pairs alone is 0.60.
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
	// PassageLow and PassageHigh are the mean cosines of questions and passages that have
	// nothing to do with each other and of questions and the passages that answer them.
	PassageLow  float64 `json:"passage_low"`
	PassageHigh float64 `json:"passage_high"`
	// Lexical vectors sit no exam, since they are not about meaning: their Low is 0,
	// their High 1, and they are never trusted.
	Lexical bool `json:"lexical,omitempty"`
}

// examVersion changes whenever the exam or its rules do.
const examVersion = 2

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

// reference is what all-MiniLM-L6-v2 has in Q8_0. A model that could not tell partners from others
// has its bounds: a user who forces its weight gets a ranking.
var reference = Calibration{Low: 0.072, High: 0.556, PassageLow: 0.057, PassageHigh: 0.471}

// sentences are the bounds of sentences.
func (g Calibration) sentences() (low, high float64) {
	if !g.Lexical && g.Trust() == 0 {
		return reference.Low, reference.High
	}
	return g.Low, g.High
}

// passages are the bounds of questions and passages, or those of sentences for a model that
// tells right passages from others far less than it does sentences: it may read only the
// beginning of a text.
func (g Calibration) passages() (low, high float64) {
	if !g.Lexical && g.Trust() == 0 {
		return reference.PassageLow, reference.PassageHigh
	}
	if g.PassageHigh-g.PassageLow < (g.High-g.Low)/2 {
		return g.Low, g.High
	}
	return g.PassageLow, g.PassageHigh
}

// Meaning brings the cosine of a question and a text to 0, as of texts that have nothing to do
// with it, to 1, as of a passage that answers it in other words. Texts that share words as well
// may have more. It never falls where the cosine rises, and is not cut at 1: it has to tell these
// texts apart.
func (g Calibration) Meaning(cosine float64) float64 {
	low, high := g.passages()
	return max(0, (cosine-low)/(high-low))
}

// Cosine is from what cosine on Meaning is at least that, which is above 0.
func (g Calibration) Cosine(meaning float64) float64 {
	low, high := g.passages()
	return low + meaning*(high-low)
}

// equated are the points of the scale of the thresholds, straight lines between them: of a cosine,
// from 0 of unrelated sentences of the exam over 1 of partners to 2 of the same text, and
// of the similarity on the scale.
//
// They were found by equating with words, as those of words with what people judge: of the pairs of
// SICK, STS and LoCoMo in one half, all-MiniLM-L6-v2 merges no more at such a
// similarity that do not say the same than words do, after all that keeps texts apart.
// docs/internals/evaluation.md has what this gives for the other half.
var equated = [][2]float64{
	{0, 0}, {1, 0.40}, {1.21, 0.60}, {1.36, 0.65}, {1.51, 0.75}, {1.64, 0.83}, {1.73, 0.90}, {1.78, 0.95}, {2, 1},
}

// Similarity brings a cosine to the scale on which the thresholds for duplicates and the
// like are set: 1 is 1, and unrelated sentences of the exam are at 0. Like Meaning it never
// falls. Of a model without Trust it says nothing.
func (g Calibration) Similarity(cosine float64) float64 {
	if g.Lexical || cosine >= 1 {
		return clamp(cosine)
	}
	low, high := g.sentences()
	at := (cosine - low) / (high - low)
	if cosine > high {
		at = 1 + (cosine-high)/(1-high)
	}
	return between(equated, at, 0, 1)
}

// CosineFor is the cosine that Similarity brings to a similarity of 0 to 1.
func (g Calibration) CosineFor(similarity float64) float64 {
	if g.Lexical {
		return similarity
	}
	low, high := g.sentences()
	at := between(equated, similarity, 1, 0)
	return low + min(at, 1)*(high-low) + max(at-1, 0)*(1-high)
}

// between goes from one coordinate of points to the other, in straight lines.
func between(points [][2]float64, x float64, from, to int) float64 {
	for i, p := range points[1:] {
		if before := points[i]; x <= p[from] {
			return before[to] + (p[to]-before[to])*max(0, x-before[from])/(p[from]-before[from])
		}
	}
	return points[len(points)-1][to]
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
			return fmt.Errorf("cannot calibrate the embedding model: %w", err)
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
		return Calibration{Exam: examVersion, Lexical: true, High: 1, PassageHigh: 1}, nil
	}
	sentences, err := e.examVectors(ctx, c, Passage, exam())
	if err != nil {
		return Calibration{}, err
	}
	g := mark(sentences)
	questions, err := e.examVectors(ctx, c, Query, examPassages())
	if err != nil {
		return Calibration{}, err
	}
	g.PassageLow, g.PassageHigh = markPassages(questions)
	return g, nil
}

// examVectors returns the vectors of pairs side by side, of the first texts as those of a kind.
// They are made one by one, so that bulk gets its turns.
func (e *Embedder) examVectors(ctx context.Context, c *choice, first Purpose, pairs [][2]string) ([][]float32, error) {
	var vectors [][]float32
	for _, p := range pairs {
		for i, kind := range []Purpose{first, Passage} {
			v, err := e.embedWith(ctx, c, kind, p[i:i+1])
			if err != nil {
				return nil, err
			}
			vectors = append(vectors, v...)
		}
	}
	return vectors, nil
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

// markPassages returns the mean cosines of questions and the passages of others, and of
// questions and their own. They stand side by side.
func markPassages(vectors [][]float32) (others, own float64) {
	var low, high mean
	for i := 0; i < len(vectors); i += 2 {
		for j := 1; j < len(vectors); j += 2 {
			switch question, passage := vectors[i], vectors[j]; {
			case question == nil || passage == nil:
			case j == i+1:
				high.add(cosine(question, passage))
			default:
				low.add(cosine(question, passage))
			}
		}
	}
	return low.value(), high.value()
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
