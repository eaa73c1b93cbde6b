package main

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"emberd/internal/similarity"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
)

func (s *state) evalPairsCommand() *cobra.Command {
	var svg, model string
	cmd := &cobra.Command{
		Use:   "pairs FILE…",
		Short: "Measure what similarity says of judged pairs of texts",
		Long: `Measure what similarity says of judged pairs of texts, at each threshold that
emberd uses. A FILE is JSONL of objects with the texts "a" and "b", and a
"label": paraphrase and entailment are the same, contradiction is its opposite,
any other is neither; without one a "score" of 4 to 5 is the same.

Of the pairs that reach a threshold, precision is the part that is the same, and
recall is the part of all that are; once of all such pairs, and once of those
that nothing in the text keeps apart: numbers, dates, names, negation or
opposites. Only the latter are merged without being asked for. All of it is
measured by words and by vectors: of the model in the file --model, or of hashed
words without one.

It says how many contradictions emberd tells of, and how much of what it tells
is right. For paraphrases, it finds the highest threshold that merges 80 % of
them, and how many contradictions that merges. With --svg both are drawn as
curves, up to three files for each set.`,
		Example: `  emberd eval pairs sick/pairs_dev.jsonl
  emberd eval pairs sts/pairs.jsonl --model minilm.gguf --svg curves
  emberd eval pairs sts/pairs.jsonl --json`,
		Annotations: exits(nil),
		Args:        takes(1, -1, "a file of judged pairs, or several"),
		RunE: func(cmd *cobra.Command, args []string) error {
			reports, err := s.judgedFiles(cmd.Context(), model, args)
			if err != nil {
				return err
			}
			if svg != "" {
				if err := drawPairs(svg, reports); err != nil {
					return err
				}
			}
			if s.json {
				return s.printJSON(reports)
			}
			for i := range reports {
				s.printPairs(&reports[i])
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&svg, "svg", "", "also draw the curves into the folder `DIR`")
	cmd.Flags().StringVar(&model, "model", "", "compare by vectors of the model in the GGUF `FILE`")
	return cmd
}

func (s *state) judgedFiles(ctx context.Context, model string, names []string) (reports []pairsReport, err error) {
	sets := make([][]judgedPair, len(names))
	for i, name := range names {
		if sets[i], err = readPairs(name); err != nil {
			return nil, err
		}
	}
	v, err := s.openPairVectors(ctx, model)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.embedder.Close()) }()
	for i, pairs := range sets {
		all := weigh(text.New(), pairs)
		r := judged(names[i], all)
		if err := v.judge(ctx, s, &r, all); err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// judgedPair is two texts with what somebody thought of them.
type judgedPair struct {
	ID    string   `json:"id"`
	A     string   `json:"a"`
	B     string   `json:"b"`
	Label string   `json:"label"`
	Score *float64 `json:"score"`
}

func (p *judgedPair) same() bool {
	if p.Label == "" {
		return p.Score != nil && *p.Score >= 4
	}
	return p.Label == "paraphrase" || p.Label == "entailment"
}

func (p *judgedPair) opposite() bool { return p.Label == "contradiction" }

func readPairs(name string) (pairs []judgedPair, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "%w; name a file of judged pairs", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for line, err := range jsonLines(f) {
		if err = errors.Join(err, line.err); err != nil {
			return nil, memory.Errorf(memory.Invalid, "%s: %w", name, err)
		}
		raw, err := json.Marshal(line.object)
		var p judgedPair
		if err = errors.Join(err, json.Unmarshal(raw, &p)); err != nil || p.A == "" || p.B == "" {
			return nil, memory.Errorf(memory.Invalid, "%s: line %d holds no pair; give the texts a and b", name, line.number)
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// pairsReport is what similarity says of the pairs of a file, by words but for Vectors.
type pairsReport struct {
	File      string `json:"file"`
	Pairs     int    `json:"pairs"`
	Same      int    `json:"same"`
	Opposites int    `json:"contradictions"`
	thresholds
	Conflicts *toldReport  `json:"conflicts"`
	Merging   *mergeReport `json:"merging,omitempty"` // where there are paraphrases
	Vectors   *byVectors   `json:"vectors,omitempty"`
}

// thresholds are what reaches those that emberd uses, and what reaches each step of a curve.
type thresholds struct {
	Thresholds []atThreshold `json:"thresholds"`
	Curve      []atThreshold `json:"curve"`
}

func newThresholds() (t thresholds) {
	for _, at := range []float64{0.40, op.CohesionThreshold, op.ClusterThreshold, op.DuplicateThreshold, 0.90, 0.95} {
		t.Thresholds = append(t.Thresholds, atThreshold{Threshold: at})
	}
	for i := range steps + 1 {
		t.Curve = append(t.Curve, atThreshold{Threshold: float64(i) / steps})
	}
	return t
}

// atThreshold counts pairs that are at least so similar, and those of them that nothing
// keeps apart.
type atThreshold struct {
	Threshold float64 `json:"threshold"`
	Cosine    float64 `json:"cosine,omitempty"` // of words, that stands for it
	Similar   tally   `json:"similar"`
	Mergeable tally   `json:"mergeable"`
}

type tally struct {
	Pairs     int     `json:"pairs"`
	Same      int     `json:"same"`
	Opposites int     `json:"contradictions"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
}

func (t *tally) add(p *judgedPair) {
	t.Pairs++
	if p.same() {
		t.Same++
	}
	if p.opposite() {
		t.Opposites++
	}
}

func (t *tally) finish(same int) {
	t.Precision, t.Recall = float64(t.Same)/float64(max(1, t.Pairs)), float64(t.Same)/float64(max(1, same))
}

// judged is what words say of pairs.
func judged(name string, all []weighed) pairsReport {
	r := pairsReport{File: name, Pairs: len(all), thresholds: newThresholds()}
	for _, set := range [][]atThreshold{r.Thresholds, r.Curve} {
		for i := range set {
			set[i].Cosine = similarity.CosineFor(set[i].Threshold)
		}
	}
	counted := r.count(all)
	r.Same, r.Opposites = counted.Same, counted.Opposites
	r.Conflicts = conflictsOf(all)
	if m := mergesOf(all); m.Paraphrases > 0 {
		r.Merging = m
	}
	return r
}

// count fills in the tallies, and returns that of all pairs.
func (t *thresholds) count(pairs []weighed) (all tally) {
	for i := range pairs {
		all.add(pairs[i].judgedPair)
	}
	for _, set := range [][]atThreshold{t.Thresholds, t.Curve} {
		for j := range set {
			set[j].count(pairs, all.Same)
		}
	}
	return all
}

func (t *atThreshold) count(pairs []weighed, same int) {
	for i := range pairs {
		p := &pairs[i]
		if p.alike < t.Threshold {
			continue
		}
		if t.Similar.add(p.judgedPair); !p.differ {
			t.Mergeable.add(p.judgedPair)
		}
	}
	t.Similar.finish(same)
	t.Mergeable.finish(same)
}

func similarities(a *text.Analyzer, pairs []judgedPair) []float64 {
	corpus, bags := similarity.NewCorpus(a), make(map[string]similarity.Bag)
	for _, p := range pairs {
		for _, s := range []string{p.A, p.B} {
			if _, counted := bags[s]; !counted {
				bags[s] = corpus.Add(s)
			}
		}
	}
	out := make([]float64, len(pairs))
	for i, p := range pairs {
		out[i] = sixDigits(similarity.Calibrate(corpus.Vector(bags[p.A]).Cosine(corpus.Vector(bags[p.B]))))
	}
	return out
}

// sixDigits is how exact similarities are, of clusters as well.
func sixDigits(x float64) float64 { return math.Round(1e6*x) / 1e6 }

func (s *state) printPairs(r *pairsReport) {
	s.printf("%s  %s, %s the same, %s\n", s.screen.paint(bold, flat(r.File)), count(r.Pairs, "pair", "pairs"), grouped(r.Same),
		count(r.Opposites, "contradiction", "contradictions"))
	v := r.Vectors
	s.printf("%s\n", s.screen.paint(faint, "           by words                          by vectors ("+flat(v.Model)+")"))
	s.printf("%s\n", s.screen.paint(faint, "threshold  pairs precision recall opposites  pairs precision recall opposites"))
	s.printAt("that reach it", r, func(at *atThreshold) *tally { return &at.Similar })
	s.printAt("and that nothing keeps apart", r, func(at *atThreshold) *tally { return &at.Mergeable })
	if v.Trust < decisive {
		s.printf("the exam trusts these vectors with %.2f; below %.2f a daemon goes by words\n", v.Trust, decisive)
	}
	if n := r.Pairs - v.Compared; n > 0 {
		s.printf("%s by words in both columns, for the model does not read all of a text\n", count(n, "pair", "pairs"))
	}
	s.printTold(r.Conflicts, r.Opposites)
	if r.Merging != nil {
		s.printf("merged at the threshold that merges %.0f %% of %s\n", 100*r.Merging.Share, count(r.Merging.Paraphrases, "paraphrase", "paraphrases"))
		s.printMerged(r.Merging, "by words")
		s.printMerged(v.Merging, "by vectors")
	}
}

func (s *state) printAt(what string, r *pairsReport, of func(*atThreshold) *tally) {
	s.printf("%s\n", what)
	for i := range slices.Backward(r.Thresholds) {
		s.printf("     %.2f", r.Thresholds[i].Threshold)
		for _, at := range []*atThreshold{&r.Thresholds[i], &r.Vectors.Thresholds[i]} {
			t := of(at)
			s.printf("  %5d %9.3f %6.3f %9d", t.Pairs, t.Precision, t.Recall, t.Opposites)
		}
		s.printf("\n")
	}
}
