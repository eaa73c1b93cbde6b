package evalcmd

import (
	"fmt"
	"maps"
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
func (w *weighed) tells() bool {
	return len(w.found) > 0 && (w.alike >= contradiction.Related || w.shares)
}

// known reports whether add answers that the first text is known by the second.
func (w *weighed) known() bool { return w.alike >= knownFrom && !w.differ && !w.adds && !w.swap }

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
