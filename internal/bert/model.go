// Package bert turns texts into vectors with a BERT embedding model of a GGUF file, in this
// process and without native libraries.
//
// The forward pass is that of Devlin et al., "BERT: Pre-training of Deep Bidirectional
// Transformers for Language Understanding" (2019), section 3, in the form that llama.cpp
// runs, so that both make the same vectors within 1e-4: embeddings of token, position and
// the first token type, layers of attention and of a GELU in the tanh form with a layer norm
// after each, the mean of all tokens or the first one, scaled to unit length.
//
// # What holds
//
// Texts go through one at a time, so a vector's bits depend on the model, the text and the
// processor, never on what else is embedded at the time. A text that is too long for the
// model is embedded by its beginning. A vector has the length 1; where weights are so broken
// that there is none, that is an error. Weights stay in memory as they are in the file, and
// are widened a few rows at a time when they are used.
//
// # Sharing
//
// A Model may be used by any number of goroutines. Some of them compute at once, each on
// memory of its own, and the others wait.
package bert

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"emberd/internal/gguf"
	"emberd/internal/wordpiece"
)

// ErrClosed is what Embed returns after Close.
var ErrClosed = errors.New("the embedding model is closed")

// defaultMaxTokens is how much of a text is embedded where Options do not say. The models
// that most people embed with were trained on texts of 128 to 256 tokens.
const defaultMaxTokens = 256

// Options are how a model is used. The zero value is good.
type Options struct {
	MaxTokens int // of a text, with those of its ends: 3 or more, 0 for 256; the model may allow fewer
}

// A Model is a model file that was read.
type Model struct {
	path    string
	facts   gguf.Facts
	limit   int
	content atomic.Pointer[content] // nil after Close
}

// content is what takes memory.
type content struct {
	*weights
	tokenizer *wordpiece.Tokenizer
	free      chan *scratch // one for each text that may be embedded at once, nil before its first
}

// The texts that are embedded at once: one for each processor, but always a second, so
// that no long text holds up a short one, and never so many that their memory matters.
const (
	minAtOnce = 2
	maxAtOnce = 8
)

// Open reads a model file. One that is refused is a [gguf.RefusedError].
func Open(path string, opt *Options) (*Model, error) {
	if opt == nil {
		opt = &Options{}
	}
	limit := cmp.Or(opt.MaxTokens, defaultMaxTokens)
	if limit < 3 {
		return nil, fmt.Errorf("invalid token limit %d; use 3 or more, because the limit includes the two end tokens",
			limit)
	}
	f, facts, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	c, err := load(f, facts)
	if err != nil {
		return nil, err
	}
	m := &Model{path: path, facts: *facts, limit: min(limit, facts.Context)}
	m.content.Store(c)
	return m, nil
}

// Preflight checks whether Open would take a model file, but for the numbers in it, without the
// time and memory that it takes to load.
func Preflight(path string) (*gguf.Facts, error) {
	f, facts, err := open(path)
	if err != nil {
		return nil, err
	}
	return facts, f.Close()
}

// open opens a file that this package can do something with.
func open(path string) (*gguf.File, *gguf.Facts, error) {
	f, err := gguf.Open(path)
	if err != nil {
		return nil, nil, err
	}
	facts, err := f.BERT()
	if err == nil {
		err = usable(f, facts)
	}
	if err == nil {
		facts.SHA256, err = f.SHA256()
	}
	if err != nil {
		f.Close() // only read from
		return nil, nil, err
	}
	return f, facts, nil
}

// usable refuses a model that is sound, but for another engine.
func usable(f *gguf.File, facts *gguf.Facts) error {
	if facts.Pooling == gguf.Last {
		return f.Unfit("the model uses last-token pooling, but this runtime supports only mean and cls pooling")
	}
	if facts.Tokenizer != modelOfWordPiece {
		return f.Unfit("the tokenizer of the model is %.40q%s, but this runtime supports only %q (WordPiece)",
			facts.Tokenizer, kindred(facts.Tokenizer), modelOfWordPiece)
	}
	return f.Readable()
}

// modelOfWordPiece is what a file calls the tokenizer that package wordpiece is.
const modelOfWordPiece = "bert"

// kindred reports which models have a tokenizer.
func kindred(tokenizer string) string {
	switch tokenizer {
	case "t5":
		return " (SentencePiece, for example in XLM-RoBERTa and most multilingual models)"
	case "gpt2":
		return " (byte pairs, for example in RoBERTa)"
	default:
		return ""
	}
}

func load(f *gguf.File, facts *gguf.Facts) (*content, error) {
	tokenizer := wordpiece.New(f, facts)
	weights, err := readWeights(f, facts)
	if err != nil {
		return nil, err
	}
	c := &content{weights: weights, tokenizer: tokenizer}
	atOnce := min(max(minAtOnce, runtime.GOMAXPROCS(0)), maxAtOnce)
	c.free = make(chan *scratch, atOnce)
	for range atOnce {
		c.free <- nil
	}
	return c, nil
}

// Close releases the weights. Texts that are being embedded are finished first, by the goroutine that
// embeds them; the memory is free after the garbage collection that follows.
func (m *Model) Close() error {
	m.content.Store(nil)
	return nil
}

// Name is what the model's maker calls it, maybe nothing.
func (m *Model) Name() string { return m.facts.Name }

// Dim is the number of elements of its vectors.
func (m *Model) Dim() int { return m.facts.Dim }

// Pooling is how the vectors of a text's tokens become the text's: "mean" or "cls".
func (m *Model) Pooling() string { return m.facts.Pooling.String() }

// MaxTokens is how many tokens of a text are embedded, with those of its ends.
func (m *Model) MaxTokens() int { return m.limit }

// SHA256 is the digest of the model's file in lower-case hex.
func (m *Model) SHA256() string { return m.facts.SHA256 }

// Tokens is how many tokens the whole of a text has, with those of its ends; 0 after Close.
func (m *Model) Tokens(text string) int {
	c := m.content.Load()
	if c == nil {
		return 0
	}
	return len(c.tokenizer.Tokens(text, 0))
}
