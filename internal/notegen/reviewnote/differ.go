package reviewnote

import (
	"fmt"
	"strings"

	"emberd/internal/notegen"
)

// maxWords bounds the words of a text that is compared word by word.
const maxWords = 80

// emphasizeDifferences returns the texts of memories. In two similar texts, words that the other lacks
// are bold.
func emphasizeDifferences(all []notegen.Entry) []string {
	out := make([]string, len(all))
	for i := range all {
		out[i] = notegen.Inline(all[i].Text, textLetters)
	}
	if len(out) != 2 {
		return out
	}
	a, b := strings.Fields(out[0]), strings.Fields(out[1])
	if len(a) > maxWords || len(b) > maxWords {
		return out
	}
	inA, inB, same := common(a, b)
	if 2*same < max(len(a), len(b)) || same == max(len(a), len(b)) {
		return out
	}
	return []string{bold(a, inA), bold(b, inB)}
}

// common marks the words of a longest common subsequence in both texts.
func common(a, b []string) (inA, inB []bool, n int) {
	longest := make([][]int, len(a)+1)
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if longest[i][j] = max(longest[i+1][j], longest[i][j+1]); a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			}
		}
	}
	inA, inB = make([]bool, len(a)), make([]bool, len(b))
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			inA[i], inB[j] = true, true
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			i++
		default:
			j++
		}
	}
	return inA, inB, longest[0][0]
}

// bold marks the runs of words that are not common. Blanks stand around each mark, so
// that it is one whatever the words are.
func bold(words []string, common []bool) string {
	var b strings.Builder
	for i, word := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if !common[i] && (i == 0 || common[i-1]) {
			b.WriteString("**")
		}
		b.WriteString(word)
		if !common[i] && (i+1 == len(words) || common[i+1]) {
			b.WriteString("**")
		}
	}
	return b.String()
}

// different shows the diff of an item whose memories have sentences in common; of others
// the texts say it all.
func (it *Item) different() []string {
	shared := 0
	for _, line := range it.Diff {
		if strings.HasPrefix(line, "  ") {
			shared++
		}
	}
	if shared == 0 || shared == len(it.Diff) {
		return nil
	}
	others := "only in B: "
	if len(it.Memories) != 2 {
		others = "not in A: "
	}
	lines := []string{">", "> **Comparison, sentence by sentence**"}
	for i, line := range it.Diff {
		if i == diffLines {
			return append(lines, fmt.Sprintf("> - to show %d more sentences, run: `emberd review show rev-%s`",
				len(it.Diff)-diffLines, Token(it.ID)))
		}
		lead := "in all: "
		switch {
		case strings.HasPrefix(line, "- "):
			lead = "only in A: "
		case strings.HasPrefix(line, "+ "):
			lead = others
		}
		lines = append(lines, "> - "+lead+notegen.Inline(line[min(2, len(line)):], diffLetters))
	}
	return lines
}
