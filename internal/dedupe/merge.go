package dedupe

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/memory"
)

// mergeFields returns one memory of several, by CortexGraph's rules:
//
//   - the longest text alone if it contains every other, in any case and at the limits of
//     words, else those that no longer one contains, the longest first, with an empty line
//     between
//   - tags and entities of any, sorted; aliases of any; sources and contexts one after the
//     other; of meta the value of the latest memory
//   - the earliest creation, the latest use, the sum of uses and of accesses
//   - the strength that [Strength] returns
//   - the provenance chains united, that of the oldest first
//
// Unconfirmed members (see [memory.Memory.DataOnly]) raise nothing: the merged memory is
// unconfirmed too, unless its text is that of a member that is not.
//
// Of a field with one value the oldest memory that has it counts, and of confidence and
// importance the highest. Promotion and reviews are not merged. ConsolidatedFrom names the
// members; the result has no ID and no ConsolidatedAt.
//
// The error has code Invalid for fewer than two members, and TooLarge if the result would be
// out of the bounds of a memory.
func mergeFields(members []memory.Memory, cohesion float64) (memory.Memory, error) {
	if len(members) < 2 {
		return memory.Memory{}, memory.Errorf(memory.Invalid, "%d memories cannot be merged; pass two or more",
			len(members))
	}
	old := slices.Clone(members)
	slices.SortStableFunc(old, func(a, b memory.Memory) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	m := memory.Memory{Stage: memory.Demoted, CreatedAt: old[0].CreatedAt}
	var texts, sources, contexts []string
	for _, o := range old {
		texts, sources, contexts = append(texts, o.Content), append(sources, o.Source), append(contexts, o.Context)
		m.Tags, m.Entities = append(m.Tags, o.Tags...), append(m.Entities, o.Entities...)
		m.Aliases = append(m.Aliases, o.Aliases...)
		add(&m, &o)
	}
	m.Content = Content(texts)
	stand(&m, old, cohesion)
	m.Tags, m.Entities = united(m.Tags), united(m.Entities)
	m.Source, m.Context = strings.Join(distinct(sources), "; "), strings.Join(distinct(contexts), "; ")
	return m, checkMerged(&m)
}

// add takes over what one more, later memory has.
func add(m *memory.Memory, o *memory.Memory) {
	m.Category, m.Type, m.Section = cmp.Or(m.Category, o.Category), cmp.Or(m.Type, o.Type), cmp.Or(m.Section, o.Section)
	m.SessionID, m.Collection, m.Project = cmp.Or(m.SessionID, o.SessionID), cmp.Or(m.Collection, o.Collection),
		cmp.Or(m.Project, o.Project)
	m.Confidence, m.Importance = max(m.Confidence, o.Confidence), max(m.Importance, o.Importance)
	m.LastUsed, m.LastAccessed = memory.Later(m.LastUsed, o.LastUsed), memory.Later(m.LastAccessed, o.LastAccessed)
	m.UseCount, m.AccessCount = m.UseCount+o.UseCount, m.AccessCount+o.AccessCount
	m.CrossDomainCount += o.CrossDomainCount
	m.LearnAll(o)
	if len(o.Meta) > 0 {
		if m.Meta == nil {
			m.Meta = make(map[string]json.RawMessage)
		}
		maps.Copy(m.Meta, o.Meta)
	}
	if o.Stage == memory.Active {
		m.Stage = memory.Active
	}
	m.ConsolidatedFrom = append(m.ConsolidatedFrom, o.ID)
}

// checkMerged refuses what a save would refuse of what a merge makes longer.
func checkMerged(m *memory.Memory) (err error) {
	if m.Aliases, err = memory.NormalizeAliases(m.Aliases); err != nil {
		return err
	}
	if _, err := memory.NormalizeTags(m.Tags); err != nil {
		return err
	}
	if _, err := memory.NormalizeEntities(m.Entities); err != nil {
		return err
	}
	if err := memory.CheckText("source", m.Source, memory.MaxSource); err != nil {
		return err
	}
	if err := memory.CheckText("context", m.Context, memory.MaxContext); err != nil {
		return err
	}
	return memory.CheckContent(m.Content)
}

// Strength of a merged memory: the highest of all, and for each memory a tenth of the
// cohesion, at most a half, on top; never above 2 (CortexGraph).
func Strength(strengths []float64, cohesion float64) float64 {
	return min(2, slices.Max(strengths)+min(0.5, 0.1*cohesion*float64(len(strengths))))
}

// Content joins the texts of memories that become one. Of equal length the first comes first.
func Content(texts []string) string {
	texts = slices.Clone(texts)
	slices.SortStableFunc(texts, func(a, b string) int {
		return cmp.Compare(utf8.RuneCountInString(b), utf8.RuneCountInString(a))
	})
	if !slices.ContainsFunc(texts[1:], func(s string) bool { return !holds(texts[0], s) }) {
		return texts[0]
	}
	return strings.Join(distinct(texts), "\n\n")
}

// holds reports whether a text stands in a longer one, as whole words in any case.
func holds(long, short string) bool {
	long, short = spaced(long), spaced(short)
	part := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' }
	for from := 0; ; {
		i := strings.Index(long[from:], short)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(long[:from+i])
		after, _ := utf8.DecodeRuneInString(long[from+i+len(short):])
		first, size := utf8.DecodeRuneInString(short)
		last, _ := utf8.DecodeLastRuneInString(short)
		if !(part(before) && part(first)) && !(part(last) && part(after)) {
			return true
		}
		from += i + max(1, size)
	}
}

// spaced is a text in lower case with single spaces.
func spaced(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

// distinct are the texts that are not empty, longest first, but for those that a longer one
// holds: said twice, the same words would count for more in every search. Case, the width
// of white space and a full stop at the end make no difference.
func distinct(texts []string) []string {
	var out []string
	for _, s := range texts {
		s = strings.TrimSpace(s)
		bare := cmp.Or(strings.TrimRight(s, ".!… "), s)
		if s != "" && !slices.ContainsFunc(out, func(kept string) bool { return holds(kept, bare) }) {
			out = append(out, s)
		}
	}
	return out
}

// united sorts names and leaves each once.
func united(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }
