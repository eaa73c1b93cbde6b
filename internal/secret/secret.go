// Package secret finds credentials in a text before it is saved: access tokens,
// private keys, passwords in URLs and assignments.
//
// It is a guard against accidents, not against a person who hides a secret on
// purpose. It answers at once on ordinary text: one pass looks for the literals
// that start or introduce a credential, and only where one is found is that
// rule's pattern tried, anchored there and over a bounded window. The time is
// therefore linear in the length of the text, whatever it holds.
//
// A rule is a shape (literals, pattern, least entropy) shared by all vendors
// whose tokens have that shape; there are at most 64. A phrase of a wallet has no
// literal: [Scan] looks up every word that stands 40 bytes after the one before. What a pattern matches is
// still dropped when it reads as a placeholder, a variable reference, a file
// path, a UUID or a commit hash.
//
// The token formats come from the vendors' own documentation and from the public
// rule set of gitleaks v8.30.1, against which the nested module oracle measures
// this package. Entropy is Shannon's, in bits per character (C. E. Shannon, A
// Mathematical Theory of Communication, 1948, section 6).
//
// All functions are safe for concurrent use, and nothing they return is shared.
// A [Finding] holds no part of the text; [Masked] gives what may be shown of it.
package secret

import (
	"cmp"
	"math"
	"slices"
)

// Finding is one credential in a scanned text.
type Finding struct {
	// Type says in words what it looks like, such as "GitHub personal access token".
	Type string
	// Rule is the stable identifier of the rule that found it.
	Rule string
	// Start and End are byte offsets into the text, End exclusive. Both lie on
	// borders between characters.
	Start, End int
}

// Scan returns the credentials in text in order of their position. They never
// overlap: of two that would, one found by the shape of the token itself beats
// one found by the words around it, and then the longer beats the shorter.
func Scan(text string) []Finding {
	s := scan{text: text, table: rules()}
	for i := 0; i+1 < len(text); i++ {
		h := s.table.heads[head(text[i], text[i+1])]
		if h == 0 {
			continue
		}
		b := &s.table.buckets[h]
		if b.anywhere || i == 0 || !isAlnum(text[i-1]) {
			i += s.tryAll(b.marks, i)
		}
	}
	s.findPhrases()
	return s.resolve()
}

// scan is the state of one call of Scan.
type scan struct {
	text  string
	table *table
	found []candidate
	// done holds, rule by rule, where its last match ended, accepted or not. Marks
	// before that are part of the match; trying each of them again would read a
	// text made of marks over and over.
	done [maxRules]int
}

// candidate is a finding that may still lose to one that overlaps it.
type candidate struct {
	Finding
	weak bool
}

// tryAll tries those of the marks that stand at byte at, and returns how many
// bytes after it need no reading.
func (s *scan) tryAll(marks []mark, at int) int {
	for i := range marks {
		m := &marks[i]
		if !m.at(s.text, at) {
			continue
		}
		if m.rule == nil {
			return len(m.literal) + base64Run(s.text[at+len(m.literal):]) - 1
		}
		s.try(m, at)
	}
	return 0
}

// try applies the rule of mark m, found at byte at.
func (s *scan) try(m *mark, at int) {
	r := m.rule
	if at < s.done[r.index] {
		return
	}
	lead, ok := r.lead.length(s.text[:at])
	if !ok || !r.startsAt(s.text, at-lead) {
		return
	}
	after := at + len(m.literal)
	loc := s.table.patterns[r.index].FindStringSubmatchIndex(window(s.text[after:], r.window))
	if loc == nil {
		return
	}
	start, from, to := at-lead, after+loc[0], after+loc[1]
	if group, ok := firstGroup(loc); ok {
		from, to = after+group[0], after+group[1]
		start = from
	}
	s.done[r.index] = to
	if r.blob && to < len(s.text) && isBase64(s.text[to]) {
		return
	}
	if !r.accepts(s.text[after:from], s.text[from:to]) || !r.near(s.text, at) {
		return
	}
	if r.check != nil && !r.check(s.text, start, to) {
		return
	}
	s.found = append(s.found, candidate{Finding{Type: m.words, Rule: r.id, Start: start, End: to}, r.weak})
}

// firstGroup returns the bounds of the first capture group that took part in a
// match, given the match's submatch index.
func firstGroup(loc []int) ([]int, bool) {
	for i := 2; i+1 < len(loc); i += 2 {
		if loc[i] >= 0 {
			return loc[i : i+2], true
		}
	}
	return nil, false
}

// resolve sorts the candidates and keeps one of those that overlap.
func (s *scan) resolve() []Finding {
	slices.SortStableFunc(s.found, func(a, b candidate) int {
		return cmp.Compare(a.Start, b.Start)
	})
	var kept []candidate
	for _, c := range s.found {
		last := len(kept) - 1
		switch {
		case last < 0 || c.Start >= kept[last].End:
			kept = append(kept, c)
		case c.beats(kept[last]):
			kept[last] = c
		}
	}
	var findings []Finding
	for _, c := range kept {
		findings = append(findings, c.Finding)
	}
	return findings
}

func (c candidate) beats(other candidate) bool {
	if c.weak != other.weak {
		return other.weak
	}
	return c.End-c.Start > other.End-other.Start
}

// entropy returns the Shannon entropy of s in bits per byte, 0 when s is empty.
func entropy(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	bits := 0.0
	for _, n := range counts {
		if n > 0 {
			share := float64(n) / float64(len(s))
			bits -= share * math.Log2(share)
		}
	}
	return bits
}
