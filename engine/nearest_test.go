package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/op"
)

func nearestTo(t testing.TB, e *Engine, text string) *nearness {
	t.Helper()
	n, err := e.nearestTo(context.Background(), probe{text: text, notes: true})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNearestOfWordsInCommon(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	save(t, e, "The roof of the shed needs paint.")
	save(t, e, "The staging database runs on port 5432.")
	n := nearestTo(t, e, "Staging's database runs on port 5432")
	if len(n.all) != 1 || n.all[0].row.Content() != "The staging database runs on port 5432." || n.all[0].similarity < 0.95 {
		t.Errorf("got %+v", n.all)
	}
	if n.by() != op.ComparedByWords || n.loading != nil {
		t.Errorf("compared by %q, loading %v", n.by(), n.loading)
	}
	if n = nearestTo(t, e, "Zeppelins are quixotic"); len(n.all) != 0 {
		t.Errorf("got %+v for what nobody knows", n.all)
	}
}

// Of a longer memory the sentences count that say it.
func TestNearestSentencesOfALongMemory(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	save(t, e, "Notes of the meeting in May. Ann brought cake for everyone.\nThe staging database runs on port 5432. Bob asked who pays the electricity bill. We meet again in June.")
	n := nearestTo(t, e, "The staging database runs on port 5432")
	if len(n.all) != 1 || n.all[0].similarity < 0.95 || n.all[0].text != "The staging database runs on port 5432." {
		t.Errorf("got %+v", n.all)
	}
	n = nearestTo(t, e, "The staging database runs on port 5432. Bob asked who pays the electricity bill.")
	if n.all[0].similarity < 0.95 || n.all[0].text != "The staging database runs on port 5432. Bob asked who pays the electricity bill." {
		t.Errorf("got %+v for two of its sentences", n.all)
	}
}

// A text that is known is found among any number of others that hold all of its words.
func TestTheTextItselfIsFoundAmongItsLike(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for i := range 3 * mostCandidates {
		save(t, e, fmt.Sprintf("deploy is green %s", strings.Repeat("green deploy ", i%7+1)))
	}
	want := save(t, e, "Deploy is  GREEN").ID
	for range mostCandidates {
		save(t, e, "green deploy")
	}
	n := nearestTo(t, e, "deploy is green")
	if !slices.ContainsFunc(n.all, func(one near) bool { return one.same && one.row.ID() == want }) {
		t.Error("the memory with the text was not found")
	}
	for _, text := range []string{"— … —", "to be or not to be"} {
		id := save(t, e, text).ID
		if n := nearestTo(t, e, text); len(n.all) == 0 || !n.all[0].same || n.all[0].row.ID() != id {
			t.Errorf("%q was not found: %+v", text, n.all)
		}
	}
}

func TestNearestNotes(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.write(t, "Databases.md", "# Staging\n\nIt is slow. The staging database runs on port 5432. It is old.\n")
	d.batch([]string{"Databases.md"}, nil)
	n := nearestTo(t, d.Engine, "the staging database runs on port 5432")
	if len(n.all) != 1 || n.all[0].note == nil || n.all[0].note.Path != "Databases.md" || n.all[0].similarity < 0.95 ||
		n.all[0].text != "The staging database runs on port 5432." {
		t.Errorf("got %+v", n.all)
	}
}

// A promoted memory is found once.
func TestTheNoteOfAMemoryIsNoSecondWitness(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	m := save(t, d.Engine, "The staging database runs on port 5432.")
	do(t, d.Engine, op.Promote, &op.PromoteRequest{ID: string(m.ID)})
	if n := nearestTo(t, d.Engine, "the staging database runs on port 5432"); len(n.all) != 1 || n.all[0].row == nil {
		t.Errorf("got %+v", n.all)
	}
}

// What is compared is bounded, whatever the length of the texts.
func TestNearestOfLongTexts(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	long := strings.Repeat("kettle leaks seam gasket tide turns port staging database ", 800)[:45_000]
	for i := range 10 {
		save(t, e, fmt.Sprintf("%s %d", long, i))
	}
	n := nearestTo(t, e, long+" 7")
	if len(n.all) != 10 || !n.all[0].same {
		t.Errorf("got %d, the first the text itself: %v", len(n.all), n.all[0].same)
	}
}

func BenchmarkNearest(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		h := newHouse(b)
		h.Logger, h.Options.Now = nil, nil
		e := h.open(b)
		s := newSynthetic()
		for range n / op.MaxBatch {
			req := new(op.SaveBatchRequest)
			for range op.MaxBatch {
				req.Items = append(req.Items, op.SaveRequest{Content: s.words(10 + s.IntN(20))})
			}
			do(b, e, op.SaveBatch, req)
		}
		for _, length := range []int{12, 6000} {
			var texts []string
			for range 64 {
				texts = append(texts, s.words(length))
			}
			b.Run(fmt.Sprintf("memories=%d/words=%d", n, length), func(b *testing.B) {
				var took []time.Duration
				for i := 0; b.Loop(); i++ {
					begun := time.Now()
					if _, err := e.nearestTo(b.Context(), probe{text: texts[i%len(texts)]}); err != nil {
						b.Fatal(err)
					}
					took = append(took, time.Since(begun))
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			})
		}
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// Whatever else holds the words, those that count are found.
func TestNearestOfThoseThatCount(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for range 4 * mostCandidates {
		do(t, e, op.Save, &op.SaveRequest{Content: "green deploy", Collection: "other"})
	}
	for i := range 3 {
		save(t, e, fmt.Sprintf("the deploy of the %dth machine turned out to be of another green", i))
	}
	want := save(t, e, "Deploy is GREEN").ID
	n, err := e.nearestTo(t.Context(), probe{text: "deploy is green", accept: scoped("", "knowledge")})
	if err != nil || len(n.all) != 4 || !n.all[0].same || n.all[0].row.ID() != want {
		t.Errorf("got %d, %v", len(n.all), err)
	}
}
