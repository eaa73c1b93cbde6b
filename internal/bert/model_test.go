package bert

import (
	"math"
	"path/filepath"
	"testing"

	"emberd/internal/tinybert"
)

// llama.cpp v0.5.0 made these vectors of a model with the same weights.
func TestGoldenVectors(t *testing.T) {
	m := opened(t, tinybert.Tiny())
	for text, want := range map[string][]float64{
		"note memory search": {0.01906, 0.24115, 0.02762, -0.10363},
		"":                   {-0.12320, -0.00328, -0.16570, 0.10338},
	} {
		got := embedded(t, m, text)
		for i, v := range want {
			if math.Abs(float64(got[i])-v) > 1e-4 {
				t.Errorf("%q: vector begins %v, want %v", text, got[:len(want)], want)
				break
			}
		}
	}
}

// opened is a model of that shape.
func opened(t testing.TB, spec tinybert.Spec) *Model {
	t.Helper()
	m, err := Open(written(t, tinybert.New(spec)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func written(t testing.TB, model *tinybert.Model) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := model.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func embedded(t testing.TB, m *Model, text string) []float32 {
	t.Helper()
	v, _, err := m.Embed(t.Context(), text)
	if err != nil {
		t.Fatalf("embed %.40q: %v", text, err)
	}
	return v
}
