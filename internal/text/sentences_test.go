package text_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/rivo/uniseg"

	"emberd/internal/text"
)

// TestSentences shows where sentences end by a bar, which no text has.
func TestSentences(t *testing.T) {
	for _, c := range []struct{ name, cut string }{
		{"none", ""},
		{"one without a mark", "no mark at the end"},
		{"two", "First this. | Then that."},
		{"other marks", "Really? | Yes! | Well…"},
		{"a run of marks", "What?! | No way!!! | Good."},
		{"trailing off", "And then... nothing. | Well... | Then all."},
		{"lower case throughout", "i went home. | then i slept. | ok"},

		{"titles", "Dr. Smith met Mrs. Jones. | They spoke."},
		{"initials", "J. R. R. Tolkien wrote it. | It is long."},
		{"the word I is no initial", "So did I. | Then we left."},
		{"Latin", "Use tabs, e.g. Go code does, i.e. gofmt. | Fine."},
		{"a country", "The U.S. Army left. | It rained."},
		{"the end of a list", "Bring pens, paper, etc. | Then sit down."},
		{"a company", "Acme Inc. was sold. | Acme Inc. | They left."},
		{"clock times", "It is 5 p.m. now. | We met at 5 p.m. | He left."},
		{"numbers", "It costs 3.50 euro. | Version 1.2.3 works."},
		{"a reference", "See fig. 3 and no. 5. | I said no. | Then I left."},
		{"an enumeration", "1. Boil water. | 2. Add salt."},
		{"ordinary words that are abbreviations too", "I love art. | She loves Max. | He left."},
		{"a file", "Edit main.go and run it. | Done."},
		{"an address", "See https://example.org/a.b?c=d. | Then log in."},

		{"quotes", `He said "Stop!" and left. | She said "Go." | It rained.`},
		{"brackets", "It works (mostly.) | Fine."},

		{"German", "Am 3. Mai kam Hr. Maier z.B. mit der Nr. 5. | Danach regnete es."},
		{"German end of a list", "Stifte, Papier usw. | Danach los."},
		{"French", "M. Dupont est là ? | Oui ! | Mme. Durand aussi."},
		{"Spanish", "¿Dónde está la Sra. López? | ¡Aquí! | Bien."},
		{"Russian", "Это первое. | А это второе."},

		{"Chinese", "我们去了北京。|天气很好！|你呢？|很好"},
		{"Chinese with quotes", "他说：“好。”|然后走了。"},
		{"Chinese with Latin marks", "我喜欢Go 1.26。|真的!|你呢?|我也是"},
		{"Japanese", "東京に行った。|楽しかった！|「また行こう。」|と言った。"},
		{"Korean", "서울에 갔다. | 재미있었다."},
		{"Hindi", "यह पहला है। | यह दूसरा है।"},
		{"Arabic", "هل أنت هنا؟ | نعم."},
		{"Thai", "สวัสดีครับ ผมชื่อสมชาย"},
		{"Armenian and Amharic", "Սա է։ | እሺ። | በቃ"},

		// The five splitters that this one replaced disagreed about these.
		{"titles and an ordinal", "Dr. Li met Mr. Wu on 3. May. | It went well."},
		{"two Hindi sentences", "मैं घर गया। | फिर मैं सो गया।"},
		{"Hindi without space", "मैं घर गया।|फिर मैं सो गया॥"},
		{"two Arabic sentences", "ذهبت إلى البيت. | ثم نمت."},
		{"an Arabic question", "أين أنت؟ | أنا هنا!"},
		{"Urdu", "میں گھر گیا۔ | پھر میں سو گیا۔"},
		{"Chinese commas and semicolons", "我喜欢茶；他喜欢咖啡，她喜欢水。|再见"},
		{"semicolons", "I like tea; he likes coffee. | Bye."},
		{"a version at the end", "It needs Go 1.26. | Older ones fail."},
		{"a price at the end", "It costs 3.50. | That is a lot."},
		{"a full-width decimal", "価格は３．５です。|高い"},
		{"a file at the end", "Look into node.js. | Then main.go is next."},
		{"an emoji mark", "Stop‼️ | Now it goes on."},
		{"a mark within brackets", "He (who?) left. | She stayed."},
		{"a quoted question", "“Why?” she asked. | “Because.” | He left."},
		{"trailing brackets", "It rained (a lot). | [It stopped.] | Then sun."},
		{"French quotes", "« Où ? » dit-il. | « Là. » | Il part."},

		// Lines.
		{"a wrapped paragraph", "This line of a wrapped paragraph is longer than that\nand goes on here. | Then it ends."},
		{"a wrapped title", "Yesterday in the afternoon the head of the clinic, Dr.\nLi, called. | He was ill."},
		{"a blank line", "No mark here\n\n | then another paragraph"},
		{"a list", "Things to buy:\n | - milk\n | - two eggs\n | * bread and\n  butter"},
		{"an ordered list", "1. Boil water\n | 2. Add salt\n | 10) Wait"},
		{"short lines", "Name: Ada\n | Born: 1815\r\n | Died: 1852"},
		{"headings and quotes", "# Plans for the long summer holidays of next year\n | go south\n | > she said so"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var want []string
			for s := range strings.SplitSeq(c.cut, "|") {
				if s = strings.TrimSpace(s); s != "" {
					want = append(want, s)
				}
			}
			line := strings.ReplaceAll(strings.ReplaceAll(c.cut, " | ", " "), "|", "")
			if got := text.Sentences(line); !slices.Equal(got, want) {
				t.Errorf("%q\n got %q\nwant %q", line, got, want)
			}
		})
	}
}

func TestTableRowsAreSentences(t *testing.T) {
	got := text.Sentences("| a | b |\n|---|---|\n| c. D | e |")
	want := []string{"| a | b |", "|---|---|", "| c.", "D | e |"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzSentences checks that the pieces are the text, that none ends within a grapheme
// cluster, and that sentences are the pieces without the space around them. The seeds are
// in testdata.
func FuzzSentences(f *testing.F) {
	f.Fuzz(func(t *testing.T, line string) {
		var whole, joined strings.Builder
		for piece := range text.SplitSentences(line) {
			whole.WriteString(piece)
			if piece == "" || !clusterEnds(line, whole.Len()) {
				t.Fatalf("piece %q of %q is empty or ends within a grapheme cluster", piece, line)
			}
		}
		if whole.String() != line {
			t.Fatalf("the pieces of %q are together %q", line, whole.String())
		}
		for _, s := range text.Sentences(line) {
			if s == "" || strings.TrimSpace(s) != s {
				t.Fatalf("sentence %q of %q is empty or has space around it", s, line)
			}
			joined.WriteString(withoutSpace(s)) // together they can be another character, if they are not UTF-8
		}
		if got, want := joined.String(), withoutSpace(line); got != want {
			t.Fatalf("the sentences of %q are together %q", line, got)
		}
	})
}

// clusterEnds reports whether a grapheme cluster of s ends at offset at.
func clusterEnds(s string, at int) bool {
	for g := uniseg.NewGraphemes(s); g.Next(); {
		if _, end := g.Positions(); end >= at {
			return end == at
		}
	}
	return at == 0
}

func withoutSpace(s string) string {
	return strings.Join(strings.FieldsFunc(s, unicode.IsSpace), "")
}
