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
	g := Calibration{Exam: examVersion, Score: 0.8, Low: 0.6, High: 0.85}
	for _, c := range []struct{ cosine, meaning, similarity float64 }{
		{-1, 0, 0}, {0.5, 0, 0}, {0.6, 0, 0.1}, {0.725, 0.5, 0.4}, {0.85, 1, 0.7}, {0.925, 1.3, 0.85}, {1, 1.6, 1},
	} {
		if m, s := g.Meaning(c.cosine), g.Similarity(c.cosine); abs(m-c.meaning) > 1e-9 || abs(s-c.similarity) > 1e-9 {
			t.Errorf("the cosine %g means %g and is as similar as %g; want %g and %g", c.cosine, m, s, c.meaning,
				c.similarity)
		}
	}
}

func abs[T int | float64](x T) T { return max(x, -x) }

func TestScalesNeverFall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cosines := rapid.Float64Range(-1, 1)
		g := Calibration{
			Score: rapid.Float64Range(0, 1).Draw(t, "score"), Low: cosines.Draw(t, "low"),
			High:    cosines.Draw(t, "high"),
			Lexical: rapid.Bool().Draw(t, "lexical"),
		}
		if g.Lexical {
			g.Low, g.High = 0, 1
		}
		a, b := cosines.Draw(t, "a"), cosines.Draw(t, "b")
		if a > b {
			a, b = b, a
		}
		if one := g.Similarity(1); one != 1 {
			t.Errorf("%+v.Similarity(1) = %g", g, one)
		}
		for name, scale := range map[string]func(float64) float64{"Meaning": g.Meaning, "Similarity": g.Similarity} {
			x, y := scale(a), scale(b)
			if !(0 <= x && x <= y && y <= scale(1)) {
				t.Errorf("%+v.%s(%g) = %g and of %g = %g; want at least 0, rising", g, name, a, x, b, y)
			}
		}
	})
}
