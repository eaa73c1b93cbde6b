package eval

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestJudge(t *testing.T) {
	relevant := map[string]int{"a": 1, "b": 1, "c": 2}
	ideal := 2 + 1/math.Log2(3) + 0.5
	for _, test := range []struct {
		name    string
		ranking []string
		want    Figures
	}{
		{"nothing found", []string{"x", "y"}, Figures{}},
		{"ideal", []string{"c", "a", "b"}, Figures{0, 1, 1, 1, 1, 1}},
		{"one, third", []string{"x", "y", "a"}, Figures{0, 1. / 3, 1. / 3, 1. / 3, 0.5 / ideal, 1}},
		{"one, sixth", []string{"1", "2", "3", "4", "5", "b"}, Figures{0, 0, 1. / 3, 1. / 6, 1 / math.Log2(7) / ideal, 0}},
		{"eleventh", []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "c"}, Figures{}},
		{"twice", []string{"a", "a", "a"}, Figures{0, 1. / 3, 1. / 3, 1, 1 / ideal, 1}},
	} {
		test.want.Questions = 1
		if got := judge(relevant, test.ranking); !near(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// near reports figures that differ by no more than rounding.
func near(a, b Figures) bool {
	const little = 1e-9
	return a.Questions == b.Questions && math.Abs(a.Recall5-b.Recall5) < little && math.Abs(a.Recall10-b.Recall10) < little &&
		math.Abs(a.MRR10-b.MRR10) < little && math.Abs(a.NDCG10-b.NDCG10) < little && math.Abs(a.Hit5-b.Hit5) < little
}

func TestMeasureIsTheMeanOverJudgedQuestions(t *testing.T) {
	j := Judgements{Relevant: map[string]map[string]int{"1": {"a": 1}, "2": {"b": 1}, "elsewhere": {"a": 1}}}
	questions := []Question{{ID: "1"}, {ID: "2"}, {ID: "not judged"}}
	run := Run{"1": {"a"}, "not judged": {"a"}}
	if got, want := j.Measure(questions, run), (Figures{2, 0.5, 0.5, 0.5, 0.5, 0.5}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := j.Measure(nil, run); got != (Figures{}) {
		t.Errorf("without questions: %+v, want zeros", got)
	}
}

func TestMeasureStaysWithinBounds(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"})
	rapid.Check(t, func(t *rapid.T) {
		relevant := rapid.MapOfN(names, rapid.IntRange(1, 3), 1, 12).Draw(t, "relevant")
		ranking := rapid.SliceOfN(names, 0, 15).Draw(t, "ranking")
		f := judge(relevant, ranking)
		for name, v := range map[string]float64{"R@5": f.Recall5, "R@10": f.Recall10, "MRR@10": f.MRR10, "nDCG@10": f.NDCG10, "hit@5": f.Hit5} {
			if v < 0 || v > 1+1e-9 {
				t.Errorf("%s is %v", name, v)
			}
		}
		if f.Recall5 > f.Recall10 || (f.Recall5 > 0) != (f.Hit5 == 1) || (f.MRR10 > 0) != (f.Recall10 > 0) {
			t.Errorf("measures disagree: %+v", f)
		}
		if folded := judge(relevant, Distinct(ranking)); folded.Recall10 < f.Recall10 || folded.NDCG10 < f.NDCG10-1e-9 {
			t.Errorf("without repetitions it is worse: %v, with them %v", folded, f)
		}
	})
}

func TestDistinctAndRank(t *testing.T) {
	ranking := []string{"a", "b", "a", "c", "b"}
	if got, want := Distinct(ranking), []string{"a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("Distinct is %v, want %v", got, want)
	}
	for name, want := range map[string]int{"a": 1, "c": 4, "z": 0} {
		if got := Rank(ranking, name); got != want {
			t.Errorf("Rank of %s is %d, want %d", name, got, want)
		}
	}
}

func TestLatencyOf(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(100-i)*time.Millisecond)
	}
	if got, want := LatencyOf(hundred), (Latency{100, 50, 95, 99}); got != want {
		t.Errorf("of 1 to 100 ms: %+v, want %+v", got, want)
	}
	if got, want := LatencyOf(hundred[:1]), (Latency{1, 100, 100, 100}); got != want {
		t.Errorf("of one sample: %+v, want %+v", got, want)
	}
	if got := LatencyOf(nil); got != (Latency{}) {
		t.Errorf("of none: %+v, want zeros", got)
	}
}

func TestAnswerJudge(t *testing.T) {
	a := Answer{ID: "q", Top: []string{"x", "b"}}
	a.Judge(Judgements{"qrels.tsv", map[string]map[string]int{"q": {"b": 1, "a": 1}}}, []string{"a"})
	want := []Place{{"qrels.tsv", "a", 0, 1}, {"qrels.tsv", "b", 2, 0}}
	if !slices.Equal(a.Relevant, want) {
		t.Errorf("%+v, want %+v", a.Relevant, want)
	}
}
