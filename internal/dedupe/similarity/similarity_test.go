package similarity

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/internal/text/analysis"
)

func TestCasesOfCortexGraph(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"C63", TextSimilarity("Python is great", "Python is great for programming"), 0.5},
		{"C64", TextSimilarity("deadline", "Project deadline is Dec 15"), 1.0 / 3},
		{"C65", TextSimilarity("a b", "a b"), 0},
		{"C66", cosine(t, []float32{1, 0}, []float32{1, 1}), 0.70711},
		{"C66, zero vector", cosine(t, []float32{0, 0}, []float32{1, 1}), 0},
	} {
		if math.Abs(c.got-c.want) > 1e-5 {
			t.Errorf("%s: got %.5f, want %.5f", c.name, c.got, c.want)
		}
	}
	if _, err := Cosine([]float32{1}, []float32{1, 2}); err == nil {
		t.Error("C66: vectors of different length were compared")
	}
	for _, c := range []struct {
		text   string
		length int
		want   string
	}{
		{"hello world", 6, "hello..."},
		{"hello world", 0, "hello world"},
		{"hello world", 11, "hello world"},
		{"", 5, ""},
		{"漢字仮名", 2, "漢字..."},
	} {
		if got := Truncate(c.text, c.length); got != c.want {
			t.Errorf("C67: %q to %d is %q, want %q", c.text, c.length, got, c.want)
		}
	}
}

func cosine(t *testing.T, a, b []float32) float64 {
	t.Helper()
	got, err := Cosine(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// tfidf returns the cosine of two texts in a corpus of these two.
func tfidf(analyzer *analysis.Analyzer, a, b string) float64 {
	c := NewCorpus(analyzer)
	one, other := c.Add(a), c.Add(b)
	return c.Vector(one).Cosine(c.Vector(other))
}

func TestTFIDF(t *testing.T) {
	a := analysis.New()
	for _, c := range []struct {
		one, other  string
		least, most float64
	}{
		{"The kettle leaks", "the kettle is leaking", 0.999, 1},
		{"The kettle leaks", "the kettle boils", 0.25, 0.35},
		{"The kettle leaks", "Ann paints", 0, 0},
		{"", "kettle", 0, 0},
	} {
		got, back := tfidf(a, c.one, c.other), tfidf(a, c.other, c.one)
		if got < c.least || got > c.most || math.Abs(got-back) > 1e-9 {
			t.Errorf("%q and %q are %v and %v alike, want %v to %v", c.one, c.other, got, back, c.least, c.most)
		}
	}
}

// corpusOf returns the vectors of texts that are a corpus by themselves.
func corpusOf(texts ...string) []Vector {
	c := NewCorpus(analysis.New())
	var bags []TermVector
	for _, s := range texts {
		bags = append(bags, c.Add(s))
	}
	var out []Vector
	for _, b := range bags {
		out = append(out, c.Vector(b))
	}
	return out
}

func TestRareTermsSayMore(t *testing.T) {
	v := corpusOf("Note: the kettle leaks", "Note: a kettle that leaked", "Note: the roof holds", "Note: the tide turns", "to be or not to be", "to be or not to be")
	reworded, opening := v[0].Cosine(v[1]), v[0].Cosine(v[2])
	if reworded < 0.99 || opening > 0.3 {
		t.Errorf("the same thing in other words is %.2f alike, what only begins alike %.2f", reworded, opening)
	}
	if got := v[4].Cosine(v[5]); got < 0.999 {
		t.Errorf("two equal texts of stop words are %.2f alike", got)
	}
	if two := corpusOf("the kettle leaks", "the kettle leaks"); two[0].Cosine(two[1]) < 0.999 {
		t.Error("two equal texts that are all there is are not alike")
	}
	if none := corpusOf("", "kettle"); none[0].Cosine(none[1]) != 0 {
		t.Error("nothing is like something")
	}
}

func TestSimilarityOfAnyTexts(t *testing.T) {
	words := rapid.SampledFrom(strings.Fields("kettle leaks seam Ann gasket 4417 the tide Tide 港 turns"))
	anyText := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(words, 1, 8).Draw(t, "words"), " ") })
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyText.Draw(t, "a"), anyText.Draw(t, "b")
		v := corpusOf(a, b, "something else")
		there, back, self := v[0].Cosine(v[1]), v[1].Cosine(v[0]), v[0].Cosine(v[0])
		if there != back || there < 0 || there > 1 || self < 1-1e-6 {
			t.Fatalf("%q and %q: %v there, %v back, %v itself", a, b, there, back, self)
		}
		if x := TextSimilarity(a, b); x != TextSimilarity(b, a) || x < 0 || x > 1 {
			t.Fatalf("%q and %q are %v alike", a, b, x)
		}
	})
}

func TestCosineOfAnyVectors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(rapid.Float32Range(-1e3, 1e3), 1, 8).Draw(t, "a")
		b := rapid.SliceOfN(rapid.Float32Range(-1e3, 1e3), len(a), len(a)).Draw(t, "b")
		there, err := Cosine(a, b)
		back, _ := Cosine(b, a)
		if err != nil || there != back || there < -1 || there > 1 {
			t.Fatalf("%v there, %v back, %v", there, back, err)
		}
	})
}

func TestCalibration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := rapid.Float64Range(0, 1).Draw(t, "x"), rapid.Float64Range(0, 1).Draw(t, "y")
		if x < y && Calibrate(x) >= Calibrate(y) {
			t.Fatalf("%v becomes %v, and %v %v", x, Calibrate(x), y, Calibrate(y))
		}
		if back := CosineFor(Calibrate(x)); math.Abs(back-x) > 1e-9 {
			t.Fatalf("%v comes back as %v", x, back)
		}
	})
	for _, x := range []float64{0, 1} {
		if Calibrate(x) != x {
			t.Errorf("%v becomes %v", x, Calibrate(x))
		}
	}
}

// Texts elsewhere say how rare a term is; what is compared with them is not counted.
func TestRarityFromElsewhere(t *testing.T) {
	asked := 0
	rarity := func(terms []string) (int, []int) {
		asked += len(terms)
		df := make([]int, len(terms))
		for i, term := range terms {
			df[i] = map[string]int{"kettl": 900, "seam": 3}[term]
		}
		return 1000, df
	}
	c := NewCorpusOf(analysis.New(), rarity)
	a, b := c.Add("the kettle's seam"), c.Add("kettle seam zeppelin")
	for _, bound := range []struct {
		most, holders int
		want          []string
	}{
		{2, 1000, []string{"zeppelin", "seam"}},
		{9, 904, []string{"zeppelin", "seam", "kettl"}},
		{9, 903, []string{"zeppelin", "seam"}},
		{9, 0, []string{"zeppelin"}},
		{0, 1000, nil},
	} {
		if got := c.Rarest(b, bound.most, bound.holders); !slices.Equal(got, bound.want) {
			t.Errorf("the rarest %d that %d hold are %v, want %v", bound.most, bound.holders, got, bound.want)
		}
	}
	if asked != 3 {
		t.Errorf("asked about %d terms", asked)
	}
	if seam, kettle := c.Vector(a).Cosine(c.Vector(c.Add("seam"))), c.Vector(a).Cosine(c.Vector(c.Add("kettle"))); seam < 0.95 || kettle > 0.2 {
		t.Errorf("the rare word is %.2f alike, the common one %.2f", seam, kettle)
	}
	joined := Join(a, c.Add("kettle"))
	if len(joined) != 2 || joined[0].Times+joined[1].Times != 3 {
		t.Errorf("joined %v", joined)
	}
}
