package mcp

import (
	"math"
	"sort"
	"strings"
	"unicode/utf8"

	"emberd/internal/mcp/tool"
	"emberd/internal/wire"
	"emberd/op"
)

// budget is the number of tokens that an answer has left, in each of its two forms.
type budget struct{ text, structured int }

// frame is the number of tokens for the lines around the items of an answer, or the members
// around their list.
const frame = 100

// newBudget returns the budget of a call. An answer without structured content has no bound
// for that.
func newBudget(c *tool.Call, most int) budget {
	if c.Form == tool.Text {
		return budget{most - frame, math.MaxInt}
	}
	return budget{most - frame, most - frame}
}

// tooSmall says how to continue an answer whose next item does not fit.
const tooSmall = "the same call with a larger max_tokens"

// take reports whether an item fits, and subtracts it if so.
func (b *budget) take(text string, structured any) bool {
	raw, err := wire.Marshal(structured)
	t, s := op.Tokens(text), op.Tokens(string(raw))+1
	if err != nil || t > b.text || s > b.structured {
		return false
	}
	b.text, b.structured = b.text-t, b.structured-s
	return true
}

// longestFit returns the longest beginning of a text that fits, in characters, and ends
// behind a word where that costs little. fits must not come true again for a longer
// one.
func longestFit(text string, fits func(part string) bool) string {
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
