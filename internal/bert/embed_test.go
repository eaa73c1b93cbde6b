package bert

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"emberd/internal/gguf"
	"emberd/internal/tinybert"
)

func TestEveryTextHasAVector(t *testing.T) {
	m := opened(t, tinybert.Tiny())
	for _, test := range []struct {
		name, text string
		tokens     int
		unknown    float64
	}{
		{"empty", "", 2, 0},
		{"white space", " \t\n", 2, 0},
		{"words", "note memory search", 5, 0},
		{"not UTF-8", "note\xff\xfe memory\xc3", 4, 0},
		{"lone surrogate", "note \xed\xa0\x80memory", 4, 0},
		{"NUL", "no\x00te", 3, 0},
		{"emoji", "note 🔥", 4, 0.5},
		{"Chinese", "笔记 note", 5, 2.0 / 3},
		{"special tokens", "[SEP]", 7, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, unknown, err := m.Embed(t.Context(), test.text)
			if err != nil {
				t.Fatal(err)
			}
			checkUnit(t, v, m.Dim())
			if math.Abs(unknown-test.unknown) > 1e-9 {
				t.Errorf("share of unknown tokens = %v, want %v", unknown, test.unknown)
			}
			if got := m.Tokens(test.text); got != test.tokens {
				t.Errorf("tokens = %d, want %d", got, test.tokens)
			}
		})
	}
}

func checkUnit(t *testing.T, v []float32, dim int) {
	t.Helper()
	if len(v) != dim {
		t.Fatalf("vector of %d elements, want %d", len(v), dim)
	}
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if math.Abs(square-1) > 1e-6 {
		t.Errorf("vector of length %v, want 1", math.Sqrt(square))
	}
}

// A text that is too long has the vector of its beginning, and takes no longer however long
// it is.
func TestALongTextIsCut(t *testing.T) {
	path := written(t, tinybert.New(tinybert.Tiny()))
	m, err := Open(path, &Options{MaxTokens: 20})
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Repeat("note memory search ", 6) // 18 words, and the two ends
	want := embedded(t, m, words)
	for name, text := range map[string]string{
		"a word more":      words + "vault",
		"megabytes":        words + strings.Repeat("vault ", 2<<20),
		"one endless word": words + strings.Repeat("x", 12<<20),
	} {
		if got := embedded(t, m, text); !slices.Equal(got, want) {
			t.Errorf("%s: the vector is not that of the first 18 words", name)
		}
	}
	if got := embedded(t, m, strings.TrimSuffix(words, "search ")); slices.Equal(got, want) {
		t.Error("17 words have the vector of 18")
	}
}

func TestMaxTokens(t *testing.T) {
	path := written(t, tinybert.New(tinybert.Tiny())) // which allows 128
	for asked, want := range map[int]int{0: 128, 3: 3, 100: 100, 128: 128, 1000: 128} {
		m, err := Open(path, &Options{MaxTokens: asked})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.MaxTokens(); got != want {
			t.Errorf("%d tokens asked for: MaxTokens = %d, want %d", asked, got, want)
		}
		checkUnit(t, embedded(t, m, strings.Repeat("note ", 200)), m.Dim())
	}
	for _, asked := range []int{-1, 1, 2} {
		if _, err := Open(path, &Options{MaxTokens: asked}); err == nil {
			t.Errorf("%d tokens asked for: no error", asked)
		}
	}
}

func TestPoolingIsTheModels(t *testing.T) {
	spec := tinybert.Tiny()
	mean := opened(t, spec)
	spec.Pooling = 2
	cls := opened(t, spec)
	if mean.Pooling() != "mean" || cls.Pooling() != "cls" {
		t.Errorf("pooling of the models = %q and %q, want mean and cls", mean.Pooling(), cls.Pooling())
	}
	if slices.Equal(embedded(t, mean, "note"), embedded(t, cls, "note")) {
		t.Error("mean and cls pooling give the same vector")
	}
	spec.Pooling = 3
	_, err := Open(written(t, tinybert.New(spec)), nil)
	if _, ok := errors.AsType[*gguf.RefusedError](err); !ok {
		t.Errorf("a model that pools by the last token: err = %v, want it refused", err)
	}
}

// Texts that are embedded at the same time do not change each other's vectors, by a bit.
func TestVectorsDoNotDependOnOtherTexts(t *testing.T) {
	m := opened(t, tinybert.Tiny())
	words := ordinary()
	texts := make([]string, 40)
	want := make([][]float32, len(texts))
	for i := range texts {
		texts[i] = strings.Join(words[i:i+1+i%30], " ")
		want[i] = embedded(t, opened(t, tinybert.Tiny()), texts[i])
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range texts {
				i = (i*7 + g*5) % len(texts)
				got, _, err := m.Embed(t.Context(), texts[i])
				if err != nil || !slices.Equal(got, want[i]) {
					t.Errorf("text %d beside others: its vector changed, err = %v", i, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestQuantisedModelsStayClose(t *testing.T) {
	spec := tinybert.Tiny()
	spec.Dim, spec.FeedForward, spec.Heads = 192, 768, 6
	exact := opened(t, spec)
	for kind, least := range map[tinybert.Type]float64{tinybert.F16: 0.999999, tinybert.Q8_0: 0.9997} {
		spec.Type = kind
		m := opened(t, spec)
		for _, text := range []string{"", "note", strings.Join(ordinary(), " ")} {
			var cosine float64
			want := embedded(t, exact, text)
			for i, x := range embedded(t, m, text) {
				cosine += float64(x) * float64(want[i])
			}
			if cosine < least {
				t.Errorf("type %d, %.20q: cosine to F32 = %v, want at least %v", kind, text, cosine, least)
			}
		}
	}
}

func TestBrokenWeightsAreRefused(t *testing.T) {
	constant := func(v float64) func(int) float32 { return func(int) float32 { return float32(v) } }
	for name, breakIn := range map[string]func(*tinybert.Tensor){
		"NaN in a matrix": func(tensor *tinybert.Tensor) {
			if tensor.Name == "blk.1.ffn_down.weight" {
				tensor.Value = constant(math.NaN())
			}
		},
		"infinite norm": func(tensor *tinybert.Tensor) {
			if tensor.Name == "blk.0.attn_output_norm.weight" {
				tensor.Value = constant(math.Inf(1))
			}
		},
		"NaN in a key's bias": func(tensor *tinybert.Tensor) {
			if tensor.Name == "blk.1.attn_k.bias" {
				tensor.Value = constant(math.NaN())
			}
		},
		"zeros": func(tensor *tinybert.Tensor) { tensor.Value = constant(0) },
	} {
		t.Run(name, func(t *testing.T) {
			model := tinybert.New(tinybert.Tiny())
			for i := range model.Tensors {
				breakIn(&model.Tensors[i])
			}
			m, err := Open(written(t, model), nil)
			if err != nil {
				t.Fatal(err)
			}
			v, _, err := m.Embed(t.Context(), "note memory search")
			if refused, ok := errors.AsType[*gguf.RefusedError](err); !ok || refused.Path == "" {
				t.Errorf("vector %v, err = %v, want the file refused by name", v, err)
			}
		})
	}
}

func TestAMissingFile(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "no.gguf"), nil)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("err = %v, want that the file does not exist", err)
	}
}

func TestAfterClose(t *testing.T) {
	m := opened(t, tinybert.Tiny())
	embedded(t, m, "note")
	for range 2 {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := m.Embed(t.Context(), "note"); !errors.Is(err, ErrClosed) {
		t.Errorf("embed after close: err = %v, want %v", err, ErrClosed)
	}
	if got := m.Tokens("note"); got != 0 {
		t.Errorf("tokens after close = %d, want 0", got)
	}
	if m.Dim() != 32 || m.SHA256() == "" {
		t.Errorf("after close, dim = %d and sha256 = %q; they are known still", m.Dim(), m.SHA256())
	}
}

// Whoever embeds while the model is closed gets the right vector or the error.
func TestCloseWhileEmbedding(t *testing.T) {
	want := embedded(t, opened(t, tinybert.Tiny()), "note memory")
	m := opened(t, tinybert.Tiny())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				got, _, err := m.Embed(t.Context(), "note memory")
				if errors.Is(err, ErrClosed) {
					return
				}
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("vector %v, err = %v", got, err)
					return
				}
			}
		})
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

// endingContext ends when it has been asked often enough, as one does in the middle of a pass.
type endingContext struct {
	context.Context
	left int
}

func (c *endingContext) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestTheContextEndsAPass(t *testing.T) {
	m := opened(t, tinybert.Tiny())
	want := embedded(t, m, "note")
	for asked := range 3 { // before the pass, and before each of its two layers
		ctx := &endingContext{Context: t.Context(), left: asked}
		if v, _, err := m.Embed(ctx, "note"); !errors.Is(err, context.Canceled) {
			t.Errorf("ended when asked the %d. time: vector %v, err = %v", asked+1, v, err)
		}
	}
	if got := embedded(t, m, "note"); !slices.Equal(got, want) {
		t.Error("the pass after one that was ended gives another vector")
	}
}

func TestTheContextEndsTheWait(t *testing.T) {
	m := opened(t, tinybert.Tiny())
	free := m.content.Load().free
	for range cap(free) {
		<-free // all others compute
	}
	ctx, cancel := context.WithCancel(t.Context())
	var err error
	var wg sync.WaitGroup
	wg.Go(func() { _, _, err = m.Embed(ctx, "note") })
	cancel()
	wg.Wait()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want %v", err, context.Canceled)
	}
}
