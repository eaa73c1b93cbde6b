package analysis

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
	"pgregory.net/rapid"
)

// byChain analyses without any of the shortcuts for ASCII.
func byChain(a *Analyzer, s string, grams *cjk.CJKBigramFilter) []Term {
	f := a.fold(s)
	if f.at == nil {
		f.at = make([]int32, len(f.text)+1)
		for i := range f.at {
			f.at[i] = int32(i)
		}
	}
	return a.chain(nil, f, 0, len(f.text), grams)
}

// checkShortcuts checks that the shortcuts change no term and no span.
func checkShortcuts(t interface{ Fatalf(string, ...any) }, a *Analyzer, s string) {
	for _, grams := range []*cjk.CJKBigramFilter{a.letters, a.pairs} {
		got, want := a.analyze(nil, s, grams), byChain(a, s, grams)
		if !slices.Equal(got, want) {
			t.Fatalf("terms of %q are\n%v, want those of the chain\n%v", s, got, want)
		}
	}
}

// phrases draws runs of ASCII that look like what people write, next to what is not ASCII.
func phrases() *rapid.Generator[string] {
	ascii := rapid.StringMatching(`[a-zA-Z0-9_.,:;' -]{0,12}`)
	contraction := rapid.StringMatching(`[a-z]{1,4}['’][a-z]{1,3}`)
	identifier := rapid.StringMatching(`[A-Z0-9_]{1,4}[_.:-]{1,2}[a-z0-9]{1,4}(\+\+|#)?`)
	foreign := rapid.SampledFrom([]string{"café", "é", "—", "“a”", "東京", "ガ", "서울", "ไทย", "й", "👍🏽", "\u0301", "\u0903", "\u200B", "\xff", "·", "‧", "٫"})
	space := rapid.SampledFrom([]string{"", " ", "  ", "\n", "\t", "\r\n", "\v"})
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(0, 8).Draw(t, "pieces") {
			b.WriteString(rapid.OneOf(ascii, contraction, identifier, foreign, mixed()).Draw(t, "piece"))
			b.WriteString(space.Draw(t, "space"))
		}
		return b.String()
	})
}

func TestShortcutsChangeNothing(t *testing.T) {
	a := New()
	rapid.Check(t, func(t *rapid.T) { checkShortcuts(t, a, phrases().Draw(t, "text")) })
}

// TestAsciiPairs puts every ASCII byte between every two kinds of neighbours.
func TestAsciiPairs(t *testing.T) {
	a := New()
	neighbours := []string{"", "a", "z", "1", "_", ".", "'", ":", ",", "a1", "1a", "é", "東"}
	for c := range byte(0x80) {
		for _, before := range neighbours {
			for _, after := range neighbours {
				checkShortcuts(t, a, before+string(rune(c))+after)
				checkShortcuts(t, a, "x "+before+string(rune(c))+after+" y")
			}
		}
	}
}

// TestPunctuationIsLikeSpace checks what folds to a space: as itself it would keep the
// same words apart.
func TestPunctuationIsLikeSpace(t *testing.T) {
	a := New()
	for _, mark := range "\u00a0«»–—“”„•…" {
		if !isPunctuation(mark) {
			t.Errorf("%q is not taken for punctuation", mark)
		}
		for _, words := range [][2]string{{"a1", "b1"}, {"1", "2"}, {"東", "京"}, {"_", "c"}, {"ไ", "ท"}} {
			unfolded := &folded{text: []byte(words[0] + string(mark) + words[1])}
			var want []string
			for _, term := range a.chain(nil, unfolded, 0, len(unfolded.text), a.letters) {
				want = append(want, term.Text)
			}
			if got := texts(a.Terms(words[0] + string(mark) + words[1])); got != strings.Join(want, " ") {
				t.Errorf("around %q the terms are %q, want %q", mark, got, want)
			}
		}
	}
}

// TestMoreWordsThanAreRemembered checks terms when words take each other's places.
func TestMoreWordsThanAreRemembered(t *testing.T) {
	a := New()
	for range 2 {
		for i := range 3 * maxFinished {
			word := fmt.Sprintf("painting%cs%d", 'a'+i%26, i/26)
			if got, stop, _ := a.finished([]byte(word)); got != word || stop {
				t.Fatalf("term of %q is %q, stop %v", word, got, stop)
			}
		}
		for word := range strings.FieldsSeq("painting sunrises generalizations the don't") {
			got, stop, _ := a.finished([]byte(word))
			if want := a.stemmed([]byte(word)); got != want || stop != a.stopWords[word] {
				t.Errorf("term of %q is %q, stop %v, want %q, %v", word, got, stop, want, a.stopWords[word])
			}
		}
	}
}

func TestAppendTerms(t *testing.T) {
	a := New()
	terms := a.AppendTerms(nil, "first café")
	if terms = a.AppendTerms(terms, "second"); texts(terms) != "first cafe second" {
		t.Errorf("terms are %q", texts(terms))
	}
}

func BenchmarkTerms(b *testing.B) {
	for name, sentence := range map[string]string{
		"ascii":   "The quick brown fox jumps over the lazy dog, and doesn't look back at foo.bar v2.6. ",
		"accents": "Müller’s Käse — “größer” als sonst — schmeckt im Café am schönsten; l’avion était là. ",
		"chinese": "我们昨天去了北京大学，看到了很多学生在图书馆里读书。",
	} {
		b.Run(name, func(b *testing.B) {
			a, text := New(), strings.Repeat(sentence, 4000/len(sentence))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var terms []Term
			for b.Loop() {
				terms = a.AppendTerms(terms[:0], text)
			}
		})
	}
}

// What an analyzer forgot it finds again.
func TestForget(t *testing.T) {
	a := New()
	const text = "Paintings of the sunrises, generalized"
	want := a.Terms(text)
	a.Forget()
	for i := range a.known.words {
		if a.known.words[i].Load() != nil {
			t.Fatal("a word is remembered")
		}
	}
	if got := a.Terms(text); !slices.Equal(got, want) {
		t.Errorf("terms are %v, and were %v", got, want)
	}
}
