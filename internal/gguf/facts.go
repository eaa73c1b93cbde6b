package gguf

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

// A Pooling is how the vectors of a text's tokens become the text's, by llama.cpp's number.
type Pooling uint32

// The ways of pooling that an embedding model may ask for.
const (
	Mean Pooling = 1 // of all tokens
	CLS  Pooling = 2 // the first token
	Last Pooling = 3 // the last token
)

// rank is no way of pooling: a head judges the first token.
const rank Pooling = 4

func (p Pooling) String() string {
	switch p {
	case Mean:
		return "mean"
	case CLS:
		return "cls"
	case Last:
		return "last"
	default:
		return fmt.Sprintf("pooling %d", uint32(p))
	}
}

// Facts are what a checked model file says about its model.
type Facts struct {
	Architecture string // "bert"
	Name         string // as its maker calls it, printable, of 100 characters at most, maybe empty
	Tokenizer    string // "bert" for WordPiece, the one that llama.cpp calls WPM
	Weights      Type   // of the matrices
	Pooling      Pooling
	Dim          int // of the embedding
	Layers       int
	Heads        int // of attention, which divide Dim
	FeedForward  int
	Context      int     // tokens at most, those of the ends included
	Vocabulary   int     // tokens
	TokenTypes   int     // of which the first is that of all tokens of a text
	Epsilon      float32 // of the layer norms

	// Ids of the tokens that stand for the beginning and the end of a text and for what is
	// not in the vocabulary.
	Begin, End, Unknown int32

	Size   int64  // of the file, bytes
	SHA256 string // of the file, lower-case hex; empty from [File.BERT]
}

// What a BERT may be: from the smallest that makes sense to well above the largest.
const (
	maxLayers     = 512
	maxDim        = 16384
	maxForward    = 1 << 18
	maxContext    = 1 << 17
	maxVocabulary = 1 << 20
	maxToken      = 256 // bytes
	maxTokenTypes = 16
	maxEpsilon    = 0.1
)

const tokensKey = "tokenizer.ggml.tokens"

// Preflight opens a model file, checks all of it but the weights themselves, and closes it.
func Preflight(path string) (*Facts, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	facts, err := f.BERT()
	if err != nil {
		return nil, err
	}
	if facts.SHA256, err = f.SHA256(); err != nil {
		return nil, err
	}
	return facts, nil
}

// BERT checks that the file is a BERT embedding model whose parts fit together: keys that
// make sense, a vocabulary of unique tokens, and just the tensors of its layers, each in the
// shape it must have. What it refuses is a [RefusedError].
func (f *File) BERT() (*Facts, error) {
	facts, err := f.facts()
	if err == nil {
		err = f.checkVocabulary(facts)
	}
	if err == nil {
		err = f.checkRepeats(facts)
	}
	if err == nil {
		err = f.checkTensors(facts)
	}
	if err != nil {
		return nil, f.explain(err)
	}
	return facts, nil
}

func (f *File) facts() (*Facts, error) {
	arch, _ := f.String("general.architecture")
	if arch != "bert" {
		return nil, unfit("it is of the architecture %s, \"bert\" is what can be used", shown(arch))
	}
	facts := &Facts{Architecture: arch, Size: f.size}
	name, _ := f.String("general.name")
	facts.Name = label(name)
	for _, n := range []struct {
		key   string
		to    *int
		least int
		most  int
	}{
		{"bert.block_count", &facts.Layers, 1, maxLayers},
		{"bert.embedding_length", &facts.Dim, 1, maxDim},
		{"bert.attention.head_count", &facts.Heads, 1, maxDim},
		{"bert.feed_forward_length", &facts.FeedForward, 1, maxForward},
		{"bert.context_length", &facts.Context, 3, maxContext},
		{"tokenizer.ggml.token_type_count", &facts.TokenTypes, 1, maxTokenTypes},
	} {
		v, ok := f.Uint(n.key)
		if !ok {
			return nil, damaged("its key %s is missing or not a number", n.key)
		}
		if v < uint64(n.least) || v > uint64(n.most) {
			return nil, damaged("its key %s is %d, %d to %d are what it can be", n.key, v, n.least, n.most)
		}
		*n.to = int(v)
	}
	if facts.Dim%facts.Heads != 0 {
		return nil, damaged("its %d heads do not divide its %d dimensions", facts.Heads, facts.Dim)
	}
	return facts, f.kind(facts)
}

// label is what a file calls its model, fit to be shown.
func label(name string) string {
	const most = 100 // characters
	printable := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "")))
	return string(printable[:min(len(printable), most)])
}

// kind checks the keys that say which sort of BERT it is.
func (f *File) kind(facts *Facts) error {
	epsilon, _ := f.Float("bert.attention.layer_norm_epsilon")
	if facts.Epsilon = float32(epsilon); !(facts.Epsilon > 0 && facts.Epsilon <= maxEpsilon) {
		return damaged("its key bert.attention.layer_norm_epsilon is not a number above 0 and up to %g", maxEpsilon)
	}
	if causal, _ := f.Bool("bert.attention.causal"); causal {
		return unfit("its key bert.attention.causal is true, so it writes texts and does not embed them")
	}
	pooling, ok := f.Uint("bert.pooling_type")
	switch facts.Pooling = Pooling(min(pooling, math.MaxUint32)); {
	case !ok:
		return unfit("its key bert.pooling_type is missing, so it does not say how it makes one vector of a text")
	case facts.Pooling == rank:
		return unfit("its key bert.pooling_type is %d, so it ranks texts and does not embed them", pooling)
	case facts.Pooling != Mean && facts.Pooling != CLS && facts.Pooling != Last:
		return unfit("its key bert.pooling_type is %d, 1 (mean), 2 (cls) and 3 (last) are what can be used", pooling)
	}
	return nil
}

// checkVocabulary checks the tokens, and the ids that the tokenizer needs.
func (f *File) checkVocabulary(facts *Facts) error {
	if facts.Tokenizer, _ = f.String("tokenizer.ggml.model"); facts.Tokenizer == "" {
		return damaged("its key tokenizer.ggml.model is missing")
	}
	tokens, ok := f.Strings(tokensKey)
	if !ok || len(tokens) == 0 || len(tokens) > maxVocabulary {
		return damaged("its key %s is not a list of 1 to %d tokens", tokensKey, maxVocabulary)
	}
	facts.Vocabulary = len(tokens)
	seen := make(map[string]int, len(tokens))
	for id, token := range tokens {
		before, twice := seen[token]
		switch {
		case token == "":
			return damaged("its token %d is empty", id)
		case len(token) > maxToken:
			return damaged("its token %d has %d bytes, %d are the most", id, len(token), maxToken)
		case twice:
			return damaged("its tokens %d and %d are both %s", before, id, shown(token))
		}
		seen[token] = id
	}
	return f.specials(facts)
}

// specials finds the ids of the special tokens. Converters before 2025 wrote that of the
// beginning as cls_token_id alone.
func (f *File) specials(facts *Facts) error {
	for _, special := range []struct {
		keys []string
		or   uint64 // where the file does not say, as in llama.cpp
		to   *int32
	}{
		{[]string{"tokenizer.ggml.bos_token_id", "tokenizer.ggml.cls_token_id"}, 101, &facts.Begin},
		{[]string{"tokenizer.ggml.seperator_token_id"}, 102, &facts.End}, // spelled as the format spells it
		{[]string{"tokenizer.ggml.unknown_token_id"}, 100, &facts.Unknown},
	} {
		key, id, ok := special.keys[0], special.or, true
		for _, k := range slices.Backward(special.keys) {
			if _, told := f.meta[k]; told {
				key = k
				id, ok = f.Uint(k)
			}
		}
		if !ok || id >= uint64(facts.Vocabulary) {
			return damaged("its key %s is not the number of one of its %d tokens", key, facts.Vocabulary)
		}
		*special.to = int32(id)
	}
	return nil
}

// checkRepeats checks keys that say once more what other keys say. llama.cpp believes them, to
// the point of reading what is not there.
func (f *File) checkRepeats(facts *Facts) error {
	for _, repeat := range []struct {
		key  string
		want int
	}{
		{"bert.vocab_size", facts.Vocabulary},
		{"bert.attention.head_count_kv", facts.Heads},
		{"bert.attention.key_length", facts.Dim / facts.Heads},
		{"bert.attention.value_length", facts.Dim / facts.Heads},
	} {
		_, told := f.meta[repeat.key]
		if n, ok := f.Uint(repeat.key); told && (!ok || n != uint64(repeat.want)) {
			return damaged("its key %s is not %d, as the other keys have it", repeat.key, repeat.want)
		}
	}
	for key, kind := range map[string]uint32{"tokenizer.ggml.token_type": typeInt32, "tokenizer.ggml.scores": typeFloat32} {
		value, told := f.meta[key]
		if told && value != (array{kind, facts.Vocabulary}) {
			return damaged("its key %s has not one number for each of its %d tokens", key, facts.Vocabulary)
		}
	}
	return nil
}

// checkTensors checks that the tensors are those of the model, in their shapes.
func (f *File) checkTensors(facts *Facts) error {
	known := 0
	for _, want := range shapes(facts) {
		t, ok := f.tensors[want.name]
		if !ok {
			if want.optional {
				continue
			}
			return damaged("its tensor %s is missing", want.name)
		}
		known++
		if !want.fits(t.Dims) {
			return damaged("its tensor %s is of the shape %v, %v is what it must be", t.Name, t.Dims, want.dims)
		}
		if len(want.dims) == 1 && t.Type != F32 {
			return unfit("its tensor %s is written as %s, F32 is what it must be", t.Name, t.Type)
		}
	}
	facts.Weights = f.tensors["blk.0.attn_q.weight"].Type
	if known < len(f.tensors) {
		return f.stranger(facts)
	}
	return nil
}

// head begins the names of the tensors that judge a text's vector once it is made: no pooling
// but rank uses them.
const head = "cls."

// stranger tells of a tensor that is there beside those of the model. A forward pass that
// does not know it would embed as another model does.
func (f *File) stranger(facts *Facts) error {
	names := make(map[string]bool)
	for _, s := range shapes(facts) {
		names[s.name] = true
	}
	first := ""
	for name := range f.tensors {
		if !names[name] && !strings.HasPrefix(name, head) && (first == "" || name < first) {
			first = name
		}
	}
	switch {
	case first == "":
		return nil
	case strings.HasPrefix(first, "blk."):
		return damaged("its tensor %s does not belong to a BERT of %d layers", shown(first), facts.Layers)
	}
	return unfit("its tensor %s does not belong to a BERT embedding model", shown(first))
}

// A shape is what a tensor must be.
type shape struct {
	name     string
	dims     []int
	optional bool
}

func (s shape) fits(dims []int) bool {
	for i, d := range dims { // a vector may be written as a table of one row
		if i < len(s.dims) && d != s.dims[i] || i >= len(s.dims) && d != 1 {
			return false
		}
	}
	return len(dims) >= len(s.dims)
}

// shapes are the tensors of a BERT, by the names that llama.cpp has for them.
func shapes(facts *Facts) []shape {
	dim, forward := facts.Dim, facts.FeedForward
	list := []shape{
		{"token_embd.weight", []int{dim, facts.Vocabulary}, false},
		{"position_embd.weight", []int{dim, facts.Context}, false},
		{"token_types.weight", []int{dim, facts.TokenTypes}, true},
		{"token_embd_norm.weight", []int{dim}, false},
		{"token_embd_norm.bias", []int{dim}, false},
	}
	for n := range facts.Layers {
		layer := fmt.Sprintf("blk.%d.", n)
		for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
			list = append(list, shape{layer + name + ".weight", []int{dim, dim}, false}, shape{layer + name + ".bias", []int{dim}, true})
		}
		for _, name := range []string{"attn_output_norm", "layer_output_norm"} {
			list = append(list, shape{layer + name + ".weight", []int{dim}, false}, shape{layer + name + ".bias", []int{dim}, false})
		}
		list = append(list,
			shape{layer + "ffn_up.weight", []int{dim, forward}, false}, shape{layer + "ffn_up.bias", []int{forward}, true},
			shape{layer + "ffn_down.weight", []int{forward, dim}, false}, shape{layer + "ffn_down.bias", []int{dim}, true})
	}
	return list
}
