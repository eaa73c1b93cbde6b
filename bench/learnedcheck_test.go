package bench

import (
	"bytes"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/embedding"
	"emberd/internal/dot"
)

// kennel are texts in which dogs and cats do one thing and boats and ships another.
func kennel() []string {
	return strings.Split(`the dog eats meat in the garden
the cat eats meat in the garden
a dog sleeps and eats
a cat sleeps and eats
the boat sails over the sea to the harbour
the ship sails over the sea to the harbour
a boat sank in the sea
a ship sank in the sea
猫在睡觉
naïve sailors sank`, "\n")
}

// kennelModel is an embedder with a model of the kennel's texts.
func kennelModel(t *testing.T) *embedding.Embedder {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kennel.gguf")
	if err := learn(kennel(), kennelDim).Model().WriteFile(file); err != nil {
		t.Fatal(err)
	}
	e, err := embedding.Open(embedding.Options{Providers: []string{embedding.Go}, Model: file, MaxTokens: 512})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	if _, err := e.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e
}

const kennelDim = 32

// What is never said in one breath, but of the same things, is near each other.
func TestLearnedWordsThatStandAlikeAreNear(t *testing.T) {
	l := learn(kennel(), 6) // four numbers a word are all it may have
	vector := func(word string) []float32 { return l.vectors.row(slices.Index(l.words, word)) }
	near := func(a, b string) float64 {
		product, first, second := 0.0, 0.0, 0.0
		for i, x := range vector(a) {
			y := vector(b)[i]
			product, first, second = product+float64(x*y), first+float64(x*x), second+float64(y*y)
		}
		return product / math.Sqrt(first*second)
	}
	for _, test := range [][3]string{{"dog", "cat", "ship"}, {"boat", "ship", "dog"}, {"meat", "sleeps", "sea"}} {
		if alike, other := near(test[0], test[1]), near(test[0], test[2]); alike < other+0.2 {
			t.Errorf("%s has cosine %.2f with %s and %.2f with %s, want the first well above", test[0], alike, test[1], other, test[2])
		}
	}
}

// Through the model, a rare word weighs more than one that most texts have.
func TestLearnedModelWeighsRareWords(t *testing.T) {
	v := vectorsOf(t, kennelModel(t), embedding.Passage, []string{"the sailors", "sailors", "the"})
	if rare, common := dot.Float32(v[0], v[1]), dot.Float32(v[0], v[2]); rare <= common {
		t.Errorf("\"the sailors\" has cosine %.2f with its rare word and %.2f with its common one", rare, common)
	}
}

// Vectors that the normalisations of the model must not change are of length 1 and sum to 0.
func TestLearnedTokensAreNormal(t *testing.T) {
	tokens, vectors := learn(kennel(), kennelDim).tokens()
	if sorted := slices.Compact(slices.Sorted(slices.Values(tokens))); len(sorted) != len(tokens) {
		t.Errorf("%d of %d tokens differ, want all", len(sorted), len(tokens))
	}
	for i, token := range tokens {
		square, sum := 0.0, 0.0
		for _, x := range vectors.row(i) {
			square += float64(x) * float64(x)
			sum += float64(x)
		}
		if math.Abs(square-1) > 1e-5 || math.Abs(sum) > 1e-5 {
			t.Errorf("%s: the squares of its vector sum to %g and its numbers to %g, want 1 and 0", token, square, sum)
		}
	}
}

// A text of words that were not learned has a vector, which models must have of any text.
func TestLearnedModelHasAVectorOfAnyText(t *testing.T) {
	vector := vectorsOf(t, kennelModel(t), embedding.Passage, []string{"quiz"})[0]
	square := 0.0
	for _, x := range vector {
		square += float64(x) * float64(x)
	}
	if math.Abs(square-1) > 1e-6 {
		t.Errorf("its squares sum to %g, want 1", square)
	}
}

func TestLearnedModelIsTheSameEachTime(t *testing.T) {
	var files [2]bytes.Buffer
	for i := range files {
		if err := learn(kennel(), kennelDim).Model().Write(&files[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Error("two models of the same texts differ")
	}
}

func TestSplit(t *testing.T) {
	got := split("The cat's 2nd nap: 猫在睡觉, Привет")
	if want := strings.Fields("the cat s 2nd nap 猫 在 睡 觉 привет"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
