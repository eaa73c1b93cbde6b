package oracle

import (
	"regexp/syntax"
	"strings"

	"github.com/zricethezav/gitleaks/v8/config"
)

// proximity is the part that gitleaks puts between a vendor's name and a value
// in every rule that goes by the words around the value.
const proximity = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)`

// highConfidence is the criterion for taking part in the comparison: whatever
// text the rule accepts contains a literal of the token itself. Two characters
// are enough in a rule that goes by the token alone (SK, Q~); a rule that wants
// a vendor's name nearby needs three in the value, for otherwise any random
// value next to the name would do. generic-api-key and rules about file names
// fall out on their own: the first has no literal, the others need a path.
func highConfidence(rule config.Rule) bool {
	if rule.Regex == nil || rule.Path != nil {
		return false
	}
	re, err := syntax.Parse(rule.Regex.String(), syntax.Perl)
	if err != nil {
		return false
	}
	if !strings.Contains(rule.Regex.String(), proximity) {
		return sureLiteral(re) >= 2
	}
	least := -1
	for _, group := range captures(re) {
		if n := sureLiteral(group); least < 0 || n < least {
			least = n
		}
	}
	return least >= 3
}

// captures returns the outermost capture groups of re; in a proximity rule they
// are the secret.
func captures(re *syntax.Regexp) []*syntax.Regexp {
	if re.Op == syntax.OpCapture {
		return []*syntax.Regexp{re}
	}
	var groups []*syntax.Regexp
	for _, sub := range re.Sub {
		groups = append(groups, captures(sub)...)
	}
	return groups
}

// sureLiteral returns the length of the longest literal that every text matching
// re contains; of alternatives the worst counts.
func sureLiteral(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return sureLiteral(re.Sub[0])
	case syntax.OpRepeat:
		return sureRepeat(re)
	case syntax.OpConcat:
		return sureConcat(re)
	case syntax.OpAlternate:
		least := sureLiteral(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			least = min(least, sureLiteral(sub))
		}
		return least
	}
	return 0
}

// sureRepeat counts a repeated literal in full: A{22} is one of 22 characters.
func sureRepeat(re *syntax.Regexp) int {
	n := sureLiteral(re.Sub[0])
	if re.Min == 0 {
		return 0
	}
	if re.Sub[0].Op == syntax.OpLiteral {
		return n * re.Min
	}
	return n
}

// sureConcat joins adjacent parts that are literal throughout, counting a class
// of two characters as one too: the parser turns (?:pat|sat) into [ps]at.
func sureConcat(re *syntax.Regexp) int {
	longest, run := 0, 0
	for _, sub := range re.Sub {
		switch {
		case sub.Op == syntax.OpLiteral:
			run += len(sub.Rune)
		case sub.Op == syntax.OpCharClass && len(sub.Rune) == 4 && sub.Rune[0] == sub.Rune[1] && sub.Rune[2] == sub.Rune[3]:
			run++
		default:
			run = 0
		}
		longest = max(longest, run, sureLiteral(sub))
	}
	return longest
}
