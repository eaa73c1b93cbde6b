package llama

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"sync"

	"emberd/internal/gguf"
	"emberd/internal/llamawire"
	"emberd/internal/wordpiece"
)

// defaultMaxTokens is how much of a text is embedded where Options do not say.
const defaultMaxTokens = 256

// minMaxTokens are the two ends of a text and something between them.
const minMaxTokens = 3

// Options are how a model is used. The zero value is good.
type Options struct {
	MaxTokens int // of a text, with those of its ends: 3 or more, 0 for 256; the model may allow fewer
}

// A Model is a model that llama.cpp has loaded.
type Model struct {
	engine *Engine
	facts  gguf.Facts
	limit  int
	words  *wordpiece.Tokenizer // nil for a model of SentencePiece, whose texts llama.cpp cuts

	mu      sync.Mutex // held while llama.cpp works
	model   pointer    // 0 after Close
	vocab   pointer
	context pointer
	arrays  *arrays
	threads int // as the context has it
}

// Load loads a model's file and embeds a first text, so that a model that was loaded works.
func (e *Engine) Load(path string, opt Options) (*Model, error) {
	limit := cmp.Or(opt.MaxTokens, defaultMaxTokens)
	if limit < minMaxTokens {
		return nil, failed(llamawire.OfModel,
			"the limit of %d tokens per text is too small; use at least %d, including the begin and end tokens", limit,
			minMaxTokens)
	}
	before, err := os.Stat(path)
	if err != nil {
		return nil, failed(llamawire.OfFile, "cannot read the model file: %v", err)
	}
	facts, err := gguf.PreflightNative(path)
	if err != nil {
		return nil, unfit(err)
	}
	m := &Model{engine: e, facts: *facts, limit: min(limit, facts.Context)}
	if m.words, err = readWords(path, facts); err != nil {
		return nil, unfit(err)
	}
	if err := m.load(path); err != nil {
		m.Close()
		return nil, err
	}
	after, err := os.Stat(path)
	if err != nil || !os.SameFile(before, after) || before.Size() != after.Size() ||
		!before.ModTime().Equal(after.ModTime()) {
		m.Close()
		return nil, failed(llamawire.OfFile, "model file %s changed while emberd loaded it; load the file again", path)
	}
	return m, nil
}

// readWords returns the tokenizer of a file that was checked, or nil if it is not WordPiece.
func readWords(path string, facts *gguf.Facts) (*wordpiece.Tokenizer, error) {
	if facts.Tokenizer != "bert" {
		return nil, nil
	}
	f, err := gguf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	return wordpiece.New(f, facts), nil
}

// unfit distinguishes a file that is refused from one that could not be read.
func unfit(err error) error {
	if refused, ok := errors.AsType[*gguf.RefusedError](err); ok {
		return failed(llamawire.OfModel, "%v", refused)
	}
	return failed(llamawire.OfFile, "%v", err)
}

func (m *Model) load(path string) error {
	lib, journal := m.engine.lib, m.engine.journal
	journal.forget()
	if m.model = lib.modelLoad(path, lib.modelDefaults().trim()); m.model == 0 {
		return m.refused("cannot load model file "+path, journal.firstError())
	}
	m.vocab = lib.modelVocab(m.model)
	if dim, context := int(lib.modelDim(m.model)), int(lib.modelContext(m.model)); dim != m.facts.Dim ||
		context != m.facts.Context {
		return m.refused("reads wrong values from model file "+path,
			fmt.Sprintf("%d dimensions and %d tokens instead of %d and %d", dim, context, m.facts.Dim, m.facts.Context))
	}
	if lib.modelHasEncoder(m.model) && lib.modelHasDecoder(m.model) {
		return m.refused("reports an unsupported kind of model in "+path, "the model has both an encoder and a decoder")
	}
	if err := m.newContext(); err != nil {
		return err
	}
	if _, _, _, err := m.Embed("a", 1); err != nil {
		return m.refused("cannot embed with model file "+path, err.Error())
	}
	return nil
}

// newContext makes what texts are embedded in, and checks that it is what was asked for.
func (m *Model) newContext() error {
	lib := m.engine.lib
	m.arrays = newArrays(max(m.limit, fill))
	n := uint32(len(m.arrays.tokens))
	const unit = 256 // what llama.cpp rounds the tokens of a sequence up to
	p := lib.contextDefaults().trim()
	want := head{Tokens: 2 * unit * ((n + unit - 1) / unit), Batch: n, Microbatch: n, Sequences: 2}
	*p.head() = want
	if m.engine.release.slowFlash() {
		p.withoutFlash()
	}
	m.engine.journal.forget()
	if m.context = lib.contextNew(m.model, p); m.context == 0 {
		return m.refused("cannot compute embeddings with this model", m.engine.journal.firstError())
	}
	got := head{Tokens: want.Tokens, Batch: lib.nBatch(m.context), Microbatch: lib.nMicrobatch(m.context),
		Sequences: lib.nSequences(m.context)}
	if got != want {
		return m.engine.unusable(fmt.Errorf(
			"unsupported layout of the context parameters: emberd requested %v, but the context has %v", want, got))
	}
	if pooling := gguf.Pooling(lib.poolingType(m.context)); pooling != m.facts.Pooling {
		return m.refused("uses a different pooling type than the model file specifies",
			fmt.Sprintf("%v instead of %v", pooling, m.facts.Pooling))
	}
	lib.setEmbeddings(m.context, true)
	return nil
}

// refused is that these libraries do not get along with this model.
func (m *Model) refused(what, why string) error {
	if why == "" {
		why = "llama.cpp returned no reason"
	}
	return failed(llamawire.OfBoth, "%s %s: %.300s; use another model file; %s", m.engine.name(), what, why, remedy)
}

// Facts are what was loaded.
func (m *Model) Facts() llamawire.Model {
	return llamawire.Model{
		SHA256:    m.facts.SHA256,
		Dim:       m.facts.Dim,
		Context:   m.facts.Context,
		MaxTokens: m.limit,
		Pooling:   m.facts.Pooling.String(),
	}
}

// Close frees the model once the text that is being embedded is done. No text is embedded
// after it. It may be called again.
func (m *Model) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	lib := m.engine.lib
	if m.context != 0 { // first: it uses the model
		lib.contextFree(m.context)
	}
	if m.model != 0 {
		lib.modelFree(m.model)
	}
	if m.arrays != nil {
		m.arrays.pin.Unpin()
	}
	m.model, m.vocab, m.context, m.arrays = 0, 0, 0, nil
}
