package engine

import (
	"math"
	"path"
	"strings"
	"time"

	"emberd/internal/when"
	"emberd/ltm"
	"emberd/op"
	"emberd/stm"
)

const (
	// dateWeight is what being of a time that the question means is worth beside all its
	// words.
	dateWeight = 0.15
	// leastClose is what closeness is none below.
	leastClose = 0.05
)

// dating is what the times that a question means add to what is from then: relevance, and
// never a condition, since what tells of a day was often written on another. The zero
// dating means none.
type dating struct {
	spans []when.Span
	unit  float64 // what being from then adds
}

// dated works out what dates add, in a corpus where all words of the question weigh asked.
func (a *asking) dated(asked float64) dating {
	if !a.q.query.After.IsZero() || !a.q.query.Before.IsZero() {
		return dating{} // who says it that exactly means it
	}
	return dating{spans: when.Parse(a.q.meant(), a.now.In(time.Local)), unit: asked * dateWeight}
}

// closest is the span that is closest to a moment, and how close: 1 within it, half as much
// with every length of it away. It is nil if all are far.
func (d *dating) closest(t time.Time) (span *when.Span, closeness float64) {
	best := leastClose
	for i := range d.spans {
		if c := closenessOf(&d.spans[i], t); c > best {
			span, best = &d.spans[i], c
		}
	}
	return span, best
}

func closenessOf(s *when.Span, t time.Time) float64 {
	away := max(s.From.Sub(t), t.Sub(s.To), 0)
	return math.Exp2(-float64(away) / float64(s.To.Sub(s.From)))
}

// of is what a moment adds, and why.
func (d *dating) of(moments ...time.Time) *op.SignalExplain {
	var out *op.SignalExplain
	for _, t := range moments {
		if span, c := d.closest(t); span != nil && (out == nil || d.unit*c > out.Score) {
			out = &op.SignalExplain{For: "date, " + span.Text, Score: d.unit * c}
		}
	}
	return out
}

func (d *dating) ofMemory(r *stm.Row) *op.SignalExplain { return d.of(r.CreatedAt()) }

// ofNote goes by its creation, and by the day that its name says.
func (d *dating) ofNote(file string, created time.Time) *op.SignalExplain {
	moments := []time.Time{created}
	if name := strings.TrimSuffix(path.Base(file), ".md"); strings.ContainsAny(name, "0123456789") {
		for _, s := range when.Parse(name, created.In(time.Local)) {
			moments = append(moments, s.From.Add(s.To.Sub(s.From)/2))
		}
	}
	return d.of(moments...)
}

// score is what a signal adds.
func score(x *op.SignalExplain) float64 {
	if x == nil {
		return 0
	}
	return x.Score
}

// intoMemories and intoNotes let dates count in a search of a tier.
func (d *dating) intoMemories(q *stm.Query) {
	if len(d.spans) > 0 {
		q.Bonus = func(r *stm.Row) float64 { return score(d.ofMemory(r)) }
	}
}

func (d *dating) intoNotes(q *ltm.Query) {
	if len(d.spans) > 0 {
		q.Bonus = func(path string, created time.Time) float64 { return score(d.ofNote(path, created)) }
	}
}
