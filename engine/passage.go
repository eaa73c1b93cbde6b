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
		_, rest, found := strings.Cut(text, "\n")
		if !found {
			break
		}
		text = rest
	}
	return text[:min(len(text), passageBytes)], ok
}

// textOf returns the whole text of a note, false when it cannot be read now.
func (n *notes) textOf(ctx context.Context, path string) (string, bool) {
	text, err := n.vault.Text(ctx, path)
	return text, err == nil
}
