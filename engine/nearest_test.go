package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/learn"
	"emberd/engine/similar"
	"emberd/op"
)

func nearestTo(t testing.TB, e *engine.Engine, text string) *similar.Candidates {
	t.Helper()
	n, err := e.Similar.FindSimilar(context.Background(), similar.Probe{Text: text, Notes: true})
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
	if len(n.All) != 1 || n.All[0].Row.Content() != "The staging database runs on port 5432." || n.All[0].Similarity < 0.95 {
		t.Errorf("got %+v", n.All)
	}
	if n.By() != op.ComparedByWords || n.Loading != nil {
		t.Errorf("compared by %q, loading %v", n.By(), n.Loading)
	}
	if n = nearestTo(t, e, "Zeppelins are quixotic"); len(n.All) != 0 {
		t.Errorf("got %+v for what nobody knows", n.All)
	}
}

// Of a longer memory the sentences count that say it.
func TestNearestSentencesOfALongMemory(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	save(t, e, "Notes of the meeting in May. Ann brought cake for everyone.\nThe staging database runs on port 5432. Bob asked who pays the electricity bill. We meet again in June.")
	n := nearestTo(t, e, "The staging database runs on port 5432")
	if len(n.All) != 1 || n.All[0].Similarity < 0.95 || n.All[0].Text != "The staging database runs on port 5432." {
		t.Errorf("got %+v", n.All)
	}
	n = nearestTo(t, e, "The staging database runs on port 5432. Bob asked who pays the electricity bill.")
	if n.All[0].Similarity < 0.95 || n.All[0].Text != "The staging database runs on port 5432. Bob asked who pays the electricity bill." {
		t.Errorf("got %+v for two of its sentences", n.All)
	}
}

// A text that is known is found among any number of others that hold all of its words.
func TestTheTextItselfIsFoundAmongItsLike(t *testing.T) {
	t.Parallel()
	e, _ := newEngine(t)
	for i := range 3 * similar.MaxCandidates {
		save(t, e, fmt.Sprintf("deploy is green %s", strings.Repeat("green deploy ", i%7+1)))
	}
	want := save(t, e, "Deploy is  GREEN").ID
	for range similar.MaxCandidates {
		save(t, e, "green deploy")
	}
	n := nearestTo(t, e, "deploy is green")
	if !slices.ContainsFunc(n.All, func(one similar.Near) bool { return one.Same && one.Row.ID() == want }) {
		t.Error("the memory with the text was not found")
	}
	for _, text := range []string{"— … —", "to be or not to be"} {
		id := save(t, e, text).ID
		if n := nearestTo(t, e, text); len(n.All) == 0 || !n.All[0].Same || n.All[0].Row.ID() != id {
			t.Errorf("%q was not found: %+v", text, n.All)
		}
	}
}

func TestNearestNotes(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.write(t, "Databases.md", "# Staging\n\nIt is slow. The staging database runs on port 5432. It is old.\n")
	d.batch([]string{"Databases.md"}, nil)
	n := nearestTo(t, d.Engine, "the staging database runs on port 5432")
	if len(n.All) != 1 || n.All[0].Note == nil || n.All[0].Note.Path != "Databases.md" || n.All[0].Similarity < 0.95 ||
		n.All[0].Text != "The staging database runs on port 5432." {
		t.Errorf("got %+v", n.All)
	}
}

// A promoted memory is found once.
func TestTheNoteOfAMemoryIsNoSecondWitness(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	m := save(t, d.Engine, "The staging database runs on port 5432.")
	do(t, d.Engine, op.Promote, &op.PromoteRequest{ID: string(m.ID)})
	if n := nearestTo(t, d.Engine, "the staging database runs on port 5432"); len(n.All) != 1 || n.All[0].Row == nil {
		t.Errorf("got %+v", n.All)
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
	if len(n.All) != 10 || !n.All[0].Same {
		t.Errorf("got %d, the first the text itself: %v", len(n.All), n.All[0].Same)
	}
}

func BenchmarkNearest(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		e, s := synthesized(b, n, 10)
		for _, length := range []int{12, 6000} {
			var texts []string
			for range 64 {
				texts = append(texts, s.words(length))
			}
			b.Run(fmt.Sprintf("memories=%d/words=%d", n, length), func(b *testing.B) {
				var took []time.Duration
				for i := 0; b.Loop(); i++ {
					begun := time.Now()
					if _, err := e.Similar.FindSimilar(b.Context(), similar.Probe{Text: texts[i%len(texts)]}); err != nil {
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
	for range 4 * similar.MaxCandidates {
		do(t, e, op.Save, &op.SaveRequest{Content: "green deploy", Collection: "other"})
	}
	for i := range 3 {
		save(t, e, fmt.Sprintf("the deploy of the %dth machine turned out to be of another green", i))
	}
	want := save(t, e, "Deploy is GREEN").ID
	n, err := e.Similar.FindSimilar(t.Context(), similar.Probe{Text: "deploy is green", Accept: learn.Scoped("", "knowledge")})
	if err != nil || len(n.All) != 4 || !n.All[0].Same || n.All[0].Row.ID() != want {
		t.Errorf("got %d, %v", len(n.All), err)
	}
}
