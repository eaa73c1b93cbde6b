package gguf

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A family is an architecture, with the tensors that its models have.
type family struct {
	arch   string
	shapes func(*Facts) []shape
}

func (k family) key(name string) string { return k.arch + "." + name }

// key is the name of one of the keys that are named after the architecture.
func (f *Facts) key(name string) string { return f.Architecture + "." + name }

// berts are what the engine in Go runs.
func berts() []family { return []family{{"bert", bertShapes}} }

// natives are what llama.cpp runs and is known to end on no file of: more than the tests
// have tried are no family here.
func natives() []family {
	return []family{{"bert", bertShapes}, {"nomic-bert", nomicShapes}}
}

// family finds the one that the file belongs to.
func (f *File) family(among []family) (family, error) {
	arch, _ := f.String("general.architecture")
	var names []string
	for _, kin := range among {
		if kin.arch == arch {
			return kin, nil
		}
		names = append(names, fmt.Sprintf("%q", kin.arch))
	}
	verb := "is"
	if len(names) > 1 {
		verb = "are"
	}
	return family{},
		unfit("the architecture is %s; only %s %s supported", shown(arch), strings.Join(names, " and "), verb)
}

// Native checks that the file is an embedding model that llama.cpp loads and embeds with, or
// refuses in its own words: none of its assertions, which end the process, fails on it. It
// may be of other architectures, tokenizers and types of numbers than what [File.BERT] is
// asked for. The rules are those of llama.cpp b8390 and v0.5.0, read in their source and
// found by trying.
func (f *File) Native() (*Facts, error) {
	facts, err := f.check(natives())
	if err != nil {
		return nil, err
	}
	for _, rule := range []func(*Facts) error{
		f.checkTokenizer, f.checkParts, f.checkAlignment, f.checkLabels, f.checkExtent, f.checkRotation,
		f.checkOneVectorTypes,
	} {
		if err := rule(facts); err != nil {
			return nil, f.explain(err)
		}
	}
	return facts, nil
}

// orNative is what a file is refused for, with llama.cpp as the remedy where that takes it.
func (f *File) orNative(err error) error {
	refused, ok := errors.AsType[*RefusedError](err)
	if !ok || refused.Remedy == damagedRemedy {
		return err
	}
	if _, no := f.Native(); no != nil {
		return refused
	}
	if refused.Remedy == typeRemedy {
		refused.Remedy += "; or else " + nativeRemedy
	} else {
		refused.Remedy = nativeRemedy
	}
	return refused
}

// The tokenizers of llama.cpp that can be trusted, by the names that files have for them.
const (
	wordPiece = "bert"
	unigram   = "t5" // of SentencePiece, as in XLM-RoBERTa
)

const (
	beginKey    = "tokenizer.ggml.bos_token_id"
	charsmapKey = "tokenizer.ggml.precompiled_charsmap"
)

// beginOfBERT is the token that begins a text where no key says it, in BERT's own vocabulary.
const beginOfBERT = 101

// checkTokenizer checks what a tokenizer relies on beyond its tokens.
func (f *File) checkTokenizer(facts *Facts) error {
	switch facts.Tokenizer {
	case wordPiece:
		// llama.cpp does not read the key of older converters, and wants a token.
		if _, told := f.meta[beginKey]; !told && facts.Vocabulary <= beginOfBERT {
			return damaged("key %s is missing, and its default, token %d, does not exist", beginKey, beginOfBERT)
		}
		id, err := f.tokenOf(byteToken)
		if err == nil && id >= 0 {
			err = damaged("key %s marks token %d as a byte, but WordPiece has no byte tokens", kindsKey, id)
		}
		return err
	case unigram:
		return f.checkCharsmap()
	default:
		return unfit("the tokenizer is %s; only %q (WordPiece) and %q (SentencePiece) are supported",
			shown(facts.Tokenizer), wordPiece, unigram)
	}
}

// checkParts refuses a file that has other files read.
func (f *File) checkParts(*Facts) error {
	const key = "split.count"
	n, ok := f.Uint(key)
	if _, told := f.meta[key]; told && !ok {
		return damaged("key %s is not a number", key)
	}
	if n > 1 {
		return unfit("key %s is %d, so the file is only one part of a model", key, n)
	}
	return nil
}

// minAlignment is what ggml wants the numbers of a tensor to begin at a multiple of, in
// bytes, once the file is mapped.
const minAlignment = 32

func (f *File) checkAlignment(*Facts) error {
	if n, told := f.Uint(alignmentKey); told && n < minAlignment {
		return unfit("key %s is %d; llama.cpp requires at least %d", alignmentKey, n, minAlignment)
	}
	return nil
}

// checkLabels checks what llama.cpp reads as strings whatever it is a list of.
func (f *File) checkLabels(facts *Facts) error {
	key := facts.key("classifier.output_labels")
	if _, told := f.meta[key]; !told {
		return nil
	}
	if _, ok := f.Strings(key); !ok {
		return damaged("key %s is not a list of strings", key)
	}
	return nil
}

// checkExtent checks keys that BERT models do without, and that llama.cpp believes in any.
func (f *File) checkExtent(facts *Facts) error {
	for name, want := range map[string]int{
		"embedding_length_out": facts.Dim,
		"expert_count":         0, "expert_used_count": 0, "expert_group_count": 0, "expert_group_used_count": 0,
		"nextn_predict_layers": 0,
	} {
		_, told := f.meta[facts.key(name)]
		if n, ok := f.Uint(facts.key(name)); told && (!ok || n != uint64(want)) {
			return damaged("key %s is not %d, the value that embedding models of this kind require", facts.key(name),
				want)
		}
	}
	return nil
}

// checkRotation checks by what tokens are told their places, where vectors are turned for it.
func (f *File) checkRotation(facts *Facts) error {
	if kind, told := f.meta[facts.key("rope.scaling.type")]; told &&
		!slices.Contains([]any{"none", "linear", "yarn", "longrope"}, kind) {
		return damaged("key %s is not none, linear, yarn or longrope", facts.key("rope.scaling.type"))
	}
	size := facts.Dim / facts.Heads
	key := facts.key("rope.dimension_count")
	n, ok := f.Uint(key)
	if _, told := f.meta[key]; told && (!ok || n != uint64(size)) {
		return damaged("key %s is not %d, the size of an attention head", key, size)
	}
	if facts.Architecture == "nomic-bert" && size%2 != 0 {
		return damaged("the attention heads have %d dimensions, but rotary embeddings require an even number", size)
	}
	for _, name := range []string{"rope.freq_base", "rope.scaling.factor"} {
		v, told := f.meta[facts.key(name)]
		if x, ok := v.(float64); told && (!ok || !(x > 0) || math.IsInf(x, 0)) {
			return damaged("key %s is not a number greater than 0", facts.key(name))
		}
	}
	return nil
}

// checkOneVectorTypes checks the one table whose row is used as it is written.
func (f *File) checkOneVectorTypes(*Facts) error {
	const name = "token_types.weight"
	if t, ok := f.tensors[name]; ok && t.Type != F32 {
		return unfit("tensor %s has the type %s instead of F32", name, t.Type)
	}
	return nil
}
