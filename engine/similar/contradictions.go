package similar

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"emberd/engine/core"
	"emberd/internal/dedupe/contradiction"
	"emberd/memory"
	"emberd/op"
)

const (
	// disagreeing is how many near texts are checked for contradictions, and disagreeBytes the
	// length up to which a text is checked as a whole.
	disagreeing   = 80
	disagreeBytes = 8 << 10
	// maxDoubts is for how many near texts the store is asked whether a relation has one value.
	maxDoubts = 3
)

// Claim is a text that is compared with memories and notes.
type Claim struct {
	e     *Similar
	facts *contradiction.Facts
	dated time.Time // date in the text, zero for now
	by    memory.Actor
	ID    string // of the memory with the text, "" for none
	// Project is that of the text, "" if it has none or can be of any.
	Project string
	// doubts is how often the store was asked about a relation
	doubts int
}

// Statement returns a text by an actor for comparison.
func (e *Similar) Statement(text string, by memory.Actor) *Claim {
	return &Claim{e: e, facts: contradiction.Of(e.Text, text), dated: LatestDate(text), by: by}
}

// Differs returns why the text does not say the same as the nearest part of a memory or note,
// or says more; "" if nothing shows it.
func (s *Claim) Differs(one *Near) string {
	if one.Same {
		return ""
	}
	known := contradiction.Of(s.e.Text, one.Text)
	if why := s.facts.Differ(known); why != "" {
		return why
	}
	if more := s.facts.Adds(known); more != "" {
		return "it lacks " + more
	}
	return ""
}

// DistinctReason returns why the text is not a duplicate of the nearest part of a memory or
// note, or "". Besides what Differs finds, the reason can be that the other one does not say
// every part of it, in the same roles or, by embedding, in other words.
func (s *Claim) DistinctReason(one *Near) string {
	if why := s.Differs(one); why != "" || one.Same {
		return why
	}
	byVectors := 0.0
	if one.By == op.ComparedByVectors {
		byVectors = one.Similarity
	}
	return s.facts.Unknown(contradiction.Of(s.e.Text, one.Text), byVectors)
}

// FindContradictions returns the near texts that contradict the text. It ignores superseded memories,
// because their successors count.
func (s *Claim) FindContradictions(all []Near) (found []op.Conflict) {
	project := s.projectOf(all)
	for i := range all[:min(len(all), disagreeing)] {
		one := &all[i]
		if one.Same || one.Successor != nil || one.ofAnother(project) {
			continue
		}
		if c, ok := s.conflict(one); ok {
			one.Conflict = true
			found = append(found, c)
		}
	}
	return found
}

// projectOf returns the project of the text, or else that of the nearest memory with the same text.
func (s *Claim) projectOf(all []Near) string {
	if s.Project != "" {
		return s.Project
	}
	for i := range all {
		if all[i].Same && all[i].Row != nil {
			return all[i].Row.Project()
		}
	}
	return ""
}

// ofAnother reports a memory of another project than the one given. "" is every project.
func (n *Near) ofAnother(project string) bool {
	return n.Row != nil && project != "" && n.Row.Project() != "" && n.Row.Project() != project
}

func (s *Claim) conflict(one *Near) (c op.Conflict, ok bool) {
	known, headings := one.Text, []string(nil)
	if one.Note != nil {
		headings = append(headings, one.Note.Title)
		headings = append(headings, one.Note.Heading...)
	}
	if one.Row != nil && len(one.Whole) <= disagreeBytes {
		known = one.Whole
	}
	findings := s.findings(contradiction.Of(s.e.Text, known, headings...), one.Similarity)
	if len(findings) == 0 {
		return c, false
	}
	first := findings[0]
	why := make([]string, len(findings))
	for i, f := range findings {
		why[i] = f.Why
	}
	c = op.Conflict{Kind: first.Kind, Claimed: first.A, Known: first.B, Why: strings.Join(why, "; "), Newer: NewerClaim}
	if !s.Newer(one, known, first.Kind) {
		c.Newer = NewerKnown
	}
	c.Match = s.match(one, op.VerdictConflict)
	c.Supersede = s.Supersede(one, &c)
	return c, true
}

// findings returns what the text and a known one contradict each other in: by themselves, or
// because the store has one value only for each subject of the relation.
func (s *Claim) findings(known *contradiction.Facts, similarity float64) []contradiction.Finding {
	if found := s.facts.Against(known, similarity, s.e.Opt.Known.Related); len(found) > 0 {
		return found
	}
	doubt := s.facts.Doubt(known)
	if doubt == nil || s.doubts == maxDoubts {
		return nil
	}
	s.doubts++
	rows, _ := s.e.Ask(new(Candidates), []string{doubt.Term()}, MaxCandidates, nil)
	others := make([]*contradiction.Facts, 0, len(rows))
	for _, r := range rows {
		if content := r.Content(); len(content) <= disagreeBytes {
			others = append(others, contradiction.Of(s.e.Text, content))
		}
	}
	if found, ok := doubt.Settle(others); ok {
		return []contradiction.Finding{found}
	}
	return nil
}

// Which of two contradicting texts is more likely true.
const (
	NewerClaim = "claim"
	NewerKnown = "known"
)

// Newer reports whether the text is about a later time than a known text. It compares the
// dates in both, unless the contradiction is about a date, or the time when the known text was
// last written. A text without a date is about now.
func (s *Claim) Newer(one *Near, known, kind string) bool {
	if kind == "date" || s.dated.IsZero() {
		return true
	}
	at := LatestDate(known)
	switch {
	case !at.IsZero():
	case one.Row != nil:
		at = one.Row.UpdatedAt()
	default:
		at = one.Note.Modified
	}
	return !s.dated.Before(at.Truncate(24 * time.Hour))
}

// Supersede returns the command by which the text supersedes a memory, if it has a later value
// of the same fact, or "". A negation by another client is no such value, because that client
// may be wrong, unless it is the command line, where the user decides.
func (s *Claim) Supersede(one *Near, c *op.Conflict) string {
	if one.Row == nil || c.Newer != NewerClaim {
		return ""
	}
	if c.Kind == "negation" && s.by.Via != core.ViaCLI && !s.sameClient(one) {
		return ""
	}
	if s.ID == "" {
		return "emberd save TEXT --supersedes " + one.Row.ID().Short()
	}
	return fmt.Sprintf("emberd edit %s --supersedes %s", s.ID, one.Row.ID().Short())
}

// sameClient reports whether the same client wrote the memory and the text.
func (s *Claim) sameClient(one *Near) bool {
	m, err := one.Row.Memory()
	if err != nil || len(m.Sources) == 0 {
		return false
	}
	by := m.Sources[0].By
	return by != nil && by.UID == s.by.UID && by.Client == s.by.Client && by.Via == s.by.Via
}

// match returns a near memory or note as callers see it.
func (s *Claim) match(one *Near, verdict string) op.Match {
	m := op.Match{Note: one.Note, Text: one.Text, Similarity: ShownSimilarity(one.Similarity),
		Compared: core.ByVectors(one.By == op.ComparedByVectors), Verdict: verdict}
	if one.Row != nil {
		if view, err := s.e.MemoryView(one.Row, s.e.Opt.Now()); err == nil {
			m.Memory, m.Standing = &view, core.TrustWarning(&view)
		}
	}
	return m
}

// ShownSimilarity rounds a similarity to its significant digits.
func ShownSimilarity(x float64) float64 { return math.Round(x*1000) / 1000 }

// LatestDate returns the latest day or month with a year in a text, zero for none: 2026-05-03,
// 2026/05/03, 2026-05, 3 May 2026, May 3, 2026, or May 2026.
func LatestDate(text string) (latest time.Time) {
	note := func(layout, value string) {
		if t, err := time.Parse(layout, value); err == nil && t.After(latest) {
			latest = t
		}
	}
	var last [2]string // the two words before
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
