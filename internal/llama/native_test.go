package llama

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"emberd/internal/bert"
	"emberd/internal/llamawire"
	"emberd/internal/tinybert"
)

// The numbers were seen once and are the same with every release and processor within 1e-4.
func TestNativeGoldens(t *testing.T) {
	m := model(t, file(t, seeded()), Options{})
	for _, golden := range []struct {
		text   string
		tokens int
		begins [4]float32
	}{
		{"note memory search", 5, [4]float32{0.01906, 0.24115, 0.02762, -0.10363}},
		{"", 2, [4]float32{-0.12320, -0.00328, -0.16570, 0.10338}},
	} {
		v, tokens, _, err := m.Embed(golden.text, 1)
		if err != nil {
			t.Fatal(err)
		}
		if tokens != golden.tokens || len(v) != 32 {
			t.Errorf("%q has %d tokens and %d numbers, want %d and 32", golden.text, tokens, len(v), golden.tokens)
		}
		if off := distance(v[:4], golden.begins[:]); off > 1e-4 {
			t.Errorf("%q begins %v, want %v", golden.text, v[:4], golden.begins)
		}
		if length := norm(v); math.Abs(length-1) > 1e-6 {
			t.Errorf("%q has a vector of length %v, want 1", golden.text, length)
		}
	}
}

func distance(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += (float64(a[i]) - float64(b[i])) * (float64(a[i]) - float64(b[i]))
	}
	return math.Sqrt(sum)
}

func norm(v []float32) float64 { return distance(v, make([]float32, len(v))) }

func TestNativeFacts(t *testing.T) {
	facts := engine(t).Facts()
	if !parseRelease(facts.Release).known() || facts.System == "" || !slices.Contains(facts.Backends, "CPU") {
		t.Errorf("the libraries say of themselves %+v, want a release, the processor's abilities and a backend CPU", facts)
	}
	path := file(t, seeded())
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := model(t, path, Options{MaxTokens: 1000}).Facts()
	want := llamawire.Model{SHA256: fmt.Sprintf("%x", sha256.Sum256(content)), Dim: 32, Context: 128, MaxTokens: 128, Pooling: "mean"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// The sizes were measured with the headers of these releases. Both are less than what is
// passed, and a release with larger ones is refused.
func TestNativeSizesOfParameters(t *testing.T) {
	e := engine(t)
	got := [2]int{sizeReturned(e.lib.address(nameModelDefaults)), sizeReturned(e.lib.address(nameContextDefaults))}
	if parameterBytes == maxReturned {
		t.Skip("sizes do not matter where a pointer is passed")
	}
	known := map[string][2]int{"v0.5.0": {80, 160}, "b10361": {72, 160}, "b8390": {72, 136}, "b7836": {72, 136}, "b6673": {72, 120}, "b5640": {72, 120}}
	if want, ok := known[e.Facts().Release]; ok && got != want {
		t.Errorf("%s returns parameters of %v bytes, want %v", e.Facts().Release, got, want)
	}
}

// The same tokens, the same share of unknown ones and the same vector as the forward pass in
// Go, for models of all sorts and whatever the text.
func TestNativeAgreesWithGo(t *testing.T) {
	cls := seeded()
	cls.Pooling = 2
	short := seeded()
	short.Context = 24
	for name, test := range map[string]struct {
		path string
		max  int
		off  float64
	}{
		"mean":                        {file(t, seeded()), 0, 2e-4},
		"first token":                 {file(t, cls), 0, 2e-4},
		"few tokens":                  {file(t, seeded()), 9, 2e-4},
		"short context":               {file(t, short), 0, 2e-4},
		"F16":                         {file(t, typed(tinybert.F16)), 0, 2e-3},
		"Q8_0":                        {file(t, typed(tinybert.Q8_0)), 0, 3e-2},
		"first token by its old key":  {file(t, seeded(), without("tokenizer.ggml.bos_token_id"), with("tokenizer.ggml.cls_token_id", uint32(4))), 0, 2e-4},
		"ends that are not told":      {file(t, seeded(), without("tokenizer.ggml.bos_token_id", "tokenizer.ggml.cls_token_id", "tokenizer.ggml.seperator_token_id")), 0, 2e-4},
		"an unknown that is not told": {file(t, seeded(), without("tokenizer.ggml.unknown_token_id")), 0, 2e-4},
	} {
		t.Run(name, func(t *testing.T) {
			native, goes := model(t, test.path, Options{MaxTokens: test.max}), twin(t, test.path, &bert.Options{MaxTokens: test.max})
			for _, text := range texts() {
				agree(t.Context(), t, native, goes, text, test.off)
			}
		})
	}
}

func TestNativeAgreesWithGoOnAnyText(t *testing.T) {
	path := file(t, seeded())
	native, goes := model(t, path, Options{MaxTokens: 16}), twin(t, path, &bert.Options{MaxTokens: 16})
	rapid.Check(t, func(r *rapid.T) {
		agree(t.Context(), r, native, goes, rapid.String().Draw(r, "text"), 2e-4)
	})
}

func typed(as tinybert.Type) tinybert.Spec {
	spec := seeded()
	spec.Type = as
	return spec
}

// texts are of every length that is treated otherwise, and of every sort.
func texts() []string {
	list := []string{
		"", "   \n\t ", "note memory search", "Café NAÏVE Ångström", "日本語 and 漢字", "한국어", "emoji 🦊 fox", "[CLS] [SEP] [MASK]",
		"nul\x00byte", "bad \xff\xfe bytes", "lone \xed\xa0\x80 surrogate", "cut rune \xe6\x97", "re\u0301sume\u0301", "\ufffd", "don't; re-use: 100%!",
		strings.Repeat("x", 1<<18), strings.Repeat(" ", 1<<16) + "far away", strings.Repeat("日", 9000),
	}
	for _, n := range []int{13, 14, 15, 16, 40, 61, 62, 63, 64, 65, 100, 125, 126, 127, 128, 5000} {
		list = append(list, strings.Repeat("memory ", n))
	}
	return list
}

func agree(ctx context.Context, t rapid.TB, native *Model, goes *bert.Model, text string, most float64) {
	t.Helper()
	got, tokens, unknown, err := native.Embed(text, 1)
	if err != nil {
		t.Fatal(err)
	}
	want, share, err := goes.Embed(ctx, text)
	if err != nil {
		t.Fatal(err)
	}
	shown := fmt.Sprintf("%.40q", text)
	if off := distance(got, want); !(off <= most) {
		t.Errorf("%s: the vector is off by %g, want %g at most", shown, off, most)
	}
	if unknown != share {
		t.Errorf("%s: %v of the tokens are unknown, want %v", shown, unknown, share)
	}
	whole, err := native.Tokens(text)
	if err != nil {
		t.Fatal(err)
	}
	if want := goes.Tokens(text); whole != want || len(text) <= 64*native.limit && tokens != want {
		t.Errorf("%s: %d tokens when counted, %d when embedded, want %d", shown, whole, tokens, want)
	}
}

// Models that the Go engine does not take are vectors of unit length, the same each time,
// and near each other for texts that share words.
func TestNativeTakesMore(t *testing.T) {
	nomic, pieces, last := seeded(), seeded(), seeded()
	nomic.Architecture, pieces.Tokenizer, last.Pooling = "nomic-bert", "t5", 3
	for name, spec := range map[string]tinybert.Spec{"nomic-bert": nomic, "SentencePiece": pieces, "last token": last} {
		t.Run(name, func(t *testing.T) {
			m := model(t, file(t, spec), Options{MaxTokens: 32})
			for _, text := range texts() {
				v := embedded(t, m, text, 1)
				if math.Abs(norm(v)-1) > 1e-6 {
					t.Errorf("%.40q has a vector of length %v, want 1", text, norm(v))
				}
				again(t, m, text, 1, v)
			}
			note, notes, other := embedded(t, m, "note memory search", 1), embedded(t, m, "note memory find search", 1), embedded(t, m, "quick brown fox", 1)
			if near, far := distance(note, notes), distance(note, other); near >= far {
				t.Errorf("texts that share words are %v apart, others %v", near, far)
			}
		})
	}
}

// A model of SentencePiece may do without tokens for the ends of a text.
func TestNativeTakesTextsWithoutEnds(t *testing.T) {
	pieces := seeded()
	pieces.Tokenizer = "t5"
	m := model(t, file(t, pieces, with("tokenizer.ggml.add_bos_token", false), with("tokenizer.ggml.add_eos_token", false)), Options{MaxTokens: 3})
	for text, want := range map[string]struct {
		tokens  int
		unknown float64
	}{
		"note":             {1, 0},
		"note memory":      {2, 0},
		"日":                {2, 0.5},     // with the space that a text begins with
		"日 日":              {4, 1.0 / 3}, // of the three that count
		"note memory file": {3, 0},
	} {
		_, tokens, unknown, err := m.Embed(text, 1)
		if err != nil || tokens != want.tokens || unknown != want.unknown {
			t.Errorf("%q has %d tokens, %g unknown (%v), want %d and %g", text, tokens, unknown, err, want.tokens, want.unknown)
		}
	}
	cut, whole := embedded(t, m, "note memory search find", 1), embedded(t, m, "note memory search", 1)
	if !slices.Equal(cut, whole) {
		t.Errorf("what counts of a text of 4 tokens is not its first 3: %v, want %v", cut[:2], whole[:2])
	}
}

// A vector does not depend on what was embedded before, nor on threads or goroutines.
func TestNativeRepeatsToTheBit(t *testing.T) {
	m := model(t, file(t, typed(tinybert.Q8_0)), Options{})
	want := map[string][]float32{}
	for _, text := range texts() {
		want[text] = embedded(t, m, text, 1)
	}
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for text, v := range want {
				again(t, m, text, 1, v)
			}
		})
	}
	all.Wait()
	for _, text := range []string{"", "note memory search", strings.Repeat("memory ", 40), strings.Repeat("memory ", 200)} {
		again(t, m, text, 2, embedded(t, m, text, 1))
	}
}

func again(t *testing.T, m *Model, text string, threads int, want []float32) {
	t.Helper()
	if got, _, _, err := m.Embed(text, threads); err != nil || !slices.Equal(got, want) {
		t.Errorf("%.40q with %d threads begins %v (%v), want %v", text, threads, got[:2], err, want[:2])
	}
}

// What a model makes no vectors with is refused when it is loaded.
func TestNativeRefusesModels(t *testing.T) {
	weights := func(v float32) edit {
		return func(m *tinybert.Model) {
			for i := range m.Tensors {
				m.Tensors[i].Value = func(int) float32 { return v }
			}
		}
	}
	for name, test := range map[string]struct {
		path string
		opt  Options
		of   llamawire.Part
		says string
	}{
		"zeros":        {file(t, seeded(), weights(0)), Options{}, llamawire.OfBoth, "zero or not finite"},
		"no numbers":   {file(t, seeded(), weights(float32(math.NaN()))), Options{}, llamawire.OfBoth, "zero or not finite"},
		"no pooling":   {file(t, seeded(), with("bert.pooling_type", uint32(0))), Options{}, llamawire.OfModel, "bert.pooling_type is 0"},
		"too few":      {file(t, seeded()), Options{MaxTokens: 2}, llamawire.OfModel, "use at least 3"},
		"not there":    {t.TempDir() + "/none.gguf", Options{}, llamawire.OfFile, "no such file"},
		"not a model":  {os.Args[0], Options{}, llamawire.OfModel, "GGUF"},
		"no layers":    {file(t, seeded(), with("bert.block_count", uint32(0))), Options{}, llamawire.OfModel, "bert.block_count has the value 0"},
		"another type": {file(t, seeded(), with("tokenizer.ggml.bos_token_id", int32(2))), Options{}, llamawire.OfBoth, "tokenizer.ggml.bos_token_id has wrong type i32"},
		"a twin token": {file(t, seeded(), doubled), Options{}, llamawire.OfModel, "have the same text"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine(t).Load(test.path, test.opt)
			failed, ok := errors.AsType[*llamawire.Failed](err)
			if !ok || failed.Of != test.of || !strings.Contains(failed.Text, test.says) {
				t.Errorf("got %v, want a failure of the %s that says %q", err, test.of, test.says)
			}
		})
	}
}

// doubled gives two tokens one name, which llama.cpp does not survive.
func doubled(m *tinybert.Model) {
	for _, kv := range m.Meta {
		if tokens, ok := kv.Value.([]string); ok && kv.Key == "tokenizer.ggml.tokens" {
			tokens[len(tokens)-1] = tokens[len(tokens)-2]
		}
	}
}

// A closed model is not used any more, whoever is just using it.
func TestNativeCloseWhileEmbedding(t *testing.T) {
	m := model(t, file(t, seeded()), Options{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for {
				if _, _, _, err := m.Embed("note memory search", 1); err != nil {
					if !strings.Contains(err.Error(), "closed") {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	m.Close()
	m.Close()
	all.Wait()
	if _, err := m.Tokens("note"); err == nil {
		t.Error("a closed model has cut a text into tokens")
	}
}

// Models come and go in one process.
func TestNativeLoadsAgain(t *testing.T) {
	path := file(t, seeded())
	var first []float32
	for range 3 {
		m, err := engine(t).Load(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		v := embedded(t, m, "note memory search", 1)
		if m.Close(); first != nil && !slices.Equal(v, first) {
			t.Errorf("vector begins %v, want %v", v[:2], first[:2])
		}
		first = v
	}
}
