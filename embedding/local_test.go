package embedding

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"emberd/internal/bert"
	"emberd/internal/testutil/bubble"
	"emberd/internal/tinybert"
)

// tiny is the smallest model, with weights of its own.
func tiny(seed uint64) tinybert.Spec {
	s := tinybert.Tiny()
	s.Seed = seed
	return s
}

// modelFile writes a model in a folder of its own.
func modelFile(t *testing.T, s tinybert.Spec) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	writeModel(t, path, s)
	return path
}

// writeModel puts a model file in place, as one would: by a rename.
func writeModel(t *testing.T, path string, s tinybert.Spec) {
	t.Helper()
	if err := tinybert.New(s).WriteFile(path + ".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func openModel(t *testing.T, path string, change ...func(*Options)) *Embedder {
	t.Helper()
	opt := Options{Providers: []string{Go}, Model: path}
	for _, c := range change {
		c(&opt)
	}
	return open(t, opt)
}

func TestModelFile(t *testing.T) {
	path := modelFile(t, tiny(42))
	e := openModel(t, path, func(o *Options) { o.QueryPrefix, o.PassagePrefix = "query: ", "passage: " })
	id := ready(t, e)
	if id.Provider != Go || id.Dim != 32 || id.Pooling != "mean" || id.MaxTokens != 128 || id.Path != path || len(id.SHA256) != 64 {
		t.Errorf("Ready = %+v; want a mean of 32 numbers of 128 tokens, which is all the model takes", id)
	}
	if s := e.Status(); s.Loaded || s.Provider != Go {
		t.Errorf("after Ready the status is %+v; want nothing loaded", s)
	}
	m, err := bert.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	const decomposed = "note memo\u0301ry search"
	for purpose, prefix := range map[Purpose]string{Query: "query: ", Passage: "passage: "} {
		got, err := e.Embed(t.Context(), purpose, []string{"note memory search", "", "🚢🌅 港口黎明 🚢🌅 港口黎明 港口黎明", decomposed, strings.Repeat("memory ", 1000)})
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range map[int]string{0: "note memory search", 3: "note memóry search", 4: strings.Repeat("memory ", 130)} {
			if want, _, _ := m.Embed(t.Context(), prefix+text); !same(got[i], want) {
				t.Errorf("%.20q has another vector than the model makes of it", text)
			}
		}
		if got[1] != nil || got[2] != nil {
			t.Errorf("a blank text and one that the model does not know have the vectors %v and %v", got[1], got[2])
		}
	}
	if got, want := e.Tokens(t.Context(), "note memory search"), m.Tokens("passage: note memory search"); got != want {
		t.Errorf("a passage takes %d tokens, want %d", got, want)
	}
}

// loads counts what a provider logs of its model.
type loads struct {
	slog.Handler
	mu       sync.Mutex
	messages []string
}

func (h *loads) Handle(_ context.Context, r slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.messages = append(h.messages, r.Message)
	return nil
}

func (h *loads) Enabled(context.Context, slog.Level) bool { return true }

func (h *loads) seen() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.messages, ", ")
}

func TestOneLoadHoweverManyAsk(t *testing.T) {
	var log loads
	e := openModel(t, modelFile(t, tiny(42)), func(o *Options) { o.Logger = slog.New(&log) })
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if v, err := e.Embed(t.Context(), Purpose(i%2), []string{"memory"}); err != nil || v[0] == nil {
				t.Errorf("Embed = %v, %v", v, err)
			}
		})
	}
	wg.Wait()
	if got, want := log.seen(), "loaded embedding model"; got != want {
		t.Errorf("what was done: %s; want: %s", got, want)
	}
}

func TestIdleModelIsUnloaded(t *testing.T) {
	path := modelFile(t, tiny(42))
	bubble.Test(t, func(t *testing.T) {
		var log loads
		e, err := Open(Options{Providers: []string{Go}, Model: path, UnloadAfter: time.Minute, Logger: slog.New(&log)})
		if err != nil {
			t.Fatal(err)
		}
		first := embedOne(t, e, "memory")
		for range 4 {
			time.Sleep(45 * time.Second)
			embedOne(t, e, "memory")
			if !e.Status().Loaded {
				t.Error("a model that is used is unloaded")
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if e.Status().Loaded {
			t.Error("a model that nobody used for a minute is still loaded")
		}
		if !same(embedOne(t, e, "memory"), first) {
			t.Error("loaded again, the model makes another vector")
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		const want = "loaded embedding model, unloaded embedding model, loaded embedding model, unloaded embedding model"
		if got := log.seen(); got != want {
			t.Errorf("what was done: %s\nwant: %s", got, want)
		}
		if _, err := e.Embed(t.Context(), Query, []string{"memory"}); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close, Embed: %v", err)
		}
	})
}

// Who does not wait for a load finds it done later.
func TestALoadGoesOnWithoutWhoAskedForIt(t *testing.T) {
	e := openModel(t, modelFile(t, tiny(42)))
	ready(t, e)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Embed(gone, Query, []string{"memory"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Embed: %v, want that nobody waited", err)
	}
	l := e.chain[0].provider.(*local)
	l.mu.Lock()
	under := l.loading
	l.mu.Unlock()
	if under != nil {
		<-under.done
	}
	if s := e.Status(); !s.Loaded || s.Problem != "" {
		t.Errorf("the status is %+v, want a loaded model and no problem", s)
	}
}

func TestReplacedModelIsNoticed(t *testing.T) {
	path := modelFile(t, tiny(1))
	e := openModel(t, path)
	before := ready(t, e)
	old := embedOne(t, e, "memory")
	writeModel(t, path, tiny(2))
	if got := embedOne(t, e, "memory"); !same(got, old) {
		t.Error("the model changed while it was loaded")
	}
	unloadNow(e)
	for range 2 {
		_, err := e.Embed(t.Context(), Query, []string{"memory"})
		want := fmt.Sprintf("the embedding model has changed: another file replaced %s after the model %s computed the earlier embeddings", path, before.Model)
		if !errors.Is(err, ErrChanged) || err.Error() != want || e.Status().Problem != want {
			t.Errorf("Embed: %v; want %s", err, want)
		}
	}
	after := ready(t, e)
	if after.Key() == before.Key() || after.SHA256 == before.SHA256 {
		t.Errorf("another model has the key %s too", after.Key())
	}
	if got := embedOne(t, e, "memory"); same(got, old) {
		t.Error("the other model makes the same vector")
	}
	again, err := e.Reopen(before)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, err := again.Ready(t.Context()); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), ", which computed the earlier embeddings, is no longer available") {
		t.Errorf("the earlier model is there again: %v", err)
	}
}

// unloadNow is what happens after some time.
func unloadNow(e *Embedder) {
	l := e.chain[0].provider.(*local)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unload()
}

func TestModelThatIsPutBack(t *testing.T) {
	path := modelFile(t, tiny(1))
	e := openModel(t, path)
	ready(t, e)
	writeModel(t, path, tiny(2))
	if _, err := e.Embed(t.Context(), Query, []string{"memory"}); !errors.Is(err, ErrChanged) {
		t.Errorf("Embed: %v, want %v", err, ErrChanged)
	}
	writeModel(t, path, tiny(1))
	ready(t, e)
	embedOne(t, e, "memory")
}

func TestReopenedModelServesItsVectors(t *testing.T) {
	path := modelFile(t, tiny(1))
	e := openModel(t, path, func(o *Options) { o.MaxTokens, o.PassagePrefix, o.QueryPrefix = 64, "passage: ", "query: " })
	id, text := ready(t, e), strings.Repeat("memory search ", 100)
	now := openModel(t, modelFile(t, tiny(2)))
	ready(t, now)
	again, err := now.Reopen(id)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := ready(t, again); got.Key() != id.Key() {
		t.Errorf("reopened, the model is %+v, want %+v", got, id)
	}
	for _, p := range []Purpose{Query, Passage} {
		want, err := e.Embed(t.Context(), p, []string{text})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := again.Embed(t.Context(), p, []string{text}); err != nil || !same(got[0], want[0]) {
			t.Errorf("reopened, the model makes another vector, %v", err)
		}
	}
}

func TestModelFilesThatDoNot(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.gguf")
	page := filepath.Join(t.TempDir(), "page.gguf")
	if err := os.WriteFile(page, []byte("<html>not found</html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	last := tiny(1)
	last.Pooling = 3
	for name, c := range map[string]struct{ path, want string }{
		"missing":      {missing, "the model file " + missing + " is not available: not found; restore it, or set another file in embedding.model"},
		"a web page":   {page, "model file " + page + ": "},
		"a folder":     {filepath.Dir(page), "model file " + filepath.Dir(page) + ": not a regular file; use the path of the model file"},
		"last pooling": {modelFile(t, last), "the model uses last-token pooling"},
	} {
		t.Run(name, func(t *testing.T) {
			e := openModel(t, c.path, func(o *Options) { o.Providers = []string{HTTP, Go, Words} })
			id, err := e.Ready(t.Context())
			if err != nil || id.Provider != Words {
				t.Fatalf("Ready = %+v, %v; want words", id, err)
			}
			passed := e.Status().Passed
			if len(passed) != 1 || passed[0].Provider != Go || !strings.Contains(passed[0].Reason, c.want) {
				t.Errorf("passed over: %+v; want go for %q, and not http, which nobody set", passed, c.want)
			}
		})
	}
}

// A model whose file is in order and whose weights are not is passed over once they are
// found out, and not tried again.
func TestModelWhoseWeightsAreBroken(t *testing.T) {
	broken := tinybert.New(tiny(1))
	for i := range broken.Tensors {
		broken.Tensors[i].Value = func(int) float32 { return float32(math.NaN()) }
	}
	path := filepath.Join(t.TempDir(), "broken.gguf")
	if err := broken.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	e := openModel(t, path, func(o *Options) { o.Providers = []string{Go, Words} })
	if id := ready(t, e); id.Provider != Go {
		t.Fatalf("before they are used, vectors come from %s", id.Provider)
	}
	if _, err := e.Embed(t.Context(), Passage, []string{"memory"}); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), path) {
		t.Errorf("Embed: %v, want that the file cannot be used", err)
	}
	if id := ready(t, e); id.Provider != Words {
		t.Errorf("afterwards vectors come from %s, want words", id.Provider)
	}
	embedOne(t, e, "memory")
}

// A disk that is not mounted yet does not have everything embedded anew by another.
func TestModelThatIsAwayIsWaitedFor(t *testing.T) {
	path := modelFile(t, tiny(1))
	id := ready(t, openModel(t, path))
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	e := openModel(t, path, func(o *Options) { o.Providers = []string{Go, Words} })
	e.Keep([]Identity{id})
	if _, err := e.Ready(t.Context()); !errors.Is(err, ErrAway) {
		t.Errorf("Ready: %v, want %v", err, ErrAway)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	if got := ready(t, e); got.Key() != id.Key() {
		t.Errorf("the model is %+v, want %+v", got, id)
	}
}

func TestCloseWhileAModelIsLoaded(t *testing.T) {
	e, err := Open(Options{Providers: []string{Go}, Model: modelFile(t, tiny(1))})
	if err != nil {
		t.Fatal(err)
	}
	ready(t, e)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if v, err := e.Embed(t.Context(), Query, []string{"memory"}); err == nil && v[0] == nil || err != nil && !errors.Is(err, ErrClosed) {
				t.Errorf("Embed = %v, %v; want a vector or %v", v, err, ErrClosed)
			}
		})
	}
	for range 2 {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	if e.Status().Loaded {
		t.Error("a model is loaded after Close")
	}
}
