package bert

import (
	"errors"
	"math/rand/v2"
	"os"
	"testing"

	"emberd/internal/gguf"
	"emberd/internal/tinybert"
)

// A model file that is changed anywhere, in its header or its weights, is refused, when it is
// opened or when it embeds, or embeds as any other does.
func TestFilesThatAreChanged(t *testing.T) {
	for as, rounds := range map[tinybert.Type]int{tinybert.F32: 100, tinybert.F16: 100, tinybert.Q8_0: 100} {
		spec := tinybert.Tiny()
		spec.Context, spec.Type = 8, as
		path := written(t, tinybert.New(spec))
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(42, uint64(as)))
		for range rounds {
			changed := append([]byte(nil), whole...)
			within := len(changed)
			if random.IntN(2) == 0 {
				within = 7000 // the header
			}
			for range 1 + random.IntN(4) {
				changed[random.IntN(within)] = byte(random.Uint32())
			}
			if err := os.WriteFile(path, changed, 0o600); err != nil {
				t.Fatal(err)
			}
			embedOrRefuse(t, path)
		}
	}
}

func embedOrRefuse(t *testing.T, path string) {
	t.Helper()
	m, err := Open(path, nil)
	if err == nil {
		defer m.Close()
		var vector []float32
		if vector, _, err = m.Embed(t.Context(), "note memory search 🙂 and letters"); err == nil {
			checkUnit(t, vector, m.Dim())
			return
		}
	}
	if _, refused := errors.AsType[*gguf.RefusedError](err); !refused {
		t.Errorf("got %v, want a vector or a file that is refused", err)
	}
}
