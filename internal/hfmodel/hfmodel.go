// Package hfmodel reads an embedding model from a folder as Hugging Face lays it out, and makes a model file in
// GGUF of it: config.json, modules.json with the pooling, vocab.txt, tokenizer_config.json and
// model.safetensors. Only a BERT with WordPiece can be converted, which sentence-transformers' small models
// are. Everything is read as data; nothing in the folder is run.
//
// The names of keys and tensors are those of llama.cpp's convert_hf_to_gguf.py.
package hfmodel

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"emberd/internal/ggufwrite"
)

// Model is a folder that was checked and can be converted. It is for one goroutine.
type Model struct {
	Name     string // the heading of README.md, or the folder's name
	Licence  string // "" if the folder names none
	SHA256   string // of the weights
	shape    *shape
	weights  *weightFile
	tokens   []string
	pooling  uint32
	lower    bool
	strip    bool
	problem  error // of the first tensor that could not be read
	at       string
	numbers  []float32 // of the tensor at
	produced []ggufwrite.Tensor
}

// Open reads what the folder says about the model, and the digest of the weights. Close lets go of them.
func Open(folder string) (*Model, error) {
	m := &Model{}
	m.Name, m.Licence = Card(folder)
	var err error
	if m.shape, err = readShape(folder); err != nil {
		return nil, err
	}
	if m.pooling, err = readPooling(folder); err != nil {
		return nil, err
	}
	if m.tokens, err = readTokens(folder); err != nil {
		return nil, err
	}
	if len(m.tokens) != m.shape.Vocabulary {
		return nil, fmt.Errorf("vocab.txt has %d tokens, but config.json requires %d", len(m.tokens),
			m.shape.Vocabulary)
	}
	if m.lower, m.strip, err = readLetters(folder); err != nil {
		return nil, err
	}
	if m.weights, err = openWeights(folder); err != nil {
		return nil, err
	}
	if m.SHA256, err = m.weights.digest(); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// Close lets go of the weights.
func (m *Model) Close() error { return m.weights.file.Close() }

func (w *weightFile) digest() (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(w.file, 0, 1<<62)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Write writes the model in GGUF with its matrices as a type. It holds one tensor in memory at a time.
func (m *Model) Write(to io.Writer, as ggufwrite.Type) error {
	f := ggufwrite.File{Meta: m.meta(as), Tensors: m.tensors(as)}
	if err := f.Write(to); err != nil {
		return err
	}
	return m.problem
}

func (m *Model) meta(as ggufwrite.Type) []ggufwrite.Meta {
	s := m.shape
	all := []ggufwrite.Meta{
		{Key: "general.architecture", Value: "bert"},
		{Key: "general.name", Value: m.Name},
		{Key: "general.license", Value: m.Licence},
		{Key: "general.source.sha256", Value: m.SHA256},
		{Key: "general.file_type", Value: as.FileType()},
		{Key: "general.quantization_version", Value: uint32(2)},
		{Key: "bert.block_count", Value: uint32(s.Layers)},
		{Key: "bert.context_length", Value: uint32(s.Context)},
		{Key: "bert.embedding_length", Value: uint32(s.Dim)},
		{Key: "bert.feed_forward_length", Value: uint32(s.FeedForward)},
		{Key: "bert.attention.head_count", Value: uint32(s.Heads)},
		{Key: "bert.attention.layer_norm_epsilon", Value: s.Epsilon},
		{Key: "bert.attention.causal", Value: false},
		{Key: "bert.pooling_type", Value: m.pooling},
	}
	return append(all, m.tokenizer()...)
}

// tokenizer returns the keys of the vocabulary. What begins a word begins with U+2581 there, and ## goes.
func (m *Model) tokenizer() []ggufwrite.Meta {
	tokens, kinds, ids := make([]string, len(m.tokens)), make([]int32, len(m.tokens)), map[string]uint32{}
	for i, t := range m.tokens {
		rest, continues := strings.CutPrefix(t, "##")
		kinds[i] = 1 // normal
		switch special := len(t) > 2 && t[0] == '[' && t[len(t)-1] == ']'; {
		case special:
			tokens[i], kinds[i], ids[t] = t, 3, uint32(i) // control
		case continues && rest != "":
			tokens[i] = rest
		default:
			tokens[i] = "\u2581" + t
		}
	}
	return []ggufwrite.Meta{
		{Key: "tokenizer.ggml.model", Value: "bert"},
		{Key: "tokenizer.ggml.pre", Value: "default"},
		{Key: "tokenizer.ggml.token_type_count", Value: uint32(m.shape.TokenTypes)},
		{Key: "tokenizer.ggml.tokens", Value: tokens},
		{Key: "tokenizer.ggml.token_type", Value: kinds},
		{Key: "tokenizer.ggml.normalizer.lowercase", Value: m.lower},
		{Key: "tokenizer.ggml.normalizer.strip_accents", Value: m.strip},
		{Key: "tokenizer.ggml.bos_token_id", Value: ids["[CLS]"]},
		{Key: "tokenizer.ggml.seperator_token_id", Value: ids["[SEP]"]}, // spelled as the format spells it
		{Key: "tokenizer.ggml.unknown_token_id", Value: ids["[UNK]"]},
		{Key: "tokenizer.ggml.cls_token_id", Value: ids["[CLS]"]},
		{Key: "tokenizer.ggml.padding_token_id", Value: ids["[PAD]"]},
		{Key: "tokenizer.ggml.mask_token_id", Value: ids["[MASK]"]},
	}
}

// tensors lists what the file has, each read when its first number is asked for.
func (m *Model) tensors(as ggufwrite.Type) []ggufwrite.Tensor {
	s := m.shape
	m.produced = nil
	m.add("token_embd.weight", "embeddings.word_embeddings.weight", as, s.Vocabulary, s.Dim)
	m.add("position_embd.weight", "embeddings.position_embeddings.weight", ggufwrite.F32, s.Context, s.Dim)
	m.add("token_types.weight", "embeddings.token_type_embeddings.weight", ggufwrite.F32, s.TokenTypes, s.Dim)
	m.addNorm("token_embd_norm", "embeddings.LayerNorm")
	for n := range s.Layers {
		to, from := fmt.Sprintf("blk.%d.", n), fmt.Sprintf("encoder.layer.%d.", n)
		m.addLinear(to+"attn_q", from+"attention.self.query", as, s.Dim, s.Dim)
		m.addLinear(to+"attn_k", from+"attention.self.key", as, s.Dim, s.Dim)
		m.addLinear(to+"attn_v", from+"attention.self.value", as, s.Dim, s.Dim)
		m.addLinear(to+"attn_output", from+"attention.output.dense", as, s.Dim, s.Dim)
		m.addNorm(to+"attn_output_norm", from+"attention.output.LayerNorm")
		m.addLinear(to+"ffn_up", from+"intermediate.dense", as, s.FeedForward, s.Dim)
		m.addLinear(to+"ffn_down", from+"output.dense", as, s.Dim, s.FeedForward)
		m.addNorm(to+"layer_output_norm", from+"output.LayerNorm")
	}
	return m.produced
}

func (m *Model) addNorm(to, from string) {
	m.add(to+".weight", from+".weight", ggufwrite.F32, m.shape.Dim)
	m.add(to+".bias", from+".bias", ggufwrite.F32, m.shape.Dim)
}

func (m *Model) addLinear(to, from string, as ggufwrite.Type, out, in int) {
	m.add(to+".weight", from+".weight", as, out, in)
	m.add(to+".bias", from+".bias", ggufwrite.F32, out)
}

// add adds a tensor of that shape, which GGUF tells with the length of a row first.
func (m *Model) add(to, from string, as ggufwrite.Type, shape ...int) {
	if _, ok := m.weights.tensors[from]; !ok {
		from = "bert." + from // as models with a head have them
	}
	dims := []int{shape[len(shape)-1]}
	if len(shape) == 2 {
		dims = append(dims, shape[0])
	}
	m.produced = append(m.produced, ggufwrite.Tensor{Name: to, Type: as, Dims: dims,
		Value: func(i int) float32 { return m.number(from, shape, i) }})
}

// number returns the i-th number of a tensor, 0 after a problem.
func (m *Model) number(name string, shape []int, i int) float32 {
	if m.at != name && m.problem == nil {
		m.at = name
		m.numbers, m.problem = m.weights.read(name, shape...)
	}
	if m.problem != nil {
		return 0
	}
	return m.numbers[i]
}
