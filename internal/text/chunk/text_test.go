package chunk

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCutText(t *testing.T) {
	t.Parallel()
	many := func(n int) string { return strings.TrimSuffix(words(n, "many"), ".") }
	one, two, three := words(10, "one"), words(10, "two"), words(10, "three")
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"blanks", " \n\n ", nil},
		{"short", one, []string{one}},
		{"paragraphs that fit together", "One.\n\nTwo.\n\n" + one, []string{"One.\n\nTwo.\n\n" + one}},
		{"paragraphs that do not", one + "\n\n" + two + "\n\n" + three, []string{one, two, three}},
		{"sentences, the last of them twice", one + " Short end. Two " + two, []string{one + " Short end.", "Short end. Two " + two}},
		{"marks stay", "# " + one + "\n\n- **" + two + "**", []string{"# " + one, "- **" + two + "**"}},
		{"words", words(40, "many"), []string{many(15), many(15), words(10, "many")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range CutText(c.text, Options{Tokens: 15, Count: count}) {
				got = append(got, p.Text)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Parts are in the text where they say, none is too long, and together they have all of it.
func TestPartsOfTextAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, tokens := anyMarkdown().Draw(t, "text"), rapid.IntRange(1, 40).Draw(t, "tokens")
		end := 0
		parts := CutText(s, Options{Tokens: tokens, Count: count})
		for i, p := range parts {
			rest := s[p.Start:]
			if begun := strings.TrimSpace(rest); !strings.HasPrefix(begun, p.Text) {
				t.Fatalf("part %d is %q, and what begins there is %q", i, p.Text, begun)
			}
			at := p.Start + len(rest) - len(strings.TrimLeft(rest, " \t\n"))
			if p.Start > end && strings.TrimSpace(s[end:p.Start]) != "" {
				t.Fatalf("no part has %q", s[end:p.Start])
			}
			end = max(end, at+len(p.Text))
			if n := count(p.Text); n > tokens && len(p.Text) > 4 {
				t.Fatalf("part %d has %d tokens, at most %d fit: %q", i, n, tokens, p.Text)
			}
		}
		if len(parts) < Max && strings.TrimSpace(s[end:]) != "" {
			t.Fatalf("no part has the end %q", s[end:])
		}
	})
}
