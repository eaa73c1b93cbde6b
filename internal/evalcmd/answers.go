package evalcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"emberd/internal/cli"
	"emberd/internal/dedupe/contradiction"
)

// knownFrom is the least similarity at which add and verify take a text for known.
const knownFrom = 0.85

// answered counts what emberd answers about the pairs of one kind.
type answered struct {
	Kind      string  `json:"kind"`
	Half      string  `json:"half"`
	Pairs     int     `json:"pairs"`
	Told      int     `json:"told"`                // as a conflict
	Known     int     `json:"known"`               // taken for the same, so that add stores nothing
	Precision float64 `json:"precision,omitempty"` // of what is told of this kind and of pairs without a conflict
	opposite  bool
}

// answersOf counts answers by kind and half, of the label where a pair has no kind.
func answersOf(pairs []weighed) []answered {
	type key struct{ kind, half string }
	by, alarms := make(map[key]*answered), make(map[string]int)
	for i := range pairs {
		w := &pairs[i]
		k := key{w.kind(), [...]string{"even", "odd"}[w.half()]}
		if by[k] == nil {
			by[k] = &answered{Kind: k.kind, Half: k.half, opposite: w.opposite()}
		}
		a := by[k]
		a.Pairs++
		if w.tells() {
			a.Told++
			if !w.opposite() {
				alarms[k.half]++
			}
		}
		if w.known() {
			a.Known++
		}
	}
	var out []answered
	for _, k := range slices.SortedFunc(maps.Keys(by), func(a, b key) int {
		return slices.Compare([]string{a.half, a.kind}, []string{b.half, b.kind})
	}) {
		a := by[k]
		if a.opposite {
			a.Precision = float64(a.Told) / float64(max(1, a.Told+alarms[a.Half]))
		}
		out = append(out, *a)
	}
	return out
}

// kind is what the pair was written as, or its label.
func (p *judgedPair) kind() string {
	switch {
	case p.Kind != "":
		return p.Kind
	case p.Label != "":
		return p.Label
	}
	return "unlabeled"
}

// tells reports whether emberd says that the texts contradict each other.
func (w *weighed) tells() bool { return w.alike >= w.least }

// known reports whether add answers that the first text is known by the second.
func (w *weighed) known() bool { return w.alike >= knownFrom && !w.differ && !w.adds && !w.unknown() }

// unknown reports whether b does not say all of a, in its words or by vectors.
func (w *weighed) unknown() bool {
	return w.unsaid && !(w.byVectors && w.reworded && w.alike >= contradiction.Reworded)
}

// why is what is told of the texts, or what keeps them apart.
func (w *weighed) why() string {
	switch {
	case len(w.found) > 0:
		return w.found[0].Kind + ": " + w.found[0].Why
	case w.apart != "":
		return w.apart
	case w.adds:
		return "the first adds something"
	case w.unsaid && !w.reworded:
		return "what both have stands in another order"
	case w.unsaid:
		return "the second does not say all of the first"
	}
	return ""
}

// pairAnswer is what emberd answers about one pair.
type pairAnswer struct {
	ID      string  `json:"id"`
	A       string  `json:"a"`
	B       string  `json:"b"`
	Kind    string  `json:"kind"`
	Half    int     `json:"half"` // 1 is odd
	Score   float64 `json:"score,omitempty"`
	Words   float64 `json:"words"`   // similarity
	Vectors float64 `json:"vectors"` // similarity, that of words where a text has none
	Told    bool    `json:"told"`
	Known   bool    `json:"known"`
	Why     string  `json:"why,omitempty"` // what is told, or keeps the texts apart
}

// eachAnswer returns the answers about pairs that were weighed by words and by vectors.
func eachAnswer(byWords, byVectors []weighed) []pairAnswer {
	out := make([]pairAnswer, len(byWords))
	for i := range byWords {
		w, v := &byWords[i], &byVectors[i]
		out[i] = pairAnswer{ID: w.ID, A: w.A, B: w.B, Kind: w.kind(), Half: w.half(), Words: w.alike,
			Vectors: v.alike, Told: v.tells(), Known: v.known(), Why: w.why()}
		if w.Score != nil {
			out[i].Score = *w.Score
		}
	}
	return out
}

// writeEach writes the answers about every pair to a file, one JSON object a line.
func writeEach(name string, reports []pairsReport) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	to := json.NewEncoder(f)
	to.SetEscapeHTML(false)
	for _, r := range reports {
		for i := range r.each {
			if err := to.Encode(&r.each[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *session) printAnswers(all []answered, how string) {
	s.printf("answers %s\n  half  kind            pairs  told  precision  known\n", how)
	for _, a := range all {
		precision := ""
		if a.opposite {
			precision = fmt.Sprintf("%.3f", a.Precision)
		}
		s.printf("  %-5s %-14s  %5d %5d  %9s  %5d\n", a.Half, cli.Clean(a.Kind), a.Pairs, a.Told, precision, a.Known)
	}
}
