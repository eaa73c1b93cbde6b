package eval

import (
	"math/rand/v2"
	"slices"
)

// Weigh says how much each question counts. Those that name their answer count nothing,
// and notes and memories count half each however many there are of either, so that no
// weight between the two wins by numbers. The weights sum to 1, or to 0 if nothing counts.
func (o *Own) Weigh() []float64 {
	weights, sums := make([]float64, len(o.Questions)), map[bool]float64{}
	for _, q := range o.Questions {
		if q.Category != Named {
			sums[o.Memory[q.Group]]++
		}
	}
	for i, q := range o.Questions {
		if q.Category != Named {
			weights[i] = 1 / (sums[o.Memory[q.Group]] * float64(len(sums)))
		}
	}
	return weights
}

// HeldOut splits the questions in two by what answers them, so that no answer is on both
// sides: a setting is chosen by the first half and confirmed by the one held out.
func (o *Own) HeldOut(seed uint64) []bool {
	out := make([]bool, len(o.Questions))
	for i, q := range o.Questions {
		out[i] = drawn(seed, q.Group)&1 == 1
	}
	return out
}

// Gains are the measures of each question, in order.
func (o *Own) Gains(run Run) []Figures {
	gains := make([]Figures, len(o.Questions))
	for i, q := range o.Questions {
		gains[i] = judge(o.Judgements.Relevant[q.ID], run[q.ID])
	}
	return gains
}

// Mean is the weighted mean of those values that keep says, 0 if none weighs anything.
func Mean(values, weights []float64, keep func(i int) bool) float64 {
	sum, all := 0.0, 0.0
	for i, v := range values {
		if keep(i) {
			sum += weights[i] * v
			all += weights[i]
		}
	}
	if all == 0 {
		return 0
	}
	return sum / all
}

// Difference is how much better one way of ranking is than another over the same
// questions, with the bounds between which it is in 95 of 100 samples of them.
type Difference struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// resamples are enough for bounds that are steady in the third decimal.
const resamples = 2000

// Compare is the weighted mean of differences, question by question, and its bounds by
// the percentiles of a paired bootstrap (Efron and Tibshirani, 1993, 13.3).
func Compare(differences, weights []float64, seed uint64) Difference {
	n := len(differences)
	every := func(int) bool { return true }
	d := Difference{Mean: Mean(differences, weights, every)}
	if n == 0 {
		return d
	}
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	means := make([]float64, resamples)
	for k := range means {
		sum, all := 0.0, 0.0
		for range n {
			i := rng.IntN(n)
			sum += weights[i] * differences[i]
			all += weights[i]
		}
		if all > 0 {
			means[k] = sum / all
		}
	}
	slices.Sort(means)
	d.Low, d.High = means[resamples/40], means[resamples-1-resamples/40]
	return d
}
