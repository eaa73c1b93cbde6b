package analysis

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// texts returns the terms without their spans, joined by spaces.
func texts(terms []Term) string {
	words := make([]string, len(terms))
	for i, t := range terms {
		words[i] = t.Text
	}
	return strings.Join(words, " ")
}

func TestTerms(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"english is stemmed", "Painting the sunrises", "paint the sunris"},
		{"possessive", "Caroline's and Caroline’s", "carolin and carolin"},
		{"contraction", "don't don’t", "dont dont"},
		{"name with apostrophe", "O'Brien", "obrien brien"},
		{"elision", "l’avion", "lavion avion"},
		{"marks between Hangul and other letters", "서'서 서's don't서", "서 서 서 s dont 서"},
		{"german", "Müllers Straße", "muller strass"},
		{"accents composed and not", "café cafe\u0301 CAFÉ", "cafe cafe cafe"},
		{"full width", "ＣＡＦＥ　１２", "cafe 12"},
		{"vietnamese", "Tiếng Việt", "tieng viet"},
		{"russian", "Ёлка и\u0306 й", "елка и и"},
		{"greek", "Ὀδυσσεύς ΌΔΟΣ", "ὀδυσσευσ οδοσ"},
		{"arabic", "كِتَابٌ أحمد مدرســة", "كتاب احمد مدرسه"},
		{"hebrew points", "שָׁלוֹם", "שלום"},
		{"hindi", "हिन्दी में", "हिन्दी में"},
		{"chinese", "北京大学", "北 北京 京 京大 大 大学 学"},
		{"single letter", "猫", "猫"},
		{"rare han", "𠮷野家", "𠮷 𠮷野 野 野家 家"},
		{"japanese across kana", "タワーに", "タ タワ ワ ワー ー ーに に"},
		{"half-width kana", "ｶﾞｷﾞ", "ガ ガギ ギ"},
		{"decomposed kana", "か\u3099は\u309A", "が がぱ ぱ"},
		{"korean with latin", "AI를 배운다", "ai 를 배 배운 운 운다 다"},
		{"decomposed hangul", "\u1112\u1161\u11ab\u1100\u1173\u11af", "한 한글 글"},
		{"thai", "ไทย abc", "ไ ไท ท ทย ย abc"},
		{"thai beside latin", "ไทยabc", "ไ ไท ท ทย ย abc"},
		{"identifier", "JWT_SECRET_v2", "jwt_secret_v2 jwt secret v2"},
		{"dotted", "foo.bar a.b:c", "foo.bar foo bar a.b:c"},
		{"uuid", "0192f3a1-b2c3", "0192f3a1 b2c3"},
		{"not stemmed with a digit", "abc1ing", "abc1ing"},
		{"numbers stay whole", "3.14 1,000", "3.14 1,000"},
		{"version", "v2.6.1", "v2.6.1 v2"},
		{"address", "user@host.com", "user host.com host com"},
		{"url", "https://ex.com/path?q=1", "http ex.com ex com path q 1"},
		{"language names", "C++ C# c", "c++ c c# c c"},
		{"emoji", "ok 👍🏽❤️", "ok 👍 ❤"},
		{"check mark", "✓ done", "✓ done"},
		{"soft hyphen", "co\u00ADop", "coop"},
		{"zero-width space ends a word", "x1\u200By1", "x1 y1"},
		{"broken bytes", "a1\xffb1\xc3", "a1 b1"},
		{"nothing", " \n-- ", ""},
	}
	a := New()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := texts(a.Terms(test.text)); got != test.want {
				t.Errorf("Terms(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

func TestSpansPointIntoTheSource(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{"Straße’s ok", []string{"Straße’s", "ok"}},
		{"ｶﾞｷﾞ", []string{"ｶﾞ", "ｶﾞｷﾞ", "ｷﾞ"}},
		{"e\u0301a foo.bar", []string{"e\u0301a", "foo.bar", "foo", "bar"}},
		{"c++!", []string{"c++", "c"}},
		{"❤️ x", []string{"❤️", "x"}},
	}
	a := New()
	for _, test := range tests {
		var got []string
		for _, term := range a.Terms(test.text) {
			got = append(got, test.text[term.Start:term.End])
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("spans of %q are %q, want %q", test.text, got, test.want)
		}
	}
}

func TestQuery(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"stop words go", "When did Caroline paint?", "carolin paint"},
		{"unless alone", "The Who", "the who"},
		{"contracted stop word", "don't panic", "panic"},
		{"pairs only", "北京大学 猫", "北京 京大 大学 猫"},
		{"identifier with its parts", "end.the foo.bar", "end.the end foo.bar foo bar"},
		{"nothing", "?", ""},
	}
	a := New()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := texts(a.Query(test.text)); got != test.want {
				t.Errorf("Query(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

// TestQueryFindsDocument checks that documents hold every term of the query.
func TestQueryFindsDocument(t *testing.T) {
	tests := []struct{ document, query string }{
		{"rotate JWT_SECRET_v2 on Friday", "jwt_secret_v2"},
		{"rotate JWT_SECRET_v2 on Friday", "secret"},
		{"it is in foo.bar", "bar"},
		{"run 0192f3a1-b2c3 failed", "0192f3a1-b2c3"},
		{"mail user@host today", "user@host"},
		{"she writes C++ now", "C++"},
		{"see https://ex.com/a/b?x=1#top.", "https://ex.com/a/b?x=1#top"},
		{"O’Brien called", "o'brien"},
		{"O’Brien called", "Brien"},
		{"we met at the café", "cafe"},
		{"we met at the cafe", "cafe\u0301"},
		{"Grüße aus der Straße", "grusse strasse"},
		{"我喜欢猫", "猫"},
		{"東京タワーに行く", "タワー"},
		{"나는 서울에서 살아요", "서울"},
		{"ฉันชอบแมว", "แมว"},
		{"Я купил ёлку", "елку"},
		{"قرأت الكِتاب", "الكتاب"},
		{"token zq7f3k9x1", "ZQ7F3K9X1"},
		{strings.Repeat("x", 5000) + "1", strings.Repeat("x", 5000) + "1"},
	}
	a := New()
	for _, test := range tests {
		terms := a.Terms(test.document)
		query := a.Query(test.query)
		if len(query) == 0 {
			t.Errorf("query %q has no terms", test.query)
		}
		for _, q := range query {
			if !slices.ContainsFunc(terms, func(d Term) bool { return d.Text == q.Text }) {
				t.Errorf("%.40q lacks the term %q of query %.40q", test.document, q.Text, test.query)
			}
		}
	}
}

func TestLongTermsDifferByTheirEnds(t *testing.T) {
	a := New()
	long := strings.Repeat("é1", 100)
	one, two := a.Terms(long + "a")[0].Text, a.Terms(long + "b")[0].Text
	if one == two {
		t.Errorf("terms with different ends are both %q", one)
	}
	for _, term := range []string{one, two} {
		if len(term) > maxTerm || !utf8.ValidString(term) {
			t.Errorf("term %q has %d bytes, want at most %d and valid UTF-8", term, len(term), maxTerm)
		}
	}
}

func TestCounts(t *testing.T) {
	a := New()
	tests := []struct {
		text, want string
		length     int
	}{
		{"Cats and a cat", "cat:2 and:1 a:1", 4},
		{"foo.bar foo", "foo.bar:1 foo:2 bar:1", 2},
		{"北京大学", "北:1 北京:1 京:1 京大:1 大:1 大学:1 学:1", 3},
		{"猫 猫", "猫:2", 2},
		{"", "", 0},
	}
	for _, test := range tests {
		counts, length := a.Counts(test.text)
		var got []string
		for _, c := range counts {
			got = append(got, fmt.Sprintf("%s:%d", c.Text, c.N))
		}
		if joined := strings.Join(got, " "); joined != test.want || length != test.length {
			t.Errorf("Counts(%q) = %q, length %d, want %q, length %d", test.text, joined, length, test.want, test.length)
		}
	}
}

// mixed draws texts from letters that take every path of the analysis.
func mixed() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.SampledFrom([]rune(
		"aaeeinrstABZ0189  \n.,:'’_-+#@éßÉ\u0301\u0308かガｶﾞ\u3099京都北猫서울\u1112\u1161\u11abไทยйЁςكأ👍🏽❤\uFE0F\u200B\u00ADＡ１\uFFFD",
	)), 0, 80, -1)
}

func TestTermsProperties(t *testing.T) {
	a := New()
	rapid.Check(t, func(t *rapid.T) { checkTerms(t, a, mixed().Draw(t, "text")) })
}

// FuzzTerms checks the same for any bytes.
func FuzzTerms(f *testing.F) {
	a := New()
	f.Add("Café C++ foo.bar \xff 北京 서울 ไทย 👍🏽")
	f.Add("서'서 서's 서don't서")
	f.Fuzz(func(t *testing.T, s string) {
		checkTerms(t, a, s)
		checkShortcuts(t, a, s)
		a.Snippet(s, words(a, s), len(s)/2)
	})
}

// checkTerms checks what holds for the terms of every text.
func checkTerms(t interface{ Fatalf(string, ...any) }, a *Analyzer, s string) {
	terms := a.Terms(s)
	held := make(map[string]bool)
	for _, term := range terms {
		held[term.Text] = true
		if term.Start < 0 || term.End <= term.Start || term.End > len(s) {
			t.Fatalf("span %d..%d of %q lies outside the text", term.Start, term.End, term.Text)
		}
		if !utf8.ValidString(s[term.Start:term.End]) {
			t.Fatalf("span of %q splits a letter", term.Text)
		}
		if term.Text == "" || len(term.Text) > maxTerm || !utf8.ValidString(term.Text) {
			t.Fatalf("term %q has %d bytes", term.Text, len(term.Text))
		}
	}
	if !slices.IsSortedFunc(terms, func(a, b Term) int { return a.Start - b.Start }) {
		t.Fatalf("terms are not ordered by start: %v", terms)
	}
	for _, q := range a.Query(s) {
		if !held[q.Text] {
			t.Fatalf("query term %q is not among the document's", q.Text)
		}
	}
}

func TestUniqueTokenIsOneTerm(t *testing.T) {
	a := New()
	rapid.Check(t, func(t *rapid.T) {
		token := rapid.StringMatching(`[a-z][a-z0-9]{1,30}[0-9][a-z0-9]{0,20}`).Draw(t, "token")
		terms := a.Terms("the key is " + strings.ToUpper(token) + ", keep it")
		if !slices.ContainsFunc(terms, func(d Term) bool { return d.Text == token }) {
			t.Fatalf("%q is not a term of its text: %s", token, texts(terms))
		}
	})
}

func TestAnalyzerIsShared(t *testing.T) {
	a := New()
	const s = "Don't paint 北京大学 서울 foo.bar Caroline's café"
	want := texts(a.Terms(s))
	t.Run("readers", func(t *testing.T) {
		for range 4 {
			t.Run("one", func(t *testing.T) {
				t.Parallel()
				for range 100 {
					if got := texts(a.Terms(s)); got != want {
						t.Fatalf("Terms = %q, want %q", got, want)
					}
				}
			})
		}
	})
}

// TestIdentity fails when the terms change but the identity does not. Change both
// together: stored terms of older versions are made anew only when the identity differs.
func TestIdentity(t *testing.T) {
	const sample = "Painting sunrises, generalizations and running at Müller’s café; don't O'Brien " +
		"JWT_SECRET_v2 foo.bar C++ 3.14 v2.6.1 Straße ＦＵＬＬ ｶﾞｷﾞ 東京タワーに行く 안녕하세요 สวัสดี Привет ёлка " +
		"ὈΔΥΣΣΕΎΣ أحمد مدرسة שָׁלוֹם हिन्दी 👍🏽 ❤️ "
	a := New()
	hash := fnv.New64a()
	fmt.Fprint(hash, texts(a.Terms(sample+strings.Repeat("x", 70))), texts(a.Query(sample)))
	got := fmt.Sprintf("%s %016x", a.Identity(), hash.Sum64())
	const want = "emberd-text/3 bleve/2.6.1 en-porter cjk-2 d2331ab947ee8965"
	if got != want {
		t.Errorf("identity and digest of the terms are\n%s, want\n%s", got, want)
	}
}

func TestPrefix(t *testing.T) {
	a := New()
	for word, want := range map[string]string{"Authen": "authen", "CAFÉ": "cafe", "running": "running", "": "", "a b": "b", "東": ""} {
		if got := a.Prefix(word); got != want {
			t.Errorf("Prefix(%q) = %q, want %q", word, got, want)
		}
	}
}

// Where only some terms are asked for, those are the same and the others stand where they do.
func TestAppendOnlyFindsTheSameTerms(t *testing.T) {
	a := New()
	word := rapid.SampledFrom([]string{"the", "don't", "you're", "let's", "runner's", "RUNNING", "café", "foo.bar_baz", "3.5", "C++", "o'brien",
		"東京都", "ab한국", "สวัสดี", "🎉", "ies", "yes", "ied", "'s", "_x", "sky", "generalizations"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(word, rapid.StringN(0, 8, -1)), 0, 12).Draw(t, "text"), " ")
		all := a.Terms(text)
		var wanted []string
		for _, term := range all {
			if rapid.Bool().Draw(t, "wanted") {
				wanted = append(wanted, term.Text)
			}
		}
		got := a.AppendOnly(nil, text, wanted)
		if len(got) != len(all) {
			t.Fatalf("%q has %d terms, looked up %d", text, len(all), len(got))
		}
		for i, term := range got {
			same := term.Text == all[i].Text || term.Text == "" && !slices.Contains(wanted, all[i].Text)
			if !same || term.Start != all[i].Start || term.End != all[i].End {
				t.Errorf("of %q, term %d is %+v and looked up for %q %+v", text, i, all[i], wanted, term)
			}
		}
	})
}

// While a word is typed, its term is among those of every beginning of it.
func TestTheTermOfAWordFitsEveryBeginning(t *testing.T) {
	a := New()
	for _, word := range []string{"authentication", "hoping", "planned", "cities", "capability", "operating", "verifications",
		"happiness", "stopping", "relational", "zettelkasten", "weddings", "v2beta", "running"} {
		term := a.Query(word)[0].Text
		for n := 2; n <= len(word); n++ {
			begun := word[:n]
			if !strings.HasPrefix(term, begun) && !slices.Contains(a.Stems(begun), term) {
				t.Errorf("%s, the term of %s, does not fit %s", term, word, begun)
			}
		}
	}
	if got := a.Stems("author"); slices.Contains(got, "auth") {
		t.Errorf("author may be the beginning of a word with the term auth: %q", got)
	}
}

func TestEnglishWordsOfOneTerm(t *testing.T) {
	a := New()
	for term, words := range map[string]string{
		"deploy": "deploy deploys deployed deploying deployment deployments Deployments", "employ": "employ employer employment",
		"pay": "pay pays paying", "citi": "city cities",
	} {
		for got := range strings.FieldsSeq(texts(a.Terms(words))) {
			if got != term {
				t.Errorf("a term of %q is %s, want %s", words, got, term)
			}
		}
	}
}
