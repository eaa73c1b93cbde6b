package rekindle_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"emberd/rekindle"
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
	} {
		t.Run(c.name, func(t *testing.T) {
			var want []string
			for s := range strings.SplitSeq(c.cut, "|") {
				if s = strings.TrimSpace(s); s != "" {
					want = append(want, s)
				}
			}
			line := strings.ReplaceAll(strings.ReplaceAll(c.cut, " | ", " "), "|", "")
			if got := rekindle.Sentences(line); !slices.Equal(got, want) {
				t.Errorf("%q\n got %q\nwant %q", line, got, want)
			}
		})
	}
}

// FuzzSentences checks that sentences are the text, in order and whole, and not
// empty. The seeds are in testdata.
func FuzzSentences(f *testing.F) {
	f.Fuzz(func(t *testing.T, line string) {
		var b strings.Builder
		for _, s := range rekindle.Sentences(line) {
			if s == "" || strings.TrimSpace(s) != s {
				t.Fatalf("sentence %q of %q is empty or has space around it", s, line)
			}
			if utf8.ValidString(line) && !utf8.ValidString(s) {
				t.Fatalf("sentence %q of %q is cut within a letter", s, line)
			}
			b.WriteString(s)
		}
		if got, want := withoutSpace(b.String()), withoutSpace(line); got != want {
			t.Fatalf("the sentences of %q are together %q", line, got)
		}
	})
}

func withoutSpace(s string) string {
	return strings.Join(strings.FieldsFunc(s, unicode.IsSpace), "")
}
