package gguf_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"emberd/internal/gguf"
	"emberd/internal/tinybert"
)

const llama = "; llama.cpp can run this model; to install llama.cpp, run: emberd model runtime install"

// like is small, of an architecture and a tokenizer.
func like(architecture, tokenizer string) *tinybert.Model {
	spec := tinybert.Tiny()
	spec.Context, spec.Type, spec.Architecture, spec.Tokenizer = 8, tinybert.Q8_0, architecture, tokenizer
	return tinybert.New(spec)
}

func TestModelsThatLlamaRuns(t *testing.T) {
	for name, test := range map[string]struct {
		model *tinybert.Model
		want  gguf.Facts
	}{
		"BERT":                     {like("", ""), gguf.Facts{Architecture: "bert", Tokenizer: "bert", Begin: 2, End: 3, Unknown: 1, Vocabulary: 197}},
		"multilingual BERT":        {like("", "t5"), gguf.Facts{Architecture: "bert", Tokenizer: "t5", Begin: 0, End: 2, Unknown: 3, Vocabulary: len(tinybert.Pieces())}},
		"nomic-embed-text-v1.5":    {like("nomic-bert", ""), gguf.Facts{Architecture: "nomic-bert", Tokenizer: "bert", Begin: 2, End: 3, Unknown: 1, Vocabulary: 197}},
		"nomic with SentencePiece": {like("nomic-bert", "t5"), gguf.Facts{Architecture: "nomic-bert", Tokenizer: "t5", Begin: 0, End: 2, Unknown: 3, Vocabulary: len(tinybert.Pieces())}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := gguf.PreflightNative(file(t, contents(t, test.model)))
			if err != nil {
				t.Fatal(err)
			}
			if len(got.SHA256) != 64 || got.Size == 0 {
				t.Errorf("got the digest %q of %d bytes", got.SHA256, got.Size)
			}
			want := test.want
			want.Name, want.Weights, want.Pooling, want.Epsilon = "tinybert", gguf.Q8_0, gguf.Mean, 1e-12
			want.Dim, want.Layers, want.Heads, want.FeedForward, want.Context, want.TokenTypes = 32, 2, 2, 64, 8, 2
			want.SHA256, want.Size = got.SHA256, got.Size
			if *got != want {
				t.Errorf("\n got %+v\nwant %+v", *got, want)
			}
		})
	}
}

// A text of SentencePiece may have no token for its beginning or its end.
func TestSentencePieceWithoutEnds(t *testing.T) {
	m := like("", "t5")
	drop(m, "tokenizer.ggml.bos_token_id")
	set(m, "tokenizer.ggml.add_bos_token", false)
	set(m, "tokenizer.ggml.add_eos_token", false)
	facts, err := gguf.PreflightNative(file(t, contents(t, m)))
	if err != nil {
		t.Fatal(err)
	}
	if facts.Begin != -1 || facts.End != -1 {
		t.Errorf("got %d and %d, want -1 twice", facts.Begin, facts.End)
	}
}

func TestCaseAndAccents(t *testing.T) {
	const lower, strip = "tokenizer.ggml.normalizer.lowercase", "tokenizer.ggml.normalizer.strip_accents"
	for name, test := range map[string]struct {
		keys            map[string]bool
		cased, accented bool
	}{
		"uncased":           {nil, false, false},
		"uncased, told":     {map[string]bool{lower: true}, false, false},
		"cased":             {map[string]bool{lower: false}, true, true},
		"cased, no accents": {map[string]bool{lower: false, strip: true}, true, false},
		"accented":          {map[string]bool{strip: false}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := small()
			for key, value := range test.keys {
				set(m, key, value)
			}
			facts, err := gguf.Preflight(file(t, contents(t, m)))
			if err != nil {
				t.Fatal(err)
			}
			if facts.Cased != test.cased || facts.Accented != test.accented {
				t.Errorf("got cased %v and accented %v, want %v and %v", facts.Cased, facts.Accented, test.cased, test.accented)
			}
		})
	}
}

// What llama.cpp ends its process for, or believes to the point of reading other memory or
// other files.
func TestFilesThatLlamaIsKeptFrom(t *testing.T) {
	bert := func(edit func(*tinybert.Model)) func() *tinybert.Model {
		return func() *tinybert.Model { m := like("", ""); edit(m); return m }
	}
	pieces := func(edit func(*tinybert.Model)) func() *tinybert.Model {
		return func() *tinybert.Model { m := like("", "t5"); edit(m); return m }
	}
	nomic := func(edit func(*tinybert.Model)) func() *tinybert.Model {
		return func() *tinybert.Model { m := like("nomic-bert", ""); edit(m); return m }
	}
	const begin, charsmap = "tokenizer.ggml.bos_token_id", "tokenizer.ggml.precompiled_charsmap"
	old := func() *tinybert.Model {
		spec := tinybert.Tiny()
		spec.Tokens = tinybert.Tokens()[:101]
		m := tinybert.New(spec)
		drop(m, begin)
		return m
	}
	for name, test := range map[string]struct {
		model   func() *tinybert.Model
		problem string
	}{
		"another architecture": {bert(with("general.architecture", "llama")), `the architecture is "llama"; only "bert" and "nomic-bert" are supported` + other},
		"another tokenizer":    {bert(with("tokenizer.ggml.model", "gpt2")), `the tokenizer is "gpt2"; only "bert" (WordPiece) and "t5" (SentencePiece) are supported` + other},
		"no layers":            {bert(with("bert.block_count", uint32(0))), "key bert.block_count has the value 0, which is out of range (1 to 512)" + again},
		"too many layers":      {bert(with("bert.block_count", uint32(100000))), "key bert.block_count has the value 100000, which is out of range (1 to 512)" + again},
		"pooling of no kind":   {bert(with("bert.pooling_type", uint32(77))), "key bert.pooling_type is 77; supported values are 1 (mean), 2 (cls) and 3 (last)" + other},
		"a decoder":            {bert(with("bert.attention.causal", true)), "key bert.attention.causal is true, so the model generates text instead of embeddings" + other},
		"equal tokens": {bert(func(m *tinybert.Model) {
			tokens := tinybert.Tokens()
			tokens[150] = tokens[133]
			set(m, "tokenizer.ggml.tokens", tokens)
		}), `tokens 133 and 150 have the same text "▁note"` + again},
		"an old beginning":       {old, "key tokenizer.ggml.bos_token_id is missing, and its default, token 101, does not exist" + again},
		"no beginning":           {pieces(func(m *tinybert.Model) { drop(m, begin) }), "key tokenizer.ggml.bos_token_id is not the index of one of the 190 tokens" + again},
		"an end too far":         {pieces(with("tokenizer.ggml.eos_token_id", uint32(9999))), "key tokenizer.ggml.eos_token_id is not the index of one of the 190 tokens" + again},
		"a byte of WordPiece":    {bert(kind(150, 6)), "key tokenizer.ggml.token_type marks token 150 as a byte, but WordPiece has no byte tokens" + again},
		"narrow alignment":       {bert(with("general.alignment", uint32(16))), "key general.alignment is 16; llama.cpp requires at least 32" + other},
		"labels of numbers":      {nomic(with("nomic-bert.classifier.output_labels", []int32{1, 2})), "key nomic-bert.classifier.output_labels is not a list of strings" + again},
		"one part of several":    {bert(with("split.count", uint32(2))), "key split.count is 2, so the file is only one part of a model" + other},
		"parts of no number":     {bert(with("split.count", strings.Repeat("\x1b[2J", 1000))), "key split.count is not a number" + again},
		"experts":                {bert(with("bert.expert_count", uint32(8))), "key bert.expert_count is not 0, the value that embedding models of this kind require" + again},
		"used experts":           {nomic(with("nomic-bert.expert_used_count", uint32(2))), "key nomic-bert.expert_used_count is not 0, the value that embedding models of this kind require" + again},
		"predicted layers":       {bert(with("bert.nextn_predict_layers", uint32(9))), "key bert.nextn_predict_layers is not 0, the value that embedding models of this kind require" + again},
		"shorter vectors":        {bert(with("bert.embedding_length_out", uint32(16))), "key bert.embedding_length_out is not 32, the value that embedding models of this kind require" + again},
		"a scaling of no kind":   {nomic(with("nomic-bert.rope.scaling.type", "round")), "key nomic-bert.rope.scaling.type is not none, linear, yarn or longrope" + again},
		"more turned than there": {nomic(with("nomic-bert.rope.dimension_count", uint32(64))), "key nomic-bert.rope.dimension_count is not 16, the size of an attention head" + again},
		"turned by nothing":      {nomic(with("nomic-bert.rope.freq_base", float32(0))), "key nomic-bert.rope.freq_base is not a number greater than 0" + again},
		"rounded token types":    {bert(func(m *tinybert.Model) { tensor(m, "token_types.weight").Type = tinybert.F16 }), "tensor token_types.weight has the type F16 instead of F32" + other},
		"a table of places":      {nomic(func(m *tinybert.Model) { m.Tensors = append(m.Tensors, *tensor(small(), "position_embd.weight")) }), `tensor "position_embd.weight" does not belong to a nomic-bert embedding model` + other},
		"no gate":                {nomic(func(m *tinybert.Model) { dropTensor(m, "blk.1.ffn_gate.weight") }), "tensor blk.1.ffn_gate.weight is missing" + again},
		"characters of numbers":  {pieces(with(charsmap, []int32{1, 2, 3, 4, 5})), "key tokenizer.ggml.precompiled_charsmap is not a list of 5 to 16777216 bytes" + again},
		"no characters":          {pieces(with(charsmap, []byte{0, 0, 0, 0})), "key tokenizer.ggml.precompiled_charsmap is not a list of 5 to 16777216 bytes" + again},
		"tables longer than all": {pieces(with(charsmap, []byte{8, 0, 0, 0, 1, 2, 3, 4})), "key tokenizer.ggml.precompiled_charsmap has tables of 8 bytes, but only 4 bytes of data" + again},
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t, contents(t, test.model()))
			_, err := gguf.PreflightNative(path)
			refused, ok := errors.AsType[*gguf.RefusedError](err)
			if !ok {
				t.Fatalf("got %v, want it refused: %s", err, test.problem)
			}
			if got := refused.Problem + "; " + refused.Remedy; got != test.problem || refused.Path != path {
				t.Errorf("\n got %s\nwant %s", got, test.problem)
			}
		})
	}
}

// kind makes a token one of that kind.
func kind(token int, kind int32) func(*tinybert.Model) {
	return func(m *tinybert.Model) {
		for _, kv := range m.Meta {
			if kinds, ok := kv.Value.([]int32); ok && kv.Key == "tokenizer.ggml.token_type" {
				kinds[token] = kind
			}
		}
	}
}

func TestOddHeadsCannotBeTurned(t *testing.T) {
	spec := tinybert.Tiny()
	spec.Architecture, spec.Dim, spec.Heads = "nomic-bert", 6, 2
	_, err := gguf.PreflightNative(file(t, contents(t, tinybert.New(spec))))
	if err == nil || !strings.Contains(err.Error(), "the attention heads have 3 dimensions, but rotary embeddings require an even number") {
		t.Errorf("got %v, want it refused for the 3 dimensions of a head", err)
	}
}

// Keys that say what is known anyway are fine.
func TestKeysThatLlamaMayRead(t *testing.T) {
	for _, architecture := range []string{"bert", "nomic-bert"} {
		m := like(architecture, "")
		for key, value := range map[string]any{
			"expert_count": uint32(0), "embedding_length_out": uint32(32), "rope.scaling.type": "none",
			"rope.dimension_count": uint32(16), "rope.freq_base": float32(1e6), "rope.scaling.factor": float32(2),
		} {
			set(m, architecture+"."+key, value)
		}
		set(m, "split.count", uint32(1))
		set(m, architecture+".classifier.output_labels", []string{"near", "far"})
		if _, err := gguf.PreflightNative(file(t, contents(t, m))); err != nil {
			t.Error(err)
		}
	}
}

// The engine in Go says who can run what it cannot.
func TestModelsForTheOtherEngine(t *testing.T) {
	for name, test := range map[string]struct {
		model   *tinybert.Model
		problem string
	}{
		"a token that is looked for first": {func() *tinybert.Model {
			m := like("", "")
			kind(150, 4)(m)
			return m
		}(), "token 150 has type 4 (matched before the text is split into words), which the built-in runtime does not support" + llama},
		"narrow alignment and that": {func() *tinybert.Model {
			m := like("", "")
			kind(150, 4)(m)
			set(m, "general.alignment", uint32(16))
			return m
		}(), "token 150 has type 4 (matched before the text is split into words), which the built-in runtime does not support" + other},
		"nomic-embed-text": {like("nomic-bert", ""), `the architecture is "nomic-bert"; only "bert" is supported` + llama},
		"no gate": {func() *tinybert.Model {
			m := like("nomic-bert", "")
			dropTensor(m, "blk.1.ffn_gate.weight")
			return m
		}(), `the architecture is "nomic-bert"; only "bert" is supported` + other},
	} {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, file(t, contents(t, test.model)), test.problem)
		})
	}
}

// llama.cpp computes with these on the way, and ends where weights are written as one.
func TestTypesThatNoWeightsHave(t *testing.T) {
	for name, kind := range map[string]tinybert.Type{"Q8_1": 9, "Q8_K": 15, "I8": 24, "I16": 25, "I32": 26, "I64": 27, "F64": 28} {
		t.Run(name, func(t *testing.T) {
			m := small()
			tensor(m, "blk.0.ffn_up.weight").Type = kind
			wantRefused(t, file(t, contents(t, m)), fmt.Sprintf(`tensor "blk.0.ffn_up.weight" has the unknown type %d`, kind)+types)
		})
	}
}
