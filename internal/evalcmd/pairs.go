package evalcmd

import (
	"context"
	"emberd/internal/cli"
	"errors"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"emberd/internal/dedupe/similarity"
	"emberd/internal/text/analysis"
	"emberd/op"
)

func (s *session) pairsCommand() *cobra.Command {
	var svg, model, half, each string
	cmd := &cobra.Command{
		Use:  "pairs FILE…",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			reports, err := s.judgedFiles(cmd.Context(), model, half, args)
			if err != nil {
				return err
			}
			if each != "" {
				if err := writeEach(each, reports); err != nil {
					return err
				}
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
	cmd.Flags().StringVar(&svg, "svg", "", "")
	cmd.Flags().StringVar(&model, "model", "", "")
	cmd.Flags().StringVar(&half, "half", "", "")
	cmd.Flags().StringVar(&each, "each", "", "")
	return cmd
}

func (s *session) judgedFiles(ctx context.Context, model, half string, names []string) (reports []pairsReport,
	err error) {
	if err := checkHalf(half); err != nil {
		return nil, err
	}
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
		all := inHalf(weigh(analysis.New(), pairs), half)
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
	Kind  string   `json:"kind"` // finer than the label; "" if there is none
	Half  string   `json:"half"` // odd or even; "" to choose by a hash
}

func (p *judgedPair) same() bool {
	if p.Label == "" {
		return p.Score != nil && *p.Score >= 4
	}
	return p.Label == "paraphrase" || p.Label == "entailment"
}

func (p *judgedPair) opposite() bool { return p.Label == "contradiction" }

func readPairs(name string) ([]judgedPair, error) {
	return readLines(name, "pair; give the texts a and b", func(p *judgedPair) bool { return p.A != "" && p.B != "" })
}

// pairsReport is what similarity says of the pairs of a file, by words but for Vectors.
type pairsReport struct {
	File      string `json:"file"`
	Pairs     int    `json:"pairs"`
	Same      int    `json:"same"`
	Opposites int    `json:"contradictions"`
	thresholds
	Answers   []answered   `json:"answers"`
	Conflicts *toldReport  `json:"conflicts"`
	Merging   *mergeReport `json:"merging,omitempty"` // where there are paraphrases
	Vectors   *byVectors   `json:"vectors,omitempty"`
	each      []pairAnswer
}

// thresholds are what reaches those that emberd uses, and what reaches each step of a curve.
type thresholds struct {
	Thresholds []atThreshold `json:"thresholds"`
	Curve      []atThreshold `json:"curve"`
}

func newThresholds() (t thresholds) {
	for _, at := range []float64{0.40, 0.60, 0.65, op.CohesionThreshold, op.ClusterThreshold, 0.85,
		op.DuplicateThreshold, 0.90, 0.95} {
		t.Thresholds = append(t.Thresholds, atThreshold{Threshold: at})
	}
	for i := range steps + 1 {
		t.Curve = append(t.Curve, atThreshold{Threshold: float64(i) / steps})
	}
	return t
}

// atThreshold counts pairs that are at least so similar, those of them that nothing keeps
// apart, those of these whose first text says no more than the second, and those of these
// of which the second says all of the first.
type atThreshold struct {
	Threshold float64 `json:"threshold"`
	Cosine    float64 `json:"cosine,omitempty"` // of words or vectors, that stands for it
	Similar   tally   `json:"similar"`
	Mergeable tally   `json:"mergeable"`
	Repeated  tally   `json:"repeated"`
	Known     tally   `json:"known"`
}

type tally struct {
	Pairs     int     `json:"pairs"`
	Same      int     `json:"same"`
	Wrong     int     `json:"wrong"` // pairs that are not the same
	Opposites int     `json:"contradictions"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
}

func (t *tally) add(p *judgedPair) {
	t.Pairs++
	if p.same() {
		t.Same++
	} else {
		t.Wrong++
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
	r.Answers, r.Conflicts = answersOf(all), conflictsOf(all)
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
		reached := []bool{true, !p.differ, !p.differ && !p.adds, !p.differ && !p.adds && !p.unknown()}
		for i, count := range t.tallies() {
			if reached[i] {
				count.add(p.judgedPair)
			}
		}
	}
	for _, count := range t.tallies() {
		count.finish(same)
	}
}

// tallies are those of a threshold, each of a part of the one before.
func (t *atThreshold) tallies() []*tally {
	return []*tally{&t.Similar, &t.Mergeable, &t.Repeated, &t.Known}
}

func similarities(a *analysis.Analyzer, pairs []judgedPair) []float64 {
	corpus, bags := similarity.NewCorpus(a), make(map[string]similarity.TermVector)
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

func (s *session) printPairs(r *pairsReport) {
	s.printf("%s  %s, %s the same, %s\n", cli.Flat(r.File), cli.Count(r.Pairs, "pair", "pairs"), cli.Grouped(r.Same),
		cli.Count(r.Opposites, "contradiction", "contradictions"))
	v := r.Vectors
	s.printf("%s\n", "           by words                                by vectors ("+cli.Flat(v.Model)+")")
	s.printf("%s\n", "threshold  pairs wrong precision recall opposites  pairs wrong precision recall opposites")
	for i, what := range []string{"that reach it", "and that nothing keeps apart",
		"and the first of which adds nothing", "and the second of which says all of the first"} {
		s.printAt(what, r, func(at *atThreshold) *tally { return at.tallies()[i] })
	}
	if v.Trust < decisive {
		s.printf("calibration weights these embeddings with %.2f; below %.2f a daemon uses words\n", v.Trust, decisive)
	}
	if n := r.Pairs - v.Compared; n > 0 {
		s.printf("%s by words in both columns, for the model does not read all of a text\n",
			cli.Count(n, "pair", "pairs"))
	}
	s.printAnswers(r.Answers, "by words")
	s.printAnswers(v.Answers, "by vectors")
	s.printTold(r.Conflicts, r.Opposites, "by words")
	s.printTold(v.Conflicts, r.Opposites, "by vectors")
	if r.Merging != nil {
		s.printf("merged at the threshold that merges %.0f %% of %s\n", 100*r.Merging.Share,
			cli.Count(r.Merging.Paraphrases, "paraphrase", "paraphrases"))
		s.printMerged(r.Merging, "by words")
		s.printMerged(v.Merging, "by vectors")
	}
}

func (s *session) printAt(what string, r *pairsReport, of func(*atThreshold) *tally) {
	s.printf("%s\n", what)
	for i := range slices.Backward(r.Thresholds) {
		s.printf("     %.2f", r.Thresholds[i].Threshold)
		for _, at := range []*atThreshold{&r.Thresholds[i], &r.Vectors.Thresholds[i]} {
			t := of(at)
			s.printf("  %5d %5d %9.3f %6.3f %9d", t.Pairs, t.Wrong, t.Precision, t.Recall, t.Opposites)
		}
		s.printf("\n")
	}
}
