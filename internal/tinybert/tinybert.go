// Package tinybert makes BERT models, and models of its kin, for tests, benchmarks and trying
// out an engine: GGUF files with the keys and tensors of a real embedding model, of any shape,
// and weights that are drawn from a seed.
//
// The weights are the same bits on every machine, so that vectors that llama.cpp made of a
// model can be written down in a test. They know nothing of language. They are small, though,
// so that a text's vector stays near the sum of its tokens', and texts that share words are
// nearer to each other than others.
//
// A [Model] is what a file will hold, as a list that may be changed before it is written: this
// is how a test makes a file that is broken in one place. It is for one goroutine.
package tinybert

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/bits"
	"slices"

	"emberd/internal/ggufwrite"
)

// The names that files have for what is not the default of a Spec.
const (
	nomic   = "nomic-bert"
	unigram = "t5"
)

// What a model is written as.
type (
	Model  = ggufwrite.File
	Meta   = ggufwrite.Meta
	Tensor = ggufwrite.Tensor
	Type   = ggufwrite.Type
)

// The types that weights can be written in.
const (
	F32  = ggufwrite.F32
	F16  = ggufwrite.F16
	Q8_0 = ggufwrite.Q8_0
)

// A Spec is the shape of a model and the seed of its weights.
type Spec struct {
	Seed        uint64
	Layers      int
	Dim         int // of the embedding; multiples of 32 for Q8_0
	Heads       int
	FeedForward int // a multiple of 32 for Q8_0
	Context     int
	Vocabulary  int      // tokens at least; those that Tokens does not have are made up
	Tokens      []string // as a file has them, special tokens first; nil: those of [Tokens]
	Pooling     uint32   // 1 mean, 2 cls, 3 last
	Type        Type     // of the matrices; the rest is always F32

	// What llama.cpp takes beside BERT with WordPiece, and must be shown to take: all of
	// nomic-embed-text is another architecture, and most multilingual models are BERTs with
	// a tokenizer of SentencePiece.
	Architecture string // "nomic-bert", or "" for "bert"
	Tokenizer    string // "t5" for SentencePiece, or "" for "bert", which is WordPiece
}

// Tiny is the smallest model that is of use: 116,864 bytes, 197 tokens, 32 dimensions.
func Tiny() Spec {
	return Spec{Seed: 42, Layers: 2, Dim: 32, Heads: 2, FeedForward: 64, Context: 128, Pooling: 1}
}

// MiniLM has the shape of all-MiniLM-L6-v2, which many embed with: 22 million weights.
func MiniLM(t Type) Spec {
	return Spec{Seed: 42, Layers: 6, Dim: 384, Heads: 12, FeedForward: 1536, Context: 512, Vocabulary: 30522,
		Pooling: 1, Type: t}
}

// New is the model of that shape.
func New(s Spec) *Model {
	tokens := s.tokens()
	return &Model{Meta: s.meta(tokens), Tensors: s.tensors(len(tokens))}
}

func (s Spec) meta(tokens []string) []Meta {
	arch := cmp.Or(s.Architecture, "bert")
	meta := []Meta{
		{Key: "general.architecture", Value: arch},
		{Key: "general.name", Value: "tinybert"},
		{Key: "general.file_type", Value: s.Type.FileType()},
		{Key: "general.quantization_version", Value: uint32(2)},
		{Key: arch + ".block_count", Value: uint32(s.Layers)},
		{Key: arch + ".context_length", Value: uint32(s.Context)},
		{Key: arch + ".embedding_length", Value: uint32(s.Dim)},
		{Key: arch + ".feed_forward_length", Value: uint32(s.FeedForward)},
		{Key: arch + ".attention.head_count", Value: uint32(s.Heads)},
		{Key: arch + ".attention.layer_norm_epsilon", Value: float32(1e-12)},
		{Key: arch + ".attention.causal", Value: false},
		{Key: arch + ".pooling_type", Value: s.Pooling},
	}
	if arch == nomic {
		meta = append(meta, Meta{Key: arch + ".rope.freq_base", Value: float32(1000)})
	}
	if s.Tokenizer == unigram {
		return append(meta, unigramMeta(tokens)...)
	}
	return append(meta, wordPieceMeta(tokens)...)
}

func wordPieceMeta(tokens []string) []Meta {
	types := make([]int32, len(tokens))
	for i := range types {
		types[i] = 1 // normal
		if i < specials {
			types[i] = 3 // control
		}
	}
	return []Meta{
		{Key: "tokenizer.ggml.model", Value: "bert"},
		{Key: "tokenizer.ggml.pre", Value: "default"},
		{Key: "tokenizer.ggml.token_type_count", Value: uint32(2)},
		{Key: "tokenizer.ggml.tokens", Value: tokens},
		{Key: "tokenizer.ggml.token_type", Value: types},
		{Key: "tokenizer.ggml.bos_token_id", Value: uint32(cls)},
		{Key: "tokenizer.ggml.seperator_token_id", Value: uint32(sep)}, // spelled as the format spells it
		{Key: "tokenizer.ggml.unknown_token_id", Value: uint32(unk)},
		{Key: "tokenizer.ggml.cls_token_id", Value: uint32(cls)},
		{Key: "tokenizer.ggml.padding_token_id", Value: uint32(pad)},
		{Key: "tokenizer.ggml.mask_token_id", Value: uint32(mask)},
	}
}

// tensors has the standard deviations that keep the vectors near a bag of tokens.
func (s Spec) tensors(vocabulary int) []Tensor {
	d, f := s.Dim, s.FeedForward
	list := []Tensor{
		s.drawn("token_embd.weight", s.Type, 1, d, vocabulary),
		s.drawn("token_types.weight", F32, 0.05, d, 2),
	}
	if s.Architecture != nomic {
		list = append(list, s.drawn("position_embd.weight", F32, 0.1, d, s.Context))
	}
	list = append(list, ones("token_embd_norm.weight", d), s.drawn("token_embd_norm.bias", F32, 0.01, d))
	for n := range s.Layers {
		layer := fmt.Sprintf("blk.%d.", n)
		if s.Architecture == nomic { // without biases, and with a gate
			list = slices.Concat(list, s.linear(layer+"attn_qkv", d, 3*d), s.linear(layer+"attn_output", d, d),
				s.linear(layer+"ffn_gate", d, f))
		} else {
			for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
				list = append(list, s.linear(layer+name, d, d)...)
			}
		}
		list = append(list, ones(layer+"attn_output_norm.weight", d),
			s.drawn(layer+"attn_output_norm.bias", F32, 0.01, d))
		list = append(list, s.linear(layer+"ffn_up", d, f)...)
		list = append(list, s.linear(layer+"ffn_down", f, d)...)
		list = append(list, ones(layer+"layer_output_norm.weight", d),
			s.drawn(layer+"layer_output_norm.bias", F32, 0.01, d))
	}
	return list
}

func (s Spec) linear(name string, in, out int) []Tensor {
	if s.Architecture == nomic {
		return []Tensor{s.drawn(name+".weight", s.Type, 0.05, in, out)}
	}
	return []Tensor{s.drawn(name+".weight", s.Type, 0.05, in, out), s.drawn(name+".bias", F32, 0.01, out)}
}

func ones(name string, n int) Tensor {
	return Tensor{Name: name, Type: F32, Dims: []int{n}, Value: func(int) float32 { return 1 }}
}

// drawn has numbers that are about normal, of the standard deviation std. They are drawn by
// splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014),
// each number from its own place in the sequence.
func (s Spec) drawn(name string, t Type, std float64, dims ...int) Tensor {
	h := fnv.New64a()
	h.Write([]byte(name))
	seed := s.Seed ^ h.Sum64()
	return Tensor{Name: name, Type: t, Dims: dims, Value: func(i int) float32 {
		return float32(normal(seed+uint64(i+1)*0x9e3779b97f4a7c15) * std)
	}}
}

// normal sums the four 16-bit lanes of a mixed state. The sum of four uniform numbers has the
// standard deviation 37837.2 around 131070; it stays an integer until the last product, which
// rounds the same on every processor.
func normal(z uint64) float64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	sum := 0
	for range 4 {
		sum += int(z & 0xffff)
		z = bits.RotateLeft64(z, -16)
	}
	return float64(sum-131070) * (1 / 37837.2)
}
