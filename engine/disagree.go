package engine

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"emberd/internal/conflict"
	"emberd/memory"
	"emberd/op"
)

const (
	// disagreeing is how many of the nearest are looked at for what disagrees, and
	// disagreeBytes up to which length all of a text is.
	disagreeing   = 30
	disagreeBytes = 8 << 10
)

// statement is a text that is held against what is known.
type statement struct {
	e     *Engine
	facts *conflict.Facts
	words map[string]bool // terms, less stop words
	dated time.Time       // what it says of itself, zero for now
	by    memory.Actor
	id    string // of the memory that says it, "" if none does yet
}

func (e *Engine) statement(text string, by memory.Actor) *statement {
	return &statement{e: e, facts: conflict.Of(e.text, text), words: e.wordsIn(text), dated: latestDate(text), by: by}
}

func (e *Engine) wordsIn(text string) map[string]bool {
	words := make(map[string]bool)
	for _, t := range e.text.Terms(text) {
		if !t.Stop() {
			words[t.Text] = true
		}
	}
	return words
}

// differs is why the text does not say what the nearest part of something known says, or
// says more than that; "" if nothing shows it.
func (s *statement) differs(one *near) string {
	if one.same {
		return ""
	}
	known := conflict.Of(s.e.text, one.text)
	if why := s.facts.Differ(known); why != "" {
		return why
	}
	if more := s.facts.Adds(known); more != "" {
		return "it lacks " + more
	}
	return ""
}

// apart is why the text is not to be taken for the nearest part of something known, "" if
// it may be: beside what differs, that either has a word which the other has not. Such a
// pair may as well be two names of one thing as two things of which one says the same: of
// the judged pairs of SICK and STS that are 0.85 alike, a third of those that exchange
// words are not the same, by their words as by vectors of words learned from them.
func (s *statement) apart(one *near) string {
	if why := s.differs(one); why != "" || one.same {
		return why
	}
	if exchanging(s.words, s.e.wordsIn(one.text)) {
		return "each has a word that the other lacks"
	}
	return ""
}

// exchanging reports whether either of two texts has a word that the other lacks.
func exchanging(a, b map[string]bool) bool {
	lacks := func(words, others map[string]bool) bool {
		for w := range words {
			if !others[w] {
				return true
			}
		}
		return false
	}
	return lacks(a, b) && lacks(b, a)
}

// oppose finds those of the nearest that the text contradicts. What was superseded does
// not count: its successor does.
func (s *statement) oppose(all []near) (found []op.Conflict) {
	for i := range all[:min(len(all), disagreeing)] {
		one := &all[i]
		if one.same || one.successor != nil {
			continue
		}
		if c, ok := s.conflict(one); ok {
			one.conflict = true
			found = append(found, c)
		}
	}
	return found
}

func (s *statement) conflict(one *near) (c op.Conflict, ok bool) {
	known := one.text
	if one.row != nil {
		if whole := one.row.Content(); len(whole) <= disagreeBytes {
			known = whole
		}
	}
	findings := s.facts.Against(conflict.Of(s.e.text, known), one.similarity, s.e.opt.Known.Related)
	if len(findings) == 0 {
		return c, false
	}
	first := findings[0]
	why := make([]string, len(findings))
	for i, f := range findings {
		why[i] = f.Why
	}
	c = op.Conflict{Kind: first.Kind, Claimed: first.A, Known: first.B, Why: strings.Join(why, "; "), Newer: newerClaim}
	if !s.newer(one, known, first.Kind) {
		c.Newer = newerKnown
	}
	c.Match = s.match(one, op.VerdictConflict)
	c.Supersede = s.supersede(one, &c)
	return c, true
}

// What of two that disagree holds more likely.
const (
	newerClaim = "claim"
	newerKnown = "known"
)

// newer reports whether the text is about a later time than what is known: by the dates
// that they have in them, unless these are what they disagree in, or by when what is
// known was last written. A text that has no date is about now.
func (s *statement) newer(one *near, known, kind string) bool {
	if kind == "date" || s.dated.IsZero() {
		return true
	}
	at := latestDate(known)
	switch {
	case !at.IsZero():
	case one.row != nil:
		at = one.row.UpdatedAt()
	default:
		at = one.note.Modified
	}
	return !s.dated.Before(at.Truncate(24 * time.Hour))
}

// supersede says how to tell that the text takes the place of a memory, if that is what
// seems to be meant: a later value of the same thing. That something is not so, somebody
// else may just have wrong.
func (s *statement) supersede(one *near, c *op.Conflict) string {
	if one.row == nil || c.Newer != newerClaim || c.Kind == "negation" && !s.wrote(one) {
		return ""
	}
	if s.id == "" {
		return "add it, and say emberd edit NEWID --supersedes " + one.row.ID().Short()
	}
	return fmt.Sprintf("emberd edit %s --supersedes %s", s.id, one.row.ID().Short())
}

// wrote reports whether a memory is by the same client as the text.
func (s *statement) wrote(one *near) bool {
	m, err := one.row.Memory()
	if err != nil || len(m.Sources) == 0 {
		return false
	}
	by := m.Sources[0].By
	return by != nil && by.UID == s.by.UID && by.Client == s.by.Client && by.Via == s.by.Via
}

// match is something known as callers see it.
func (s *statement) match(one *near, verdict string) op.Match {
	m := op.Match{Note: one.note, Text: one.text, Similarity: shownSimilarity(one.similarity), Compared: byVectors(one.by == op.ComparedByVectors), Verdict: verdict}
	if one.row != nil {
		if view, err := s.e.view(one.row, s.e.opt.Now()); err == nil {
			m.Memory, m.Standing = &view, doubts(&view)
		}
	}
	return m
}

// shownSimilarity has no more digits than mean something.
func shownSimilarity(x float64) float64 { return math.Round(x*1000) / 1000 }

// latestDate is the latest day or month that a text names with its year, zero if none:
// 2026-05-03, 2026/05/03, 2026-05, 3 May 2026, May 3, 2026, or May 2026.
func latestDate(text string) (latest time.Time) {
	note := func(layout, value string) {
		if t, err := time.Parse(layout, value); err == nil && t.After(latest) {
			latest = t
		}
	}
	var last [2]string // words before
	for token := range strings.FieldsSeq(text) {
		word := strings.TrimFunc(token, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
		for _, layout := range []string{"2006-01-02", "2006/01/02", "2006-01"} {
			note(layout, word)
		}
		for _, layout := range []string{"January 2006", "Jan 2006"} {
			note(layout, last[1]+" "+word)
		}
		for _, layout := range []string{"2 January 2006", "2 Jan 2006", "January 2 2006", "Jan 2 2006"} {
			note(layout, last[0]+" "+last[1]+" "+word)
		}
		last = [2]string{last[1], word}
	}
	return latest
}
