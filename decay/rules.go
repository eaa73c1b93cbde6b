package decay

import (
	"cmp"
	"slices"
	"time"
)

// ForgetThreshold is the decay score below which a memory may be collected,
// CortexGraph's default.
const ForgetThreshold = 0.05

// A Reason names the rule that promotes a memory. The zero value is none.
type Reason string

// The reasons, strongest first.
const (
	Forced  Reason = "force"     // the caller asked for it
	ByScore Reason = "score"     // the score has reached the threshold
	ByUse   Reason = "use_count" // enough uses while it was young
)

// Promotion is when a memory deserves a note. CortexGraph promotes by score or by
// use alone; as its scores start at 1, everything would be promoted in its first
// two days, so the score counts only from MinAge and MinUses on.
type Promotion struct {
	Threshold float64       // least score, 0 or more
	UseCount  int           // uses that suffice whatever the score, 1 or more
	Window    time.Duration // the age, inclusive, up to which they do
	MinAge    time.Duration // the age from which the score counts
	MinUses   int           // recorded uses after the save without which it does not
}

// DefaultPromotion returns CortexGraph's figures with an age of 72 hours and one use.
func DefaultPromotion() Promotion {
	return Promotion{Threshold: 0.65, UseCount: 5, Window: 14 * 24 * time.Hour, MinAge: 72 * time.Hour, MinUses: 1}
}

// Bare returns the rule for a memory that was named by its id: the score counts
// at any age and without use.
func (p Promotion) Bare() Promotion {
	p.MinAge, p.MinUses = 0, 0
	return p
}

// Due returns why a memory with that score is to be promoted at now, "" when it
// is not. A memory that was created in the future is of age 0.
func (p Promotion) Due(score float64, useCount int, created, now time.Time, force bool) Reason {
	age := max(0, now.Round(0).Sub(created))
	switch {
	case force:
		return Forced
	case score >= p.Threshold && age >= p.MinAge && useCount >= p.MinUses:
		return ByScore
	case useCount >= p.UseCount && age <= p.Window:
		return ByUse
	}
	return ""
}

// Candidate is a memory that gc looks at.
type Candidate struct {
	ID             string
	Score          float64
	Core, Promoted bool
}

// Collect returns the candidates that may be forgotten: those that score below
// threshold and are neither core nor promoted, lowest score first and equal ones
// by id, at most limit of them unless limit is 0. It leaves its argument as it is.
func Collect(all []Candidate, threshold float64, limit int) []Candidate {
	var due []Candidate
	for _, c := range all {
		if c.Score < threshold && !c.Core && !c.Promoted {
			due = append(due, c)
		}
	}
	slices.SortFunc(due, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Score, b.Score), cmp.Compare(a.ID, b.ID))
	})
	if limit > 0 && limit < len(due) {
		due = due[:limit]
	}
	return due
}

// An Urgency is how soon a fading memory needs attention. The zero value is not
// at all.
type Urgency string

// The urgencies of CortexGraph's DecayAnalyzer.
const (
	High   Urgency = "high"
	Medium Urgency = "medium"
	Low    Urgency = "low"
)

// UrgencyOf returns high below a score of 0.15, medium below 0.25, low below 0.35.
func UrgencyOf(score float64) Urgency {
	switch {
	case score < 0.15:
		return High
	case score < 0.25:
		return Medium
	case score < 0.35:
		return Low
	}
	return ""
}

// An Action is what to do about a fading memory.
type Action string

// The actions of CortexGraph's DecayAnalyzer.
const (
	GCCandidate Action = "gc_candidate" // of little value: consider forgetting it
	Reinforce   Action = "reinforce"    // of value: review it
	NeedsReview Action = "needs_review" // a human has to say
)

// ActionFor returns the advice for a fading memory. Below a score of 0.05 fewer
// than five uses, and below 0.10 fewer than three, make a candidate for gc; of
// the others, three uses or a strength of 1.5 deserve reinforcement.
func ActionFor(score float64, useCount int, strength float64) Action {
	switch {
	case score < 0.05 && useCount < 5, score < 0.10 && useCount < 3:
		return GCCandidate
	case useCount >= 3, strength >= 1.5:
		return Reinforce
	}
	return NeedsReview
}
