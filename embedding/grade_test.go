package embedding

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"emberd/internal/tinybert"
)

func grade(t *testing.T, e *Embedder) Calibration {
	t.Helper()
	g, err := e.Grade(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := e.Grade(t.Context()); err != nil || again != g || !again.Current() {
		t.Errorf("a second grade is %+v, %v; want %+v", again, err, g)
	}
	return g
}

// Weights that nobody trained know no meaning, whatever their shape: whoever installs
// such a model is to have the searches that he had before.
func TestGeneratedWeightsAreNotTrusted(t *testing.T) {
	shapes := []tinybert.Spec{
		tinybert.Tiny(),
		{Layers: 2, Dim: 32, Heads: 4, FeedForward: 64, Context: 128, Vocabulary: 197, Pooling: 2},
		{Layers: 4, Dim: 48, Heads: 4, FeedForward: 96, Context: 128, Vocabulary: 400, Pooling: 1},
		{Layers: 6, Dim: 64, Heads: 4, FeedForward: 128, Context: 256, Vocabulary: 197, Pooling: 1, Type: 8},
		{Layers: 3, Dim: 64, Heads: 2, FeedForward: 256, Context: 128, Vocabulary: 1000, Pooling: 2, Type: 1},
	}
	seeds := uint64(1)
	if long() {
		seeds = 20
	}
	for i, shape := range shapes {
		for seed := range seeds {
			shape.Seed = 100*seed + 42
			t.Run(fmt.Sprintf("shape %d, seed %d", i, shape.Seed), func(t *testing.T) {
				if g := grade(t, openModel(t, modelFile(t, shape))); g.Trust() != 0 {
					t.Errorf("the grade is %+v and the trust %g, want 0", g, g.Trust())
				} else {
					t.Logf("%+v", g)
				}
			})
		}
	}
}

// Vectors that say nothing of their text.
func TestEmptyVectorsAreNotTrusted(t *testing.T) {
	for name, model := range map[string]func(string) []float32{
		"always the same": func(string) []float32 { return []float32{3, 4, 0} },
		"one of two": func(text string) []float32 {
			if len(text)%2 == 0 {
				return []float32{1, 0}
			}
			return []float32{0, 1}
		},
		"random": func(text string) []float32 {
			h := fnv.New64a()
			_, _ = h.Write([]byte(text))
			random := rand.New(rand.NewPCG(h.Sum64(), 1))
			v := make([]float32, 384)
			for i := range v {
				v[i] = float32(random.NormFloat64())
			}
			return v
		},
		"its length":   func(text string) []float32 { return []float32{float32(len(text)), 1} },
		"its spelling": spelling,
	} {
		t.Run(name, func(t *testing.T) {
			if g := grade(t, client(t, serve(t, answers{}, model))); g.Trust() != 0 {
				t.Errorf("the grade is %+v and the trust %g, want 0", g, g.Trust())
			} else {
				t.Logf("%+v", g)
			}
		})
	}
}

func TestLexicalVectorsSitNoExam(t *testing.T) {
	g := grade(t, open(t, Options{Providers: []string{Words}}))
	if !g.Lexical || g.Trust() != 0 || g.Meaning(0.4) != 0.4 || g.Similarity(0.4) != 0.4 {
		t.Errorf("the grade is %+v, the trust %g and of a cosine of 0.4 becomes %g and %g; want no trust, and "+
			"cosines as they are",
			g, g.Trust(), g.Meaning(0.4), g.Similarity(0.4))
	}
}

func TestTrustGrowsWithTheScore(t *testing.T) {
	for score, want := range map[float64]float64{0: 0, 0.1: 0, 0.15: 0, 0.35: 0.5, 0.55: 1, 0.9: 1, 1: 1} {
		if got := (Calibration{Score: score, Low: 0.1, High: 0.6}).Trust(); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("the score %g earns the trust %g, want %g", score, got, want)
		}
	}
	if got := (Calibration{Score: 0.9, Low: 0.5, High: 0.5}).Trust(); got != 0 {
		t.Errorf("with all texts equally near the trust is %g, want 0", got)
	}
}

func TestCosinesAreBroughtToTheirScales(t *testing.T) {
	// a model whose vectors are all near each other
	g := Calibration{Exam: examVersion, Score: 0.8, Low: 0.6, High: 0.85, PassageLow: 0.5, PassageHigh: 0.75}
	for _, c := range []struct{ cosine, meaning, similarity float64 }{
		{-1, 0, 0}, {0.5, 0, 0}, {0.6, 0.4, 0}, {0.725, 0.9, 0.2}, {0.85, 1.4, 0.4}, {0.946, 1.784, 0.83}, {1, 2, 1},
	} {
		if m, s := g.Meaning(c.cosine), g.Similarity(c.cosine); abs(m-c.meaning) > 1e-9 || abs(s-c.similarity) > 1e-9 {
			t.Errorf("the cosine %g means %g and is as similar as %g; want %g and %g", c.cosine, m, s, c.meaning,
				c.similarity)
		}
	}
}

// Bounds of questions are those of passages only where a model tells right passages from others.
func TestQuestionsHaveBoundsOfTheirOwn(t *testing.T) {
	g := Calibration{Exam: examVersion, Score: 0.8, Low: 0.1, High: 0.6, PassageLow: 0.1, PassageHigh: 0.5}
	if got := g.Meaning(0.5); abs(got-1) > 1e-9 {
		t.Errorf("the cosine of a question and its passage means %g, want 1", got)
	}
	if got := g.Cosine(0.5); abs(got-0.3) > 1e-9 {
		t.Errorf("a meaning of 0.5 is from the cosine %g on, want 0.3", got)
	}
	g.PassageHigh = 0.3
	if got := g.Meaning(0.6); abs(got-1) > 1e-9 {
		t.Errorf("with questions hardly told apart, the cosine of partners means %g, want 1", got)
	}
	vectors := [][]float32{{1, 0}, {1, 0}, {0, 1}, {0.6, 0.8}, nil, {1, 0}}
	if others, own := markPassages(vectors); abs(others-0.4) > 1e-6 || abs(own-0.9) > 1e-6 {
		t.Errorf("mean cosines of %g with others and %g with its own; want 0.4 and 0.9", others, own)
	}
}

// Similarity of all-MiniLM-L6-v2 at the thresholds of the product, which are from calibration.
func TestThresholdsStandForCosines(t *testing.T) {
	g := reference
	g.Score = 0.655
	for similarity, want := range map[float64]float64{
		0.40: 0.556, 0.60: 0.649, 0.65: 0.716, 0.75: 0.782, 0.83: 0.840, 0.85: 0.852, 0.88: 0.869, 0.90: 0.880,
		0.95: 0.902, 1: 1,
	} {
		if got := g.CosineFor(similarity); abs(got-want) > 0.001 {
			t.Errorf("the similarity %g is from the cosine %.4f on, want %.3f", similarity, got, want)
		}
	}
}

func abs[T int | float64](x T) T { return max(x, -x) }

func TestScalesNeverFall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cosines := rapid.Float64Range(-1, 1)
		g := Calibration{
			Score: rapid.Float64Range(0, 1).Draw(t, "score"), Low: cosines.Draw(t, "low"),
			High:       cosines.Draw(t, "high"),
			PassageLow: cosines.Draw(t, "low of passages"), PassageHigh: cosines.Draw(t, "high of passages"),
			Lexical: rapid.Bool().Draw(t, "lexical"),
		}
		if g.Lexical {
			g.Low, g.High, g.PassageLow, g.PassageHigh = 0, 1, 0, 1
		}
		a, b := cosines.Draw(t, "a"), cosines.Draw(t, "b")
		if a > b {
			a, b = b, a
		}
		if x, y := g.Meaning(a), g.Meaning(b); !(0 <= x && x <= y) {
			t.Errorf("%+v.Meaning(%g) = %g and of %g = %g; want at least 0, rising", g, a, x, b, y)
		}
		if x, y := g.Similarity(a), g.Similarity(b); !(0 <= x && x <= y && y <= 1) {
			t.Errorf("%+v.Similarity(%g) = %g and of %g = %g; want 0 to 1, rising", g, a, x, b, y)
		}
		if one := g.Similarity(1); one != 1 {
			t.Errorf("%+v.Similarity(1) = %g", g, one)
		}
		x := rapid.Float64Range(0, 1).Draw(t, "similarity")
		if back := g.Similarity(g.CosineFor(x)); g.High < 0.99 && abs(back-x) > 1e-6 {
			t.Errorf("%+v.Similarity(CosineFor(%g)) = %g", g, x, back)
		}
	})
}
