package engine

import (
	"context"
	"strings"
)

// passageBytes is how much of a note a snippet is looked for in.
const passageBytes = 4 << 10

// passage returns the text of a note from a line on, as it is written: reading
// the Markdown again would cost more than the search.
func (n *notes) passage(ctx context.Context, path string, line int) (string, bool) {
	text, ok := n.textOf(ctx, path)
	for ; line > 1; line-- {
		rest := afterLine(text)
		if rest == "" {
			break
		}
		text = rest
	}
	return strings.ToValidUTF8(text[:min(len(text), passageBytes)], ""), ok
}

// afterLine returns what follows the first line. Lines end as package vault has
// them, in LF, CRLF or CR.
func afterLine(text string) string {
	end := strings.IndexAny(text, "\r\n")
	if end < 0 {
		return ""
	}
	if strings.HasPrefix(text[end:], "\r\n") {
		end++
	}
	return text[end+1:]
}

// textOf returns the whole text of a note, false when it cannot be read now.
func (n *notes) textOf(ctx context.Context, path string) (string, bool) {
	text, err := n.vault.Load().Text(ctx, path)
	return text, err == nil
}
