package search

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
	// dateWeight is the weight of a matching date, relative to all words of the query.
	dateWeight = 0.15
	// minClose is the closeness below which a date does not count.
	minClose = 0.05
)

// dateBoost adds relevance for dates that match those in the query. It is never a condition,
// because a text about a day is often written on another day. The zero value adds nothing.
type dateBoost struct {
	spans []when.Span
	unit  float64 // what a full match adds
}

// newDateBoost returns the boost for a query whose words have the total weight asked.
func (a *SearchRun) newDateBoost(asked float64) dateBoost {
	if !a.Q.Query.After.IsZero() || !a.Q.Query.Before.IsZero() {
		return dateBoost{} // the operators of the query set the date exactly
	}
	return dateBoost{spans: when.Parse(a.Q.textToEmbed(), a.Now.In(time.Local)), unit: asked * dateWeight}
}

// closest returns the span closest to a time, and how close: 1 within it, and half as much for
// each of its lengths away. It returns nil if all are far.
func (d *dateBoost) closest(t time.Time) (span *when.Span, closeness float64) {
	best := minClose
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

// of returns the boost of the best of several times, and why.
func (d *dateBoost) of(moments ...time.Time) *op.SignalExplain {
	var out *op.SignalExplain
	for _, t := range moments {
		if span, c := d.closest(t); span != nil && (out == nil || d.unit*c > out.Score) {
			out = &op.SignalExplain{For: "date, " + span.Text, Score: d.unit * c}
		}
	}
	return out
}

func (d *dateBoost) ofMemory(r *stm.Row) *op.SignalExplain { return d.of(r.CreatedAt()) }

// ofNote uses the creation of the note and the date in its name.
func (d *dateBoost) ofNote(file string, created time.Time) *op.SignalExplain {
	moments := []time.Time{created}
	if name := strings.TrimSuffix(path.Base(file), ".md"); strings.ContainsAny(name, "0123456789") {
		for _, s := range when.Parse(name, created.In(time.Local)) {
			moments = append(moments, s.From.Add(s.To.Sub(s.From)/2))
		}
	}
	return d.of(moments...)
}

// Score returns what a signal adds.
func Score(x *op.SignalExplain) float64 {
	if x == nil {
		return 0
	}
	return x.Score
}

// intoMemories and intoNotes add the boost to a search of a tier.
func (d *dateBoost) intoMemories(q *stm.Query) {
	if len(d.spans) > 0 {
		q.Bonus = func(r *stm.Row) float64 { return Score(d.ofMemory(r)) }
	}
}

func (d *dateBoost) intoNotes(q *ltm.Query) {
	if len(d.spans) > 0 {
		q.Bonus = func(path string, created time.Time) float64 { return Score(d.ofNote(path, created)) }
	}
}
