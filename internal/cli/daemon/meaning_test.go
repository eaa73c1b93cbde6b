package daemon

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"emberd/embedding"
	"emberd/engine/core"
	"emberd/internal/config"
)

// meaningOf is what settings make of vectors, in a home folder of its own.
func meaningOf(t *testing.T, home string, set ...string) (core.Meaning, error) {
	t.Helper()
	c, err := config.Load(config.Source{Flags: set, Home: home, UserHome: home})
	if err != nil {
		t.Fatal(err)
	}
	m, err := meaning(t.Context(), c, slog.New(slog.DiscardHandler))
	if m.Embedder != nil {
		t.Cleanup(func() {
			if err := m.Embedder.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return m, err
}

func TestNoVectorsUnlessSomethingCanMakeThem(t *testing.T) {
	for _, c := range []struct {
		set  string
		want bool
		off  string
	}{
		{"", true, ""},
		{"embedding.providers=llama,go", false, ""},
		{"embedding.model=/models/minilm.gguf", true, ""},
		{"embedding.url=http://127.0.0.1:11434", true, ""},
		{"embedding.providers=words", true, ""},
		{"embedding.providers=http embedding.model=/models/minilm.gguf", false,
			`embedding.model requires "llama" or "go" in embedding.providers`},
		{"embedding.providers= embedding.model=/models/minilm.gguf", false,
			`embedding.model requires "llama" or "go" in embedding.providers`},
		{"embedding.providers=llama,go embedding.url=http://127.0.0.1:1", false,
			`embedding.url requires "http" in embedding.providers`},
		{"search.meaning=off embedding.model=/models/minilm.gguf", false, "search.meaning is off"},
		{"search.meaning=0 embedding.model=/models/minilm.gguf", false, "search.meaning is off"},
		{"search.meaning=0.1 embedding.model=/models/minilm.gguf", true, ""},
	} {
		m, err := meaningOf(t, t.TempDir(), strings.Fields(c.set)...)
		if err != nil || (m.Embedder != nil) != c.want || m.Off != c.off {
			t.Errorf("with %q: %+v, %v; want an embedder: %t, or why none: %q", c.set, m, err, c.want, c.off)
		}
	}
}

func TestSettingsOfVectorsReachTheEngine(t *testing.T) {
	home := t.TempDir()
	m, err := meaningOf(t, home, "embedding.providers=words", "embedding.store=data", "search.meaning=0.3",
		"tuning=search.meaning_wait=1s,embedding.cpu_share=0.25", "embedding.max_tokens=128")
	want := core.Meaning{Embedder: m.Embedder, Dir: filepath.Join(home, "data", "vectors"), Shared: true, Weight: 0.3,
		Wait: time.Second, Share: 0.25}
	if err != nil || m != want {
		t.Errorf("the engine gets %+v, %v; want %+v", m, err, want)
	}
	if got := m.Embedder.MaxTokens(); got != 128 {
		t.Errorf("vectors are made of %d tokens, want 128", got)
	}
	m, err = meaningOf(t, home, "embedding.providers=words")
	if want := filepath.Join(home, "state", "vectors"); err != nil || m.Dir != want || m.Shared || m.Weight >= 0 {
		t.Errorf("without settings the engine gets %+v, %v; want the folder %s and the weight of the exam", m, err,
			want)
	}
	if id, err := m.Embedder.Ready(t.Context()); err != nil || id.Provider != embedding.Words {
		t.Errorf("vectors come from %q, %v; want words", id.Provider, err)
	}
}

func TestKeyOfTheServerOfVectors(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "key")
	if err := os.WriteFile(file, []byte("two words"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := meaningOf(t, home, "embedding.url=http://127.0.0.1:1", "embedding.key_file="+file)
	if want := "embedding.key_file: " + file +
		" contains more than one word; the file must contain only the key"; err == nil || err.Error() != want {
		t.Errorf("a broken key file gives %v, want %s", err, want)
	}
}

func TestPrefixesAreSetOff(t *testing.T) {
	if got := spaced("query:") + "harbour"; got != "query: harbour" {
		t.Errorf("a question is %q", got)
	}
	if got := spaced("") + "harbour"; got != "harbour" {
		t.Errorf("a question without a prefix is %q", got)
	}
}
