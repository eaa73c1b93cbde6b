package main

import (
	"encoding/json"
	"errors"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"emberd/internal/similarity"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
)

func (s *state) evalPairsCommand() *cobra.Command {
	var svg string
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
opposites. Only the latter are merged without being asked for.

It says how many contradictions emberd tells of, and how much of what it tells
is right. For paraphrases, it finds the highest threshold that merges 80 % of
them, and how many contradictions that merges. With --svg both are drawn as
curves, one or two files for each set.`,
		Example: `  emberd eval pairs sick/pairs_dev.jsonl
  emberd eval pairs sts/pairs.jsonl --json`,
		Annotations: exits(nil),
		Args:        takes(1, -1, "a file of judged pairs, or several"),
		RunE: func(_ *cobra.Command, args []string) error {
			var reports []pairsReport
			for _, name := range args {
				pairs, err := readPairs(name)
				if err != nil {
					return err
				}
				reports = append(reports, judged(name, pairs))
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
	return cmd
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

// pairsReport is what similarity says of the pairs of a file.
type pairsReport struct {
	File       string        `json:"file"`
	Pairs      int           `json:"pairs"`
	Same       int           `json:"same"`
	Opposites  int           `json:"contradictions"`
	Thresholds []atThreshold `json:"thresholds"`
	Conflicts  *toldReport   `json:"conflicts"`
	Merging    *mergeReport  `json:"merging,omitempty"` // where there are paraphrases
}

// atThreshold counts pairs that are at least so similar, and those of them that nothing
// keeps apart.
type atThreshold struct {
	Threshold float64 `json:"threshold"`
	Cosine    float64 `json:"cosine"` // of words, that stands for it
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

// judged compares the texts of each pair, weighing words by all texts of the file.
func judged(name string, pairs []judgedPair) pairsReport {
	r := pairsReport{File: name, Pairs: len(pairs)}
	for _, t := range []float64{0.40, op.CohesionThreshold, op.ClusterThreshold, op.DuplicateThreshold, 0.90, 0.95} {
		r.Thresholds = append(r.Thresholds, atThreshold{Threshold: t, Cosine: similarity.CosineFor(t)})
	}
	analyzer := text.New()
	all := weigh(analyzer, pairs)
	r.count(all)
	r.Conflicts = conflictsOf(all)
	if m := mergesOf(all); m.Paraphrases > 0 {
		r.Merging = m
	}
	return r
}

// count fills in the tallies.
func (r *pairsReport) count(pairs []weighed) {
	var all tally
	for i := range pairs {
		p := &pairs[i]
		all.add(p.judgedPair)
		for j := range r.Thresholds {
			if at := &r.Thresholds[j]; p.alike >= at.Threshold {
				if at.Similar.add(p.judgedPair); !p.differ {
					at.Mergeable.add(p.judgedPair)
				}
			}
		}
	}
	r.Same, r.Opposites = all.Same, all.Opposites
	for j := range r.Thresholds {
		r.Thresholds[j].Similar.finish(r.Same)
		r.Thresholds[j].Mergeable.finish(r.Same)
	}
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
		out[i] = similarity.Calibrate(corpus.Vector(bags[p.A]).Cosine(corpus.Vector(bags[p.B])))
	}
	return out
}

func (s *state) printPairs(r *pairsReport) {
	s.printf("%s  %s, %s the same, %s\n", s.screen.paint(bold, flat(r.File)), count(r.Pairs, "pair", "pairs"), grouped(r.Same),
		count(r.Opposites, "contradiction", "contradictions"))
	s.printf("%s\n", s.screen.paint(faint, "           reach it                              and nothing keeps them apart"))
	s.printf("%s\n", s.screen.paint(faint, "threshold  pairs precision recall contradictions  pairs precision recall contradictions"))
	for _, at := range slices.Backward(r.Thresholds) {
		s.printf("     %.2f", at.Threshold)
		for _, t := range []tally{at.Similar, at.Mergeable} {
			s.printf("  %5d %9.3f %6.3f %14d", t.Pairs, t.Precision, t.Recall, t.Opposites)
		}
		s.printf("\n")
	}
	s.printTold(r.Conflicts, r.Opposites)
	if r.Merging != nil {
		s.printMerged(r.Merging)
	}
}
