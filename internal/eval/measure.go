package eval

import (
	"fmt"
	"math"
	"slices"
)

// Run is what a search answered: the names of things by a question's id, best
// first. A question that is not in it found nothing.
type Run map[string][]string

// Judgements say which things answer a question, and how well: grades from 1 by
// the thing's name, by the question's id. Nothing is held against a thing that
// they do not name.
type Judgements struct {
	File     string
	Relevant map[string]map[string]int
}

// Figures are the measures of a ranking, or their means over questions.
type Figures struct {
	Questions int     `json:"questions"`
	Recall5   float64 `json:"recall@5"`
	Recall10  float64 `json:"recall@10"`
	MRR10     float64 `json:"mrr@10"`
	NDCG10    float64 `json:"ndcg@10"`
	Hit5      float64 `json:"hit@5"`
}

func (f Figures) String() string {
	return fmt.Sprintf("R@5 %.3f  R@10 %.3f  MRR@10 %.3f  nDCG@10 %.3f  hit@5 %.3f", f.Recall5, f.Recall10, f.MRR10,
		f.NDCG10, f.Hit5)
}

// Measure judges a run over those of the questions that j judges.
func (j Judgements) Measure(questions []Question, run Run) Figures {
	var sum Figures
	for _, q := range questions {
		if relevant := j.Relevant[q.ID]; relevant != nil {
			sum = sum.plus(judge(relevant, run[q.ID]))
		}
	}
	n := float64(max(1, sum.Questions))
	return Figures{sum.Questions, sum.Recall5 / n, sum.Recall10 / n, sum.MRR10 / n, sum.NDCG10 / n, sum.Hit5 / n}
}

func (f Figures) plus(o Figures) Figures {
	return Figures{f.Questions + o.Questions, f.Recall5 + o.Recall5, f.Recall10 + o.Recall10,
		f.MRR10 + o.MRR10, f.NDCG10 + o.NDCG10, f.Hit5 + o.Hit5}
}

// judge measures the ranking of one question.
func judge(relevant map[string]int, ranking []string) Figures {
	f := Figures{Questions: 1}
	share, seen := 1/float64(len(relevant)), map[string]bool{}
	for i, name := range ranking[:min(10, len(ranking))] {
		grade := relevant[name]
		if grade == 0 || seen[name] {
			continue
		}
		seen[name] = true
		f.Recall10 += share
		if i < 5 {
			f.Recall5 += share
			f.Hit5 = 1
		}
		if f.MRR10 == 0 {
			f.MRR10 = 1 / float64(i+1)
		}
		f.NDCG10 += float64(grade) / math.Log2(float64(i+2))
	}
	f.NDCG10 /= ideal(relevant)
	return f
}

// ideal is the discounted gain of the best ranking that there could be.
func ideal(relevant map[string]int) float64 {
	grades := make([]int, 0, len(relevant))
	for _, g := range relevant {
		grades = append(grades, -g)
	}
	slices.Sort(grades)
	sum := 0.0
	for i, g := range grades[:min(10, len(grades))] {
		sum += float64(-g) / math.Log2(float64(i+2))
	}
	return sum
}

// Distinct returns a ranking without repetitions: where several places of one
// note were found, the note stands at the first.
func Distinct(ranking []string) []string {
	seen := make(map[string]bool, len(ranking))
	return slices.DeleteFunc(slices.Clone(ranking), func(name string) bool {
		again := seen[name]
		seen[name] = true
		return again
	})
}

// Rank is the place of a thing in a ranking, from 1; 0 when it is not in it.
func Rank(ranking []string, name string) int { return slices.Index(ranking, name) + 1 }
