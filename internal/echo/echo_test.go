package echo

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/memory"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const (
	anID   = memory.ID("0192f3a1-b2c3-7000-8000-0123456789ab")
	facts  = "The staging database listens on port 5432. Ann moved it there in May, because the tunnel holds 5433."
	denied = "It is not true that the staging database of the shop listens on the old port since May."
)

// heard is what was given out once, from one memory.
func heard(t testing.TB, texts ...string) *ReturnedTexts {
	t.Helper()
	r := New(time.Hour)
	for i, text := range texts {
		r.Add(Source{Memory: anID, Path: fmt.Sprint(i)}, text, noon)
	}
	return r
}

// isEcho reports whether all parts of a text are echoes, or all pieces of one are, each of
// something else.
func isEcho(r *ReturnedTexts, text string) bool {
	found := func(p Part) []Match { return r.Find(p.Text, noon.Add(time.Minute)) }
	parts := Parts(text)
	for _, p := range parts {
		if len(found(p)) > 0 {
			continue
		}
		seen := map[string]bool{}
		for _, piece := range p.Pieces() {
			if of := found(piece); len(of) > 0 {
				seen[of[0].Path] = true
			}
		}
		if len(seen) == 0 || len(seen) != len(p.Pieces()) {
			return false
		}
	}
	return len(parts) > 0
}

func TestEchoes(t *testing.T) {
	long := strings.Repeat("one after the other the boats of the club came home before the rain and were made fast; ",
		20)
	for name, c := range map[string]struct {
		given, text string
		want        bool
	}{
		"the same": {facts, facts, true},
		"case, white space and marks": {facts,
			"  THE staging  database, listens on \"port\" **5432**!\nann moved it there in may because the tunnel " +
				"holds 5433", true},
		"quoted": {facts,
			"> The staging database listens on port 5432.\n> Ann moved it there in May, because the tunnel holds 5433.",
			true},
		"as an answer has it":     {facts, "[456789ab] memory, 3d old, #staging, project shop\n> " + facts, true},
		"in one line of an index": {facts, "[456789ab] memory, 3d old > " + facts, true},
		"a sentence of it":        {facts, "Ann moved it there in May, because the tunnel holds 5433", true},
		"from the middle":         {facts, "moved it there in May because the tunnel holds", true},
		"seven words of it":       {facts, "it there in May because the tunnel", false},
		"another number":          {facts, strings.Replace(facts, "5432", "5434", 1), false},
		"a number with a sign": {"the offset of the clock is 5 seconds", "the offset of the clock is -5 seconds",
			false},
		"another currency": {"the kettle costs $5 at the market", "the kettle costs €5 at the market",
			false},
		"another version": {"we use version 1.2 of the library now", "we use version 12 of the library now",
			false},
		"another sign": {"it is wanted that a == b holds there", "it is wanted that a != b holds there",
			false},
		"a comparison": {"it is wanted that a > b holds there", "it is wanted that a < b holds there",
			false},
		"a new fact": {facts, facts + " Bob has the password.", false},
		"what it denies": {denied, "the staging database of the shop listens on the old port since May",
			false},
		"all that it denies": {denied, denied, true},
		"a condition left out": {"If the tide is low the ferry leaves from the other pier of the harbour",
			"the ferry leaves from the other pier of the harbour", false},
		"a short one":              {"Ann likes tea", "ann likes  tea.", true},
		"too short to tell":        {"Yes, do it", "yes do it", false},
		"one word":                 {"rhododendrons", "Rhododendrons", true},
		"part of a short one":      {"Ann likes tea with milk", "Ann likes tea", false},
		"a word of many another":   {long + "Ann said so", long + "Bob said so", false},
		"a number of many another": {long + "at 5", long + "at 6", false},
		"a denial among many":      {long + "and that is so", long + "and that is not so", false},
		"something else":           {facts, "The kettle in the kitchen leaks at its lid", false},
		"nothing":                  {facts, " \n", false},
		"Unicode forms": {"Das Caf\u00e9 am Hafen \u00f6ffnet um acht",
			"das cafe\u0301 am hafen o\u0308ffnet UM acht", true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := isEcho(heard(t, c.given), c.text); got != c.want {
				t.Errorf("%q is an echo of %q: %t, want %t", c.text, c.given, got, c.want)
			}
		})
	}
}

func TestASavedAnswerOfSeveralTextsIsAnEchoOfAllOfThem(t *testing.T) {
	r := heard(t, facts, "The kettle leaks")
	answer := "[456789ab] memory, 3d old\n> " + facts + "\n\n[0123abcd] memory, 1h old\n> The kettle leaks\n"
	if !isEcho(r, answer) {
		t.Error("the answer is none")
	}
	if isEcho(r, answer+"\n[00ff00ff] memory, 1h old\n> The kettle was mended\n") {
		t.Error("an answer with something else is one")
	}
}

func TestABracketedIDIsTold(t *testing.T) {
	for text, want := range map[string]string{
		"[456789ab] The kettle leaks":     "456789ab",
		"[" + string(anID) + "] It leaks": string(anID),
		"[see there] The kettle leaks":    "",
		"The kettle [456789ab] leaks":     "",
	} {
		if got := Parts(text); len(got) != 1 || got[0].ID != want {
			t.Errorf("%q has the parts %+v, want one of %q", text, got, want)
		}
	}
}

func TestWhatIsForgotten(t *testing.T) {
	r := heard(t, facts)
	if got := r.Find(facts, noon.Add(time.Hour)); len(got) != 1 || got[0].Memory != anID || !got[0].At.Equal(noon) ||
		got[0].Similarity != 1 {
		t.Errorf("after an hour it is %+v", got)
	}
	if got := r.Find(facts, noon.Add(time.Hour+1)); got != nil {
		t.Errorf("later it is still %+v", got)
	}
	r.Add(Source{Memory: anID}, facts, noon)
	r.Forget()
	if texts, words := r.Size(); texts+words != 0 {
		t.Errorf("%d texts of %d words are left", texts, words)
	}
	off := New(0)
	off.Add(Source{Memory: anID}, facts, noon)
	if got := off.Find(facts, noon); got != nil {
		t.Errorf("what remembers nothing finds %+v", got)
	}
}

func TestWhatIsGivenAgainStays(t *testing.T) {
	r := heard(t, facts)
	r.Add(Source{Memory: anID, Path: "0"}, facts, noon.Add(50*time.Minute))
	if texts, _ := r.Size(); texts != 1 {
		t.Errorf("%d texts are known, want 1", texts)
	}
	if got := r.Find(facts, noon.Add(100*time.Minute)); len(got) != 1 {
		t.Errorf("found are %+v", got)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	r := New(time.Hour)
	for i := range maxTexts + 100 {
		r.Add(Source{Memory: anID}, fmt.Sprintf("the short text with the number %d", i), noon)
	}
	if texts, _ := r.Size(); texts != maxTexts {
		t.Errorf("%d texts are known, want %d", texts, maxTexts)
	}
	if got, gone := r.Find(fmt.Sprintf("the short text with the number %d", maxTexts+99), noon),
		r.Find("the short text with the number 99", noon); len(got) != 1 || gone != nil {
		t.Errorf("the last is %+v, the first %+v", got, gone)
	}
	word := strings.Repeat("word ", longest+1000)
	for i := range maxWords/longest + 10 {
		r.Add(Source{Memory: anID, Path: fmt.Sprint(i)}, word, noon)
	}
	if _, words := r.Size(); words > maxWords || words < maxWords-longest {
		t.Errorf("%d words are known, want nearly %d", words, maxWords)
	}
	prints := 0
	for range r.prints {
		prints++
	}
	r.Forget()
	if len(r.prints) != 0 || prints == 0 {
		t.Errorf("%d fingerprints, and %d after all was forgotten", prints, len(r.prints))
	}
}

// sentences are texts of words and numbers, long enough to be told apart.
func sentences() *rapid.Generator[[]string] {
	word := rapid.OneOf(rapid.StringMatching(`[a-z]{1,9}`), rapid.StringMatching(`[A-Z][a-z]{2,8}`), rapid.StringMatching(`[1-9][0-9]{0,4}`))
	return rapid.SliceOfN(word, shortWords, 60)
}

// decorated is a text as an agent may send it back.
func decorated(r *rapid.T, words []string) string {
	var b strings.Builder
	quote := rapid.SampledFrom([]string{"", "> ", ">  > ", "  "}).Draw(r, "quote")
	b.WriteString(rapid.SampledFrom([]string{"", "\n", "[456789ab] memory, 3d old, #a #b\n",
		"[Notes/A b.md] note, 2026-01-01\n", "[456789ab] "}).Draw(r, "heading"))
	b.WriteString(quote)
	for i, w := range words {
		if i > 0 {
			b.WriteString(rapid.SampledFrom([]string{" ", " ", "  ", "\t", "\n" + quote}).Draw(r, "space"))
		}
		b.WriteString(rapid.SampledFrom([]string{w, w, "**" + w + "**", w + ",", strings.ToUpper(w), `"` + w + `"`}).Draw(r, "word"))
	}
	return b.String() + rapid.SampledFrom([]string{"", ".", "\n", "\n(cut; memory_open has all of it)"}).Draw(r, "end")
}

func TestWhateverTheDecorationAnEchoIsFound(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		words := sentences().Draw(r, "words")
		text := strings.Join(words, " ")
		if len(text) < shortLetters {
			r.Skip("too short to tell")
		}
		if back := decorated(r, words); !isEcho(heard(t, text), back) {
			r.Fatalf("%q is no echo of %q", back, text)
		}
	})
}

func TestAChangedNumberIsNeverAnEcho(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		words := sentences().Draw(r, "words")
		words = append(words, "port", "5432", "holds")
		given := heard(t, strings.Join(words, " "))
		at := rapid.IntRange(0,
			len(words)-1).Filter(func(i int) bool { return strings.Trim(words[i], "0123456789") == "" }).Draw(r, "at")
		words[at] = fmt.Sprint(rapid.IntRange(100_000, 999_999).Draw(r, "number"))
		if back := decorated(r, words); isEcho(given, back) {
			r.Fatalf("%q is an echo", back)
		}
	})
}

func TestAnyEightWordsInARowAreMet(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{4,9}`), passage, 200).Draw(r, "words")
		for _, w := range words {
			if denies(w) {
				r.Skip("it denies something")
			}
		}
		from := rapid.IntRange(0, len(words)-passage).Draw(r, "from")
		to := rapid.IntRange(from+passage, len(words)).Draw(r, "to")
		if part := strings.Join(words[from:to], " "); !isEcho(heard(t, strings.Join(words, " ")), part) {
			r.Fatalf("%q is not met", part)
		}
	})
}

func TestManyAtOnce(t *testing.T) {
	r := New(time.Hour)
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := range 200 {
				text := fmt.Sprintf("the same words of everybody with the number %d", i%20)
				r.Add(Source{Memory: anID, Path: fmt.Sprint(n)}, text, noon)
				if i == 150 && n == 0 {
					r.Forget()
				}
				if found := r.Find(text, noon); n == 0 && i < 150 && len(found) == 0 {
					t.Errorf("%q is not known", text)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzParts(f *testing.F) {
	f.Add("[456789ab] memory, 3d old\n> text\n")
	f.Add(">>> [x] note > \n\r\x00[0000] ")
	f.Fuzz(func(t *testing.T, text string) {
		r := heard(t, text)
		for _, p := range Parts(text) {
			if p.Text == "" || strings.TrimSpace(p.Text) != p.Text {
				t.Errorf("a part is %q", p.Text)
			}
			_ = r.Find(p.Text, noon)
		}
	})
}

func BenchmarkGive(b *testing.B) {
	r := New(time.Hour)
	text := strings.Repeat("the staging database listens on a port of its own ", 4)
	i := 0
	for b.Loop() {
		i++
		r.Add(Source{Memory: anID}, fmt.Sprint(text, i), noon)
	}
}

func BenchmarkFind(b *testing.B) {
	r := New(time.Hour)
	text := strings.Repeat("the staging database listens on a port of its own ", 4)
	for i := range maxTexts {
		r.Add(Source{Memory: anID}, fmt.Sprint(text, i), noon)
	}
	for b.Loop() {
		if len(r.Find(text+"100", noon)) == 0 {
			b.Fatal("not found")
		}
	}
}
