package bert

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"emberd/internal/tinybert"
)

// As TestFilesThatAreChanged, for changes that coverage leads to.
func FuzzChangedModel(f *testing.F) {
	var file bytes.Buffer
	if err := tinybert.New(tinybert.Tiny()).Write(&file); err != nil {
		f.Fatal(err)
	}
	sound := file.Bytes()
	f.Add(uint32(0), []byte{})
	for _, key := range []string{"block_count", "context_length", "embedding_length", "head_count", "pooling_type", "layer_norm_epsilon"} {
		value := bytes.Index(sound, []byte(key)) + len(key) + 4
		for _, n := range []byte{0, 1, 2, 3, 64} {
			f.Add(uint32(value), []byte{n})
		}
	}
	f.Add(uint32(len(sound)-4096), bytes.Repeat([]byte{0xff}, 64))
	f.Add(uint32(len(sound)-4096), bytes.Repeat([]byte{0x7f}, 64))

	f.Fuzz(func(t *testing.T, at uint32, change []byte) {
		changed := bytes.Clone(sound)
		copy(changed[min(int(at), len(changed)):], change)
		path := filepath.Join(t.TempDir(), "changed.gguf")
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		embedOrRefuse(t, path)
	})
}
