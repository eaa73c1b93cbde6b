package oracle

import (
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
)

// maxRepeat bounds how often an open repetition is repeated beyond its least.
const maxRepeat = 12

// generator draws texts that a pattern matches.
type generator struct {
	rng *rand.Rand
	// source is the pattern as its author wrote it; the parsed form has lost the
	// case of literals under (?i).
	source string
}

// text returns a text that re matches. Where a pattern allows any character it
// writes letters and digits, as real tokens have them, but a dot for a single
// unescaped dot.
func (g generator) text(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		return g.literal(re)
	case syntax.OpCharClass:
		return g.oneOf(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "."
	case syntax.OpCapture:
		return g.text(re.Sub[0])
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(g.text(sub))
		}
		return b.String()
	case syntax.OpAlternate:
		return g.text(re.Sub[g.rng.IntN(len(re.Sub))])
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return g.repeat(re)
	}
	return "" // anchors, borders and the empty match have no width
}

// literal writes a literal in the case its author used.
func (g generator) literal(re *syntax.Regexp) string {
	s := string(re.Rune)
	if re.Flags&syntax.FoldCase == 0 {
		return s
	}
	if i := strings.Index(strings.ToLower(g.source), strings.ToLower(s)); i >= 0 {
		return g.source[i : i+len(s)]
	}
	return strings.ToLower(s)
}

func (g generator) repeat(re *syntax.Regexp) string {
	least, most := re.Min, re.Max
	switch re.Op {
	case syntax.OpStar:
		least, most = 0, -1
	case syntax.OpPlus:
		least, most = 1, -1
	case syntax.OpQuest:
		least, most = 0, 1
	}
	if most < 0 {
		most = least + maxRepeat
	}
	if padding(re) {
		return ""
	}
	var b strings.Builder
	for range least + g.rng.IntN(most-least+1) {
		if sub := re.Sub[0]; sub.Op == syntax.OpAnyChar || sub.Op == syntax.OpAnyCharNotNL {
			b.WriteByte(alphanumeric[g.rng.IntN(len(alphanumeric))])
		} else {
			b.WriteString(g.text(sub))
		}
	}
	return b.String()
}

// padding reports whether re is the room that gitleaks leaves around a vendor's
// name. It stays empty: random letters glued to the name are no natural text.
func padding(re *syntax.Regexp) bool {
	return re.Min == 0 && re.Max >= 20 && re.Sub[0].Op == syntax.OpCharClass && inClass(re.Sub[0].Rune, '.')
}

const alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// oneOf draws from the characters of a class: from its printable ASCII when it
// has any, and from letters and digits alone when it is nearly unrestricted.
func (g generator) oneOf(ranges []rune) string {
	var all []rune
	for r := rune('!'); r <= '~'; r++ {
		if inClass(ranges, r) {
			all = append(all, r)
		}
	}
	switch {
	case len(all) == 0:
		return string(ranges[0])
	case len(all) > 80:
		all = []rune(alphanumeric)
	}
	return string(all[g.rng.IntN(len(all))])
}

// inClass reports whether r is in a class given as pairs of bounds.
func inClass(ranges []rune, r rune) bool {
	for bounds := range slices.Chunk(ranges, 2) {
		if bounds[0] <= r && r <= bounds[1] {
			return true
		}
	}
	return false
}
