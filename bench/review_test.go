package bench

import (
	"emberd/engine"
	"math/rand/v2"
	"testing"
	"time"

	"emberd/internal/eval"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// What mixing in what is about to fade does to the quality of answers: every memory has
// an age at random, from none to twenty days, so that two fifths of them are well inside
// the danger zone, whatever is asked; those older than a week are demoted.
func TestEvalReview(t *testing.T) {
	for _, of := range judgedSets()[:2] {
		set := of.read(t)
		figures := map[float64]eval.Figures{}
		for _, ratio := range []float64{0, 0.3} {
			opt := engine.DefaultOptions()
			opt.ReviewRatio, opt.LifecyclePeriod, opt.Durability = ratio, 0, stm.None
			e := openEngine(t, opt)
			importAged(t, e, set.Docs)
			figures[ratio] = evaluate(set, set.Questions, func(q eval.Question) []string { return ask(t, e, q.Text) })
			t.Logf("%s, reviews %.1f  %v; %d of %d answers have one", set.Unit, ratio, figures[ratio], reminding(t, e, set.Questions), len(set.Questions))
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if worse, ok := below(figures[0.3], figures[0]); ok {
			t.Errorf("%s: with reviews %s without", set.Unit, worse)
		}
	}
}

// importAged takes documents in with an age at random, the same in every run.
func importAged(t *testing.T, inv op.Invoker, docs []eval.Doc) {
	t.Helper()
	random, now := rand.New(rand.NewPCG(4, 5)), time.Now()
	const day = 24 * time.Hour
	var records []op.Record
	for _, d := range docs {
		age := time.Duration(random.Int64N(int64(20 * day)))
		m := memory.Memory{Content: d.Content + "\n" + d.Context, Stage: memory.Active, CreatedAt: now.Add(-age)}
		if age > 7*day {
			m.Stage = memory.Demoted
		}
		records = append(records, recordOf(t, m, d.Name))
	}
	importAll(t, inv, records)
}

// reminding counts the answers that a memory was mixed into.
func reminding(t *testing.T, inv op.Invoker, questions []eval.Question) (n int) {
	t.Helper()
	for _, q := range questions {
		for _, h := range call(t, inv, op.Search, &op.SearchRequest{Query: q.Text, Limit: 10, Track: new(bool)}).Hits {
			if h.Review {
				n++
				break
			}
		}
	}
	return n
}
