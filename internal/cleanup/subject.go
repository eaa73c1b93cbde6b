package cleanup

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/internal/cleanup/quality"
	"emberd/internal/text/analysis"
)

// sameSubject reports whether two texts that hold for different versions or platforms are
// about one thing: if either has a number or a path of its own, that is what differs, and one of them has
// no other words of its own; else few of their words differ, and not the names.
func (m *planner) sameSubject(a, b *item) bool {
	if mine, _ := a.facts(m.analyzer).OtherThing(b.facts(m.analyzer)); mine != "" {
		return false
	}
	x, y := wordsBeside(m.analyzer, a), wordsBeside(m.analyzer, b)
	both, mine, names := x.against(y)
	_, other, others := y.against(x)
	if names && others {
		return false
	}
	if !all(x.numbers, y.numbers) && !all(y.numbers, x.numbers) {
		return both > 0 && (mine == 0 || other == 0)
	}
	return both > 1 && 3*min(mine, other) <= both
}

// beside is what a text says beside the versions and platforms that it holds for.
type beside struct {
	stems   map[string]bool // true for a name
	numbers map[string]bool // and paths, variables and pieces of code
}

// withoutCode parts the paths, variables and pieces of code of a text from its words.
func withoutCode(s string) (words string, codes []string) {
	var rest []string
	for field := range strings.FieldsSeq(s) {
		if bare := strings.Trim(field, ".,;:!?()\"'"); strings.ContainsAny(bare, "/\\%$~`=_") {
			codes = append(codes, bare)
			continue
		}
		rest = append(rest, field)
	}
	return strings.Join(rest, " "), codes
}

func wordsBeside(a *analysis.Analyzer, i *item) beside {
	b := beside{stems: make(map[string]bool)}
	rest := i.Text
	for _, s := range i.scopes() {
		if s.kind == Version {
			rest = strings.ReplaceAll(rest, s.value, " ")
		}
	}
	words, codes := withoutCode(rest)
	b.numbers = numbersOf(words)
	for _, c := range codes {
		b.numbers[c] = true
	}
	end := 0
	for _, t := range a.Terms(words) {
		word := words[t.Start:t.End]
		first, _ := utf8.DecodeRuneInString(word)
		if t.Stop() || t.Start < end || unicode.IsDigit(first) || !quality.Says(word) ||
			isScope(strings.ToLower(word), i.scopes()) {
			continue
		}
		end = t.End
		b.stems[t.Text] = b.stems[t.Text] || unicode.IsUpper(first) && t.Start > 0
	}
	return b
}

// isScope reports a name of what a text holds for.
func isScope(lower string, scopes []scope) bool {
	if _, platform := names().platforms[lower]; platform || names().products[lower] {
		return true
	}
	for _, s := range scopes {
		if lower == s.what || lower == s.value {
			return true
		}
	}
	return false
}

// against counts the words that both have, and those that one alone has, and says whether
// these have a name among them.
func (b beside) against(other beside) (both, only int, names bool) {
	for stem, name := range b.stems {
		if _, there := other.stems[stem]; there {
			both++
			continue
		}
		only++
		names = names || name
	}
	return both, only, names
}
