package bench

import (
	"math/rand/v2"
	"testing"
	"time"

	"emberd/engine"
	"emberd/internal/eval"
	"emberd/stm"
)

// What mixing in what is about to fade does to the quality of answers: every memory has
// an age at random, from none to twenty days, so that about a third of them are in the
// danger zone, whatever is asked.
func TestEvalReview(t *testing.T) {
	for _, set := range judgedSets()[:2] {
		set := set.read(t)
		memories := aged(set.Docs, time.Now(), 20*24*time.Hour)
		figures := map[float64]eval.Figures{}
		for _, ratio := range []float64{0, 0.3} {
			opt := engine.DefaultOptions()
			opt.ReviewRatio, opt.LifecyclePeriod, opt.Durability = ratio, 0, stm.None
			e := openEngine(t, opt)
			saveAll(t, e, requests(memories))
			figures[ratio] = evaluate(set, set.Questions, func(q eval.Question) []string { return ask(t, e, q.Text) })
			t.Logf("%s, reviews %.1f  %v", set.Unit, ratio, figures[ratio])
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if worse, ok := below(figures[0.3], figures[0]); ok {
			t.Errorf("%s: with reviews %s without", set.Unit, worse)
		}
	}
}

// aged gives every memory an age at random, the same in every run.
func aged(docs []eval.Doc, now time.Time, most time.Duration) []eval.Doc {
	random := rand.New(rand.NewPCG(4, 5))
	out := make([]eval.Doc, len(docs))
	for i, d := range docs {
		d.Created = now.Add(-time.Duration(random.Int64N(int64(most))))
		out[i] = d
	}
	return out
}
