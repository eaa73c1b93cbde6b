package mcpserver

import (
	"sort"
	"strings"
	"unicode/utf8"

	"emberd/internal/wire"
	"emberd/op"
)

// budget is how many tokens an answer may still have, in each of its two forms.
type budget struct{ text, structured int }

// frame is what the lines around the items of an answer and the members around their
// list may have.
const frame = 100

func newBudget(most int) budget { return budget{most - frame, most - frame} }

// tooSmall is how an answer is gone on with whose next item does not fit.
const tooSmall = "the same call with a larger max_tokens"

// take reports whether an item still fits, and counts it if so.
func (b *budget) take(text string, structured any) bool {
	raw, err := wire.Marshal(structured)
	t, s := op.Tokens(text), op.Tokens(string(raw))+1
	if err != nil || t > b.text || s > b.structured {
		return false
	}
	b.text, b.structured = b.text-t, b.structured-s
	return true
}

// longest returns the longest beginning of a text that fits, in characters, and ends
// behind a word where that costs little. fits must not come true again for a longer
// one.
func longest(text string, fits func(part string) bool) string {
	ends := make([]int, 0, len(text))
	for at, r := range text {
		ends = append(ends, at+utf8.RuneLen(r))
	}
	n := sort.Search(len(ends), func(i int) bool { return !fits(text[:ends[i]]) })
	if n == 0 {
		return ""
	}
	part := text[:ends[n-1]]
	if at := strings.LastIndexAny(part, " \n"); n < len(ends) && at > len(part)*3/4 {
		part = part[:at+1]
	}
	return part
}

// breaks are what ends a line somewhere.
var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// quoted marks every line of a foreign text, so that none of it can pass for ours.
func quoted(text string) string {
	text = strings.TrimRight(breaks.Replace(text), "\n")
	return "> " + strings.ReplaceAll(text, "\n", "\n> ") + "\n"
}

// flat is a foreign text in one line.
func flat(text string) string { return strings.Join(strings.Fields(breaks.Replace(text)), " ") }
