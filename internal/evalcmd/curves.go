package evalcmd

import (
	"crypto/sha256"
	"emberd/internal/cli"
	"slices"

	"emberd/internal/dedupe/contradiction"
	"emberd/internal/text/analysis"
)

// weighed is a judged pair with what emberd makes of it.
type weighed struct {
	*judgedPair
	alike     float64
	differ    bool                    // something keeps the texts apart
	apart     string                  // what that is
	adds      bool                    // a says what b does not
	unsaid    bool                    // b does not say all of a in its words
	reworded  bool                    // b can say it in other words
	byVectors bool                    // alike is a similarity of vectors
	least     float64                 // similarity from which a conflict is told, above 1 for never
	found     []contradiction.Finding // what they disagree in, whatever the gate
}

func weigh(a *analysis.Analyzer, pairs []judgedPair) []weighed {
	alike := similarities(a, pairs)
	out := make([]weighed, len(pairs))
	for i := range pairs {
		p := &pairs[i]
		f, g := contradiction.Of(a, p.A), contradiction.Of(a, p.B)
		apart := f.Differ(g)
		out[i] = weighed{p, alike[i], apart != "", apart, f.Adds(g) != "", f.Unsaid(g) != "",
			f.Unknown(g, 1) == "", false, leastTold(f, g), f.Find(g)}
	}
	return out
}

// leastTold is the similarity from which texts are told to contradict each other.
func leastTold(f, g *contradiction.Facts) float64 {
	for _, alike := range []float64{0, contradiction.Related} {
		if len(f.Against(g, alike, contradiction.Related)) > 0 {
			return alike
		}
	}
	return never
}

// never is above every similarity.
const never = 2

// telling counts the pairs that emberd would call a conflict.
type telling struct {
	Told      int     `json:"told"`
	Right     int     `json:"right"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	all       int     // contradictions, told or not
}

func (t *telling) add(w *weighed, tells bool) {
	if w.opposite() {
		t.all++
	}
	if tells {
		t.Told++
		if w.opposite() {
			t.Right++
		}
	}
	t.Precision, t.Recall = float64(t.Right)/float64(max(1, t.Told)), float64(t.Right)/float64(max(1, t.all))
}

// toldReport is what is told of the pairs of a file: through the gate that emberd uses,
// in either half of the pairs, by kind, and where similarity alone is the gate.
type toldReport struct {
	Related float64            `json:"related"` // of the gate
	Gate    telling            `json:"gate"`
	Halves  [2]telling         `json:"halves"` // the pairs by a hash of their id or texts
	Kinds   map[string]telling `json:"kinds,omitempty"`
	Curve   []toldAt           `json:"curve"`
}

type toldAt struct {
	Similarity float64 `json:"similarity"`
	telling
}

// steps is how many steps a curve has.
const steps = 50

func conflictsOf(pairs []weighed) *toldReport {
	r := &toldReport{Related: contradiction.Related, Curve: make([]toldAt, steps+1), Kinds: make(map[string]telling)}
	for i := range r.Curve {
		r.Curve[i].Similarity = float64(i) / steps
	}
	for i := range pairs {
		w := &pairs[i]
		tells := w.tells()
		r.Gate.add(w, tells)
		r.Halves[w.half()].add(w, tells)
		if tells {
			kind := r.Kinds[w.found[0].Kind]
			kind.add(w, true)
			r.Kinds[w.found[0].Kind] = kind
		}
		for j := range r.Curve {
			r.Curve[j].add(w, len(w.found) > 0 && w.alike >= r.Curve[j].Similarity)
		}
	}
	return r
}

// half is 0 or 1, by the pair alone: as it says, or by a hash.
func (p *judgedPair) half() int {
	switch p.Half {
	case "odd":
		return 1
	case "even":
		return 0
	}
	key := p.ID
	if key == "" {
		key = p.A + "\n" + p.B
	}
	sum := sha256.Sum256([]byte(key))
	return int(sum[0] % 2)
}

// inHalf are the pairs of a half, odd or even, or all of them.
func inHalf(pairs []weighed, half string) []weighed {
	return slices.DeleteFunc(pairs, func(w weighed) bool { return half != "" && (half == "odd") != (w.half() == 1) })
}

// paraphrase reports a pair that says the same in other words: called so or implied by
// the other, and graded 4.5 or more where there is a grade.
func (p *judgedPair) paraphrase() bool {
	if p.Label == "" {
		return p.Score != nil && *p.Score >= 4.5
	}
	return p.same() && (p.Score == nil || *p.Score >= 4.5)
}

// mergeReport is how much is merged at the highest threshold that merges enough of the
// paraphrases.
type mergeReport struct {
	Paraphrases    int       `json:"paraphrases"`
	Contradictions int       `json:"contradictions"`
	Share          float64   `json:"share"`     // of the paraphrases that shall be merged
	Guarded        merging   `json:"guarded"`   // what conflicts keep apart is not merged
	Unguarded      merging   `json:"unguarded"` // similarity alone decides
	Curve          []merging `json:"curve"`
}

// merging is what a threshold merges. Reached is false if no threshold merges as many as
// asked for; it is then 0, which merges all that anything merges.
type merging struct {
	Threshold      float64 `json:"threshold"`
	Reached        bool    `json:"reached"`
	Paraphrases    int     `json:"paraphrases"`
	Contradictions int     `json:"contradictions"`
}

// shareToMerge of the paraphrases is what merging is measured at.
const shareToMerge = 0.8

func mergesOf(pairs []weighed) *mergeReport {
	r := &mergeReport{Share: shareToMerge}
	for i := range pairs {
		if pairs[i].paraphrase() {
			r.Paraphrases++
		}
		if pairs[i].opposite() {
			r.Contradictions++
		}
	}
	r.Guarded, r.Unguarded = r.at(pairs, true), r.at(pairs, false)
	for i := range steps + 1 {
		r.Curve = append(r.Curve, merged(pairs, float64(i)/steps, true))
	}
	return r
}

// at finds the highest threshold at which enough paraphrases are merged.
func (r *mergeReport) at(pairs []weighed, guarded bool) merging {
	var alike []float64
	for i := range pairs {
		if w := &pairs[i]; w.paraphrase() && !(guarded && w.differ) {
			alike = append(alike, w.alike)
		}
	}
	slices.Sort(alike)
	slices.Reverse(alike)
	wanted := 0
	for float64(wanted) < shareToMerge*float64(r.Paraphrases) {
		wanted++
	}
	if wanted == 0 || wanted > len(alike) {
		return merged(pairs, 0, guarded)
	}
	m := merged(pairs, alike[wanted-1], guarded)
	m.Reached = true
	return m
}

func merged(pairs []weighed, threshold float64, guarded bool) merging {
	m := merging{Threshold: threshold}
	for i := range pairs {
		w := &pairs[i]
		if w.alike < threshold || guarded && w.differ {
			continue
		}
		if w.paraphrase() {
			m.Paraphrases++
		}
		if w.opposite() {
			m.Contradictions++
		}
	}
	return m
}

func (s *session) printTold(r *toldReport, contradictions int, by string) {
	g := &r.Gate
	s.printf("conflicts told where similarity %s is %.2f or more, or the subject is shared\n", by, r.Related)
	if contradictions == 0 {
		s.printf("  %d memories given, where none apply\n", g.Told)
		return
	}
	s.printf(
		"  %d told, %d right: precision %.3f, recall %.3f; by halves precision %.3f and %.3f, recall %.3f and %.3f\n",
		g.Told, g.Right, g.Precision, g.Recall, r.Halves[0].Precision, r.Halves[1].Precision, r.Halves[0].Recall,
		r.Halves[1].Recall)
}

func (s *session) printMerged(r *mergeReport, by string) {
	share := func(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }
	line := func(m *merging, how string) {
		if m.Reached {
			s.printf("  %s%s: %.1f %% at %.3f", by, how, share(m.Paraphrases, r.Paraphrases), m.Threshold)
		} else {
			s.printf("  %s%s: never more than %.1f %%", by, how, share(m.Paraphrases, r.Paraphrases))
		}
		if r.Contradictions > 0 {
			s.printf(", and %d of %s (%.1f %%)", m.Contradictions, cli.Count(r.Contradictions, "contradiction",
				"contradictions"), share(m.Contradictions, r.Contradictions))
		}
		s.printf("\n")
	}
	line(&r.Guarded, ", unless something keeps them apart")
	line(&r.Unguarded, " alone")
}
