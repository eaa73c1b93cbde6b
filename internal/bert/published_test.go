package bert

import (
	"slices"
	"strings"
	"testing"

	"emberd/internal/gguf"
	"emberd/internal/tinybert"
)

// edit is what makes a model's file one that somebody published.
type edit func(*tinybert.Model)

func with(key string, value any) edit {
	return func(m *tinybert.Model) {
		without(key)(m)
		m.Meta = append(m.Meta, tinybert.Meta{Key: key, Value: value})
	}
}

func without(key string) edit {
	return func(m *tinybert.Model) {
		m.Meta = slices.DeleteFunc(m.Meta, func(kv tinybert.Meta) bool { return kv.Key == key })
	}
}

func withTensor(name string, dims ...int) edit {
	return func(m *tinybert.Model) {
		m.Tensors = append(m.Tensors, tinybert.Tensor{Name: name, Dims: dims, Value: func(int) float32 { return 1 }})
	}
}

func together(edits ...edit) edit {
	return func(m *tinybert.Model) {
		for _, e := range edits {
			e(m)
		}
	}
}

// What convert_hf_to_gguf.py writes beside what is needed, of the models that many embed with,
// changes no vector, and neither does the order of it.
func TestFilesAsTheyArePublished(t *testing.T) {
	want := embedded(t, opened(t, tinybert.Tiny()), "note memory search")
	for name, published := range map[string]edit{
		"all-MiniLM-L6-v2": together(
			with("general.type", "model"), with("general.size_label", "22M"), with("general.license", "apache-2.0"),
			with("general.base_model.count", uint32(1)), with("general.base_model.0.name", "MiniLM L6"),
			with("general.tags", []string{"sentence-transformers", "feature-extraction"}),
			with("general.languages", []string{"en"}), with("general.datasets", []string{"s2orc", "ms_marco"}),
			with("tokenizer.ggml.pre", "jina-v2-en"), with("tokenizer.ggml.add_bos_token", true),
			with("tokenizer.ggml.eos_token_id", uint32(3)), with("tokenizer.ggml.add_sep_token", true)),
		"bge-small-en-v1.5": together( // as converted in 2024: no bos_token_id
			with("general.basename", "bge"), with("tokenizer.ggml.pre", "jina-v2-en"),
			without("tokenizer.ggml.bos_token_id"), with("tokenizer.ggml.cls_token_id", uint32(2))),
		"snowflake-arctic-embed-s": together(with("general.finetune", "arctic-embed"), with("general.version", "1.5"),
			with("quantize.imatrix.file", "imatrix.dat"), with("quantize.imatrix.entries_count", int32(72))),
		"a distilled one":    without("bert.attention.causal"),
		"one with a head":    together(withTensor("cls.weight", 32, 32), withTensor("cls.bias", 32), withTensor("cls.output.weight", 32, 2)),
		"tensors by name":    func(m *tinybert.Model) { slices.SortFunc(m.Tensors, byName) },
		"keys back to front": func(m *tinybert.Model) { slices.Reverse(m.Meta) },
		"another alignment":  with("general.alignment", uint32(64)),
	} {
		t.Run(name, func(t *testing.T) {
			model := tinybert.New(tinybert.Tiny())
			published(model)
			m, err := Open(written(t, model), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := embedded(t, m, "note memory search"); !slices.Equal(got, want) {
				t.Errorf("vector begins %v, want %v", got[:4], want[:4])
			}
		})
	}
}

func byName(a, b tinybert.Tensor) int { return strings.Compare(a.Name, b.Name) }

// The first token is the one that was trained as such, also where it is not BERT's usual 101.
func TestTheFirstTokenOfOlderFiles(t *testing.T) {
	for name, published := range map[string]edit{
		"cls_token_id alone": together(without("tokenizer.ggml.bos_token_id"), with("tokenizer.ggml.cls_token_id", uint32(4))),
		"bos_token_id":       together(with("tokenizer.ggml.cls_token_id", uint32(2)), with("tokenizer.ggml.bos_token_id", uint32(4))),
	} {
		model := tinybert.New(tinybert.Tiny())
		published(model)
		m, err := Open(written(t, model), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.content.Load().tokenizer.Tokens("", 0); !slices.Equal(got, []int32{4, 3}) {
			t.Errorf("%s: tokens are %v, want 4 and 3", name, got)
		}
	}
}

// Files of other models, and other files of these, are refused before they are loaded, with what
// to take instead.
func TestPublishedFilesThatAreRefused(t *testing.T) {
	const (
		another = "; use a BERT embedding model in GGUF format, such as all-MiniLM-L6-v2, or run this model on a server and set embedding.url"
		types   = "; use the file of this model in the format Q8_0, F16 or F32"
		native  = "; llama.cpp can run this model; to install llama.cpp, run: emberd model runtime install"
		either  = types + "; or else llama.cpp can run this model; to install llama.cpp, run: emberd model runtime install"
	)
	for name, test := range map[string]struct {
		published edit
		problem   string
	}{
		"nomic-embed-text-v1.5": {with("general.architecture", "nomic-bert"), `the architecture is "nomic-bert"; only "bert" is supported` + another},
		"multilingual MiniLM": {together(with("tokenizer.ggml.model", "t5"), with("tokenizer.ggml.precompiled_charsmap", []int32{1, 2, 3}),
			with("tokenizer.ggml.token_type_count", uint32(2)), with("tokenizer.ggml.add_space_prefix", true)),
			`the tokenizer of the model is "t5" (SentencePiece, for example in XLM-RoBERTa and most multilingual models), but this runtime supports only "bert" (WordPiece)` + another},
		"all-distilroberta-v1": {together(with("tokenizer.ggml.model", "gpt2"), with("tokenizer.ggml.merges", []string{"a b"})),
			`the tokenizer of the model is "gpt2" (byte pairs, for example in RoBERTa), but this runtime supports only "bert" (WordPiece)` + another},
		"ms-marco-MiniLM":      {with("bert.pooling_type", uint32(4)), "key bert.pooling_type is 4, so the model ranks texts instead of embedding them" + another},
		"by the last token":    {with("bert.pooling_type", uint32(3)), "the model uses last-token pooling, but this runtime supports only mean and cls pooling" + native},
		"Q4_0":                 {quantised(2), `tensor "token_embd.weight" has the type Q4_0; only F32, F16 and Q8_0 are supported` + either},
		"Q5_0":                 {quantised(6), `tensor "token_embd.weight" has the type Q5_0; only F32, F16 and Q8_0 are supported` + either},
		"Q4_K":                 {quantised(12), `tensor "token_embd.weight" has the type Q4_K; only F32, F16 and Q8_0 are supported` + either},
		"IQ3_S":                {quantised(21), `tensor "token_embd.weight" has the type IQ3_S; only F32, F16 and Q8_0 are supported` + either},
		"a type of the future": {quantised(77), `tensor "token_embd.weight" has the unknown type 77` + types},
	} {
		t.Run(name, func(t *testing.T) {
			spec := tinybert.Tiny()
			spec.Dim, spec.Heads, spec.FeedForward, spec.Layers = 256, 4, 256, 1
			model := tinybert.New(spec)
			test.published(model)
			path := written(t, model)
			_, err := Preflight(path)
			if want := "model file " + path + ": " + test.problem; err == nil || err.Error() != want {
				t.Errorf("\n got %v\nwant %s", err, want)
			}
			if _, again := Open(path, nil); again == nil || again.Error() != err.Error() {
				t.Errorf("Open says %v, Preflight %v", again, err)
			}
		})
	}
}

// quantised gives the table of tokens another type. It is the first tensor, and larger as F32
// than as any of those that are tried.
func quantised(as gguf.Type) edit {
	return func(m *tinybert.Model) { m.Tensors[0].Type = tinybert.Type(as) }
}
