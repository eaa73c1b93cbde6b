package tinybert

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"
)

func written(t *testing.T, m *Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The bits are the same on every machine.
func TestModelsAreTheSameEverywhere(t *testing.T) {
	for as, want := range map[Type]string{
		F32:  "ca82627635f12f1097a03f94e857373946142019c48b25b9f63de0beaeb728e0",
		F16:  "a9548b06a924fdd67ba272fb5411700b76726b8a7500316cd773957de7d1576a",
		Q8_0: "4e7da15bbe5dbc2cf255fd4594ee8d444bd986536a809b2e8c74f2aed67c3af1",
	} {
		spec := Tiny()
		spec.Type = as
		sum := sha256.Sum256(written(t, New(spec)))
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("type %d: got %s, want %s", as, got, want)
		}
	}
}

func TestSeedsMakeDifferentWeights(t *testing.T) {
	other := Tiny()
	other.Seed++
	for i, t1 := range New(Tiny()).Tensors {
		t2 := New(other).Tensors[i]
		if t1.Value(0) == t2.Value(0) && t1.Value(1) == t2.Value(1) && t1.Value(0) != 1 {
			t.Errorf("%s: got %g and %g with both seeds", t1.Name, t1.Value(0), t1.Value(1))
		}
	}
}

// The numbers of a large tensor are about normal, of the deviation that was asked for.
func TestWeightsAreNormal(t *testing.T) {
	const n = 1 << 16
	drawn := Tiny().drawn("any", F32, 0.05, n)
	var sum, squares, within float64
	for i := range n {
		x := float64(drawn.Value(i))
		sum += x
		squares += x * x
		if math.Abs(x) < 0.05 {
			within++
		}
	}
	if mean := sum / n; math.Abs(mean) > 0.001 {
		t.Errorf("got a mean of %g, want about 0", mean)
	}
	if std := math.Sqrt(squares / n); math.Abs(std-0.05) > 0.001 {
		t.Errorf("got a standard deviation of %g, want about 0.05", std)
	}
	if share := within / n; math.Abs(share-0.68) > 0.02 { // 0.66 for the sum of four, 0.68 for a normal one
		t.Errorf("got %g within one standard deviation, want about 0.68", share)
	}
}

// The sizes of the files that llama.cpp was tried with.
func TestSizes(t *testing.T) {
	if got, want := len(written(t, New(Tiny()))), 116_864; got != want {
		t.Errorf("tiny: got %d bytes, want %d", got, want)
	}
	for as, want := range map[Type]float64{F32: 90.9, F16: 46.2, Q8_0: 25.3} {
		m := New(MiniLM(as))
		size, err := m.Size()
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(size) / 1e6; math.Abs(got-want) > 0.15 {
			t.Errorf("MiniLM of type %d: got %.1f MB, want %.1f", as, got, want)
		}
	}
}

func TestTokens(t *testing.T) {
	tokens := Tokens()
	if got, want := len(tokens), 197; got != want {
		t.Errorf("got %d tokens, want %d", got, want)
	}
	for word, want := range map[string]int{"note": 133, "memory": 135, "search": 140} { // as llama.cpp was tried with
		if got := slices.Index(tokens, boundary+word); got != want {
			t.Errorf("%s: got token %d, want %d", word, got, want)
		}
	}
}

func TestVocabularies(t *testing.T) {
	own := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", boundary + "own"}
	for _, test := range []struct {
		name  string
		spec  Spec
		first string
		want  int
	}{
		{"those of Tokens", Spec{}, "[PAD]", 197},
		{"made up", Spec{Vocabulary: 30522}, "[PAD]", 30522},
		{"own", Spec{Tokens: own}, "[PAD]", 6},
		{"own and made up", Spec{Tokens: own, Vocabulary: 1000}, "[PAD]", 1000},
	} {
		tokens := test.spec.tokens()
		if len(tokens) != test.want || tokens[0] != test.first {
			t.Errorf("%s: got %d tokens from %s on, want %d from %s on", test.name, len(tokens), tokens[0], test.want, test.first)
		}
		seen := make(map[string]bool)
		for _, token := range tokens {
			if seen[token] || token == "" {
				t.Errorf("%s: token %q is there twice, or empty", test.name, token)
			}
			seen[token] = true
		}
	}
}

func TestModelsThatCannotBeWritten(t *testing.T) {
	odd := Tiny()
	odd.Type, odd.Dim = Q8_0, 24
	unknown := New(Tiny())
	unknown.Meta = append(unknown.Meta, Meta{Key: "a", Value: 1})
	for want, m := range map[string]*Model{
		"rows of 24 numbers":                      New(odd),
		"key a: cannot write a value of type int": unknown,
	} {
		if err := m.Write(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := New(Tiny()).WriteFile(t.TempDir()); err == nil {
		t.Error("a directory was written over")
	}
}
