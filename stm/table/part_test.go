package table_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/stm/record"
	"emberd/stm/table"
)

// TestHoldsIsWhatDecodingSays compares the look at bytes with the look at letters, over
// texts made of what JSON escapes and what changes its length with its case.
func TestHoldsIsWhatDecodingSays(t *testing.T) {
	letters := rapid.StringOfN(rapid.SampledFrom([]rune("aAnNkiItu\n\t\"\\/<& 0Üü\u0130\u212a\u0131ſ日\x7f")), 0, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		content, kind, text := letters.Draw(t, "content"), letters.Draw(t, "type"), letters.Draw(t, "text")
		if n := len([]rune(content)); n > 0 && rapid.Bool().Draw(t, "part of it") {
			from := rapid.IntRange(0, n-1).Draw(t, "from")
			text = strings.ToUpper(string([]rune(content)[from:]))
		}
		lower := strings.ToLower(text)
		want := strings.Contains(strings.ToLower(content), lower) || strings.Contains(strings.ToLower(kind), lower)
		members := map[string]string{"content": content, "type": kind, "source": text}
		escaped, err := json.Marshal(members) // as imports and other devices may write it
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range [][]byte{record.Encode(members), escaped} {
			if got := (&table.Row{Doc: doc}).Holds(table.NewPart(text)); got != want {
				t.Errorf("%s holds %q: %v, want %v", doc, text, got, want)
			}
		}
	})
}
