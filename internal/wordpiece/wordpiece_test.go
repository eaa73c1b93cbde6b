package wordpiece

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"emberd/internal/gguf"
	"emberd/internal/tinybert"
)

// tokenizer is that of a model, or the error there is instead.
func tokenizer(t testing.TB, m *tinybert.Model) (*Tokenizer, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := m.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	facts, err := f.BERT()
	if err != nil {
		t.Fatal(err)
	}
	return New(f, facts), nil
}

// tiny is the tokenizer of the tiny model, with more keys.
func tiny(t testing.TB, more ...tinybert.Meta) *Tokenizer {
	t.Helper()
	m := tinybert.New(tinybert.Tiny())
	m.Meta = append(m.Meta, more...)
	tokenizer, err := tokenizer(t, m)
	if err != nil {
		t.Fatal(err)
	}
	return tokenizer
}

// spelled are the tokens between the first and the last, as the vocabulary spells them.
func spelled(tokens []int32) string {
	vocabulary := tinybert.Tokens()
	var words []string
	for _, id := range tokens[1 : len(tokens)-1] {
		words = append(words, vocabulary[id])
	}
	return strings.Join(words, " ")
}

// These tokens are llama.cpp's.
func TestGoldenTokens(t *testing.T) {
	tokenizer := tiny(t)
	for text, want := range map[string][]int32{
		"note memory search": {2, 133, 135, 140, 3},
		"":                   {2, 3},
	} {
		if got := tokenizer.Tokens(text, 0); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func TestTokens(t *testing.T) {
	tokenizer := tiny(t)
	for _, test := range []struct{ name, text, want string }{
		{"words", "note memory", "▁note ▁memory"},
		{"capitals", "NOTE Memory", "▁note ▁memory"},
		{"the longest match", "searching notes noted", "▁search ing ▁notes ▁note d"},
		{"letters", "xyz9", "▁x y z 9"},
		{"spaces of all kinds", " note\tmemory\r\n\u00a0search\u2003query\u3000link\u2028", "▁note ▁memory ▁search ▁query ▁link"},
		{"punctuation", "note,memory.", "▁note ▁, ▁memory ▁."},
		{"symbols of ASCII", "a+b=$~|", "▁a ▁+ ▁b ▁= ▁$ ▁~ ▁|"},
		{"other symbols are part of a word", "5€ note€ note", "[UNK] [UNK] ▁note"},
		{"other punctuation is a word", "note“memory”", "▁note [UNK] ▁memory [UNK]"},
		{"accents", "Nóte MÉMORY ñ", "▁note ▁memory ▁n"},
		{"accents of their own", "No\u0301te \u0301 a\u0308", "▁note ▁a"},
		{"special tokens are text", "[CLS] [MASK]", "▁[ ▁c l s ▁] ▁[ ▁m a s k ▁]"},
		{"nor with the boundary", "▁note a▁note a▁", "[UNK] [UNK] [UNK]"},
		{"emoji", "note 🙂 memory", "▁note [UNK] ▁memory"},
		{"emoji in a word", "note🙂", "[UNK]"},
		{"a family of emoji", "👨‍👩‍👧", "[UNK]"},
		{"Chinese", "日本a語", "[UNK] [UNK] ▁a [UNK]"},
		{"beyond the first plane", "a𠀀b𪜀", "▁a [UNK] ▁b [UNK]"},
		{"Japanese syllables are words", "カタカナ", "[UNK]"},
		{"Korean syllables are words", "각하 note", "[UNK] ▁note"},
		{"Greek questions", "note\u037e", "▁note ▁;"},
		{"Kelvin", "\u212a", "▁k"},
		{"Turkish", "İ", "▁i"},
		{"NUL", "no\x00te", "▁note"},
		{"controls", "no\x1bte\x7f", "▁note"},
		{"controls that are spaces elsewhere", "no\vt\fe me\u0085mo\x1cry", "▁note ▁memory"},
		{"soft hyphens and joiners", "no\u00adte\u200b \ufeffmemory", "▁note ▁memory"},
		{"private use", "no\ue000te", "▁note"},
		{"replacement characters", "no\ufffdte", "▁note"},
		{"bytes that are not UTF-8", "no\xffte \xc0\xaf", "▁note"},
		{"lone surrogates", "no\xed\xa0\x80te", "▁note"},
		{"a cut character", "note \xe2\x82", "▁note"},
		{"an unassigned character", "note\u0378", "[UNK]"},
		{"nothing but spaces", " \n\t", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			tokens := tokenizer.Tokens(test.text, 0)
			if got := spelled(tokens); got != test.want {
				t.Errorf("%q:\n got %s\nwant %s", test.text, got, test.want)
			}
			if got, want := tokenizer.Unknown(tokens), strings.Count(test.want, "[UNK]"); got != want {
				t.Errorf("%q: got %d unknown, want %d", test.text, got, want)
			}
		})
	}
}

// The blocks of Chinese characters, by their ends and what is beside them.
func TestIdeographs(t *testing.T) {
	for _, block := range [][2]rune{{0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xf900, 0xfaff}, {0x20000, 0x2a6df},
		{0x2a700, 0x2b81f}, {0x2b920, 0x2ceaf}, {0x2f800, 0x2fa1f}} {
		if !ideograph(block[0]) || !ideograph(block[1]) {
			t.Errorf("%x to %x: got no ideographs at the ends", block[0], block[1])
		}
		if before, after := block[0]-1, block[1]+1; ideograph(before) || ideograph(after) {
			t.Errorf("%x to %x: got ideographs beside it", block[0], block[1])
		}
	}
}

// What Unicode decomposes each character to, of all characters there are, but for accents.
func TestDecompositionOfEveryCharacter(t *testing.T) {
	for r := range rune(utf8.MaxRune + 1) {
		want := strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Mn, r) || unicode.IsSpace(r) || isPunctuation(r) {
				return -1
			}
			return r
		}, norm.NFD.String(string(r)))
		c := &cut{Tokenizer: &Tokenizer{cased: true}, word: []byte(boundary)}
		if c.addDecomposed(r, string(r)+"\u0301"); string(c.word) != boundary+want && utf8.ValidRune(r) && r > 0x7f && len(c.list) == 0 {
			t.Errorf("%x: got %q, want %q", r, c.word, want)
		}
	}
}

// A model for which capitals or accents matter says so; accents are kept with the capitals.
func TestNormalizersThatAFileAsksFor(t *testing.T) {
	lower := func(v bool) tinybert.Meta { return tinybert.Meta{Key: "tokenizer.ggml.normalizer.lowercase", Value: v} }
	strip := func(v bool) tinybert.Meta {
		return tinybert.Meta{Key: "tokenizer.ggml.normalizer.strip_accents", Value: v}
	}
	for _, test := range []struct {
		name string
		meta []tinybert.Meta
		want string // of "note NOTE nóte no\u0301te"
	}{
		{"nothing", nil, "▁note ▁note ▁note ▁note"},
		{"both", []tinybert.Meta{lower(true), strip(true)}, "▁note ▁note ▁note ▁note"},
		{"capitals", []tinybert.Meta{lower(false)}, "▁note [UNK] [UNK] [UNK]"},
		{"accents", []tinybert.Meta{strip(false)}, "▁note ▁note [UNK] [UNK]"},
		{"capitals without accents", []tinybert.Meta{lower(false), strip(true)}, "▁note [UNK] ▁note ▁note"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := spelled(tiny(t, test.meta...).Tokens("note NOTE nóte no\u0301te", 0)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestTokensUpToALimit(t *testing.T) {
	tokenizer := tiny(t)
	for limit, want := range map[int]string{
		2: "", 3: "▁note", 4: "▁note ▁search", 5: "▁note ▁search ing", 6: "▁note ▁search ing ▁,", 100: "▁note ▁search ing ▁,",
	} {
		tokens := tokenizer.Tokens("note searching,", limit)
		if got := spelled(tokens); got != want || tokens[0] != 2 || tokens[len(tokens)-1] != 3 {
			t.Errorf("limit %d: got %v, %s, want %s between 2 and 3", limit, tokens, got, want)
		}
	}
}

// Texts much longer than any note are cut as their parts are.
func TestLongTexts(t *testing.T) {
	tokenizer := tiny(t)
	const M = 1 << 16 // enough for what grows faster than its text to be noticed
	for name, test := range map[string]struct {
		text string
		want int
	}{
		"words":                  {strings.Repeat("note memory ", M), 2*M + 2},
		"letters":                {strings.Repeat("x ", M), M + 2},
		"one word":               {strings.Repeat("x", 12*M), 3},
		"words of 100":           {strings.Repeat(strings.Repeat("x", 100)+" ", M/100), M/100*100 + 2},
		"Chinese":                {strings.Repeat("語", M), M + 2},
		"accents":                {strings.Repeat("e\u0301 ", M), M + 2},
		"bytes that are no text": {strings.Repeat("\xff", M), 2},
	} {
		t.Run(name, func(t *testing.T) {
			if got := len(tokenizer.Tokens(test.text, 0)); got != test.want {
				t.Errorf("got %d tokens, want %d", got, test.want)
			}
			if got, want := len(tokenizer.Tokens(test.text, 256)), min(test.want, 256); got != want {
				t.Errorf("up to 256: got %d tokens, want %d", got, want)
			}
		})
	}
}

// plainTokens cuts words by looking through the whole vocabulary for each token.
func plainTokens(words []string) []int32 {
	vocabulary := tinybert.Tokens()
	tokens := []int32{2}
	for _, word := range words {
		rest, found := "▁"+word, []int32(nil)
		for rest != "" {
			best := -1
			for id, token := range vocabulary {
				if strings.HasPrefix(rest, token) && (best < 0 || len(token) > len(vocabulary[best])) {
					best = id
				}
			}
			if best < 0 {
				found = []int32{1}
				break
			}
			found, rest = append(found, int32(best)), strings.TrimPrefix(rest, vocabulary[best])
		}
		tokens = append(tokens, found...)
	}
	return append(tokens, 3)
}

func TestWordsAreCutAsByALookThroughTheVocabulary(t *testing.T) {
	tokenizer := tiny(t)
	word := rapid.OneOf(rapid.StringMatching(`[a-z0-9]{1,12}`), rapid.StringMatching(`(note|search|memory|in|ing|ed|ness|é|ß){1,4}`))
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(word).Draw(t, "words")
		plain := slices.Clone(words)
		for i := range plain {
			plain[i] = strings.ReplaceAll(plain[i], "é", "e")
		}
		if got, want := tokenizer.Tokens(strings.Join(words, " "), 0), plainTokens(plain); !slices.Equal(got, want) {
			t.Fatalf("%q: got %v, want %v", words, got, want)
		}
	})
}

// sensible checks what holds for the tokens of any text.
func sensible(t interface{ Fatalf(string, ...any) }, tokenizer *Tokenizer, text string, limit int) {
	whole := tokenizer.Tokens(text, 0)
	if whole[0] != 2 || whole[len(whole)-1] != 3 {
		t.Fatalf("%q: got %v, want them between 2 and 3", text, whole)
	}
	for _, id := range whole[1 : len(whole)-1] {
		if id != 1 && (id < 5 || int(id) >= len(tinybert.Tokens())) {
			t.Fatalf("%q: token %d is special, or none", text, id)
		}
	}
	if again := tokenizer.Tokens(text, 0); !slices.Equal(whole, again) {
		t.Fatalf("%q: got %v and %v", text, whole, again)
	}
	if valid := tokenizer.Tokens(strings.ToValidUTF8(text, ""), 0); !slices.Equal(whole, valid) {
		t.Fatalf("%q: got %v, and %v of what is UTF-8", text, whole, valid)
	}
	if len(whole) > 2+utf8.RuneCountInString(text) {
		t.Fatalf("%q: got %d tokens, more than it has characters", text, len(whole))
	}
	want := append(slices.Clone(whole[:min(len(whole), limit)-1]), 3)
	if got := tokenizer.Tokens(text, limit); !slices.Equal(got, want) {
		t.Fatalf("%q, up to %d: got %v, want %v", text, limit, got, want)
	}
}

func TestTokensOfAnyText(t *testing.T) {
	tokenizer := tiny(t)
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		sensible(t, tokenizer, a, rapid.IntRange(2, 20).Draw(t, "limit"))
		both := tokenizer.Tokens(a+" "+b, 0)
		first, second := tokenizer.Tokens(a, 0), tokenizer.Tokens(b, 0)
		if want := append(first[:len(first)-1], second[1:]...); !slices.Equal(both, want) {
			t.Fatalf("%q and %q: got %v together, want %v", a, b, both, want)
		}
	})
}

func FuzzTokens(f *testing.F) {
	tokenizer := tiny(f)
	f.Fuzz(func(t *testing.T, text string, limit uint8) {
		sensible(t, tokenizer, text, 2+int(limit))
	})
}

// The vocabulary has the size of a real one; the text is one that it spells in parts.
func BenchmarkTokens(b *testing.B) {
	m := tinybert.MiniLM(tinybert.Q8_0)
	m.Dim, m.Heads, m.FeedForward, m.Layers = 32, 1, 32, 1 // of which the tokenizer sees nothing
	tokenizer, err := tokenizer(b, tinybert.New(m))
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string]string{
		"English": strings.Repeat("The notes of the meeting were written into the vault. ", 20),
		"letters": strings.Repeat("x", 1000),
		"Chinese": strings.Repeat("記憶", 500),
	} {
		b.Run(fmt.Sprintf("%s, %d bytes", name, len(text)), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				tokenizer.Tokens(text, 0)
			}
		})
	}
}

// What vocabularies have of other scripts: letters of Hangul, and marks that are no accents.
func TestMarksAndLettersOfOtherScripts(t *testing.T) {
	tokens := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁a", "▁ᄀ", "▁ᄒ", "ᅡ", "ᆨ", "ः", "▁क", "ा", "\u20dd", "▁i", "\u0307", "b"}
	tokenizer := &Tokenizer{begin: 2, end: 3, unknown: 1}
	tokenizer.learn(tokens)
	accented := *tokenizer
	accented.accented = true
	for _, test := range []struct {
		tokenizer  *Tokenizer
		text, want string
	}{
		{tokenizer, "각하", "[UNK]"}, // a word as a whole: no token goes on with its second syllable
		{tokenizer, "하 하", "▁ᄒ ᅡ ▁ᄒ ᅡ"},
		{tokenizer, "का a\u0903 a\u20dd", "▁क ा ▁a ः ▁a \u20dd"},
		{tokenizer, "İ a\u0308b", "▁i ▁a b"},
		{&accented, "İ ab", "▁i \u0307 ▁a b"},
	} {
		var got []string
		ids := test.tokenizer.Tokens(test.text, 0)
		for _, id := range ids[1 : len(ids)-1] {
			got = append(got, tokens[id])
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%q: got %q, want %q", test.text, strings.Join(got, " "), test.want)
		}
	}
}
