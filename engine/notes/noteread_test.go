package notes_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"emberd/engine/core"
	"emberd/engine/notes"
	_ "emberd/internal/testutil/racescale"
)

// TestPartsMakeTheWhole: whoever goes on where a part ended has read everything once.
func TestPartsMakeTheWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		limit := rapid.IntRange(1, 5).Draw(t, "limit")
		var read strings.Builder
		for from := 0; ; from += limit {
			rest, err := notes.FromPlace(text, "a.md", 1, from)
			if err != nil {
				if from < utf8.RuneCountInString(text) {
					t.Fatalf("from %d: %v", from, err)
				}
				break
			}
			n := core.ByteOf(rest, limit)
			read.WriteString(rest[:n])
			if n == len(rest) {
				break
			}
		}
		if read.String() != text {
			t.Fatalf("read %q of %q", read.String(), text)
		}
	})
}
