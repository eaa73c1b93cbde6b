package gguf

import (
	"encoding/binary"
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
	Architecture string // "bert", or another that [File.Native] takes
	Name         string // as its maker calls it, printable, of 100 characters at most, maybe empty
	Licence      string // as the file names it, in the same way
	Tokenizer    string // "bert" for WordPiece, which llama.cpp calls WPM, "t5" for SentencePiece
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
	// not in the vocabulary. Only a text of SentencePiece may do without the first two, -1.
	Begin, End, Unknown int32

	// Whether WordPiece keeps capital letters and accents.
	Cased, Accented bool

	Size   int64  // of the file, bytes
	SHA256 string // of the file, lower-case hex; empty from [File.BERT] and [File.Native]
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

const (
	tokensKey = "tokenizer.ggml.tokens"
	kindsKey  = "tokenizer.ggml.token_type" // of each token, by llama.cpp's numbers
)

// Kinds of tokens that are not like the others.
const (
	userDefined = 4 // looked for in a text before it is cut into words
	byteToken   = 6 // stands for a byte that no other token has
)

// Preflight opens a model file, checks all of it but the weights themselves, and closes it.
func Preflight(path string) (*Facts, error) { return preflight(path, (*File).BERT) }

// PreflightNative is Preflight for llama.cpp, which takes more (see [File.Native]).
func PreflightNative(path string) (*Facts, error) { return preflight(path, (*File).Native) }

func preflight(path string, check func(*File) (*Facts, error)) (*Facts, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	facts, err := check(f)
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
// shape it must have. What it refuses is a [RefusedError], which tells of llama.cpp where
// [File.Native] would take the file.
func (f *File) BERT() (*Facts, error) {
	facts, err := f.check(berts())
	if err == nil {
		err = f.checkUserDefined(facts)
	}
	if err != nil {
		return nil, f.orNative(err)
	}
	return facts, nil
}

// checkUserDefined refuses tokens that this WordPiece would cut otherwise than llama.cpp does. The
// vectors of one model are to be the same from both.
func (f *File) checkUserDefined(facts *Facts) error {
	if facts.Tokenizer != wordPiece {
		return nil
	}
	id, err := f.tokenOf(userDefined)
	if err == nil && id >= 0 {
		err = unfit("token %d has type %d (matched before the text is split "+
			"into words), which the built-in runtime does not support", id, userDefined)
	}
	if err != nil {
		return f.explain(err)
	}
	return nil
}

// tokenOf is the first token of a kind, -1 if there is none.
func (f *File) tokenOf(kind uint32) (int, error) {
	list, ok := f.meta[kindsKey].(array)
	if !ok {
		return -1, nil
	}
	kinds := make([]byte, 4*list.count)
	if _, err := f.file.ReadAt(kinds, list.at); err != nil {
		return -1, err
	}
	for id := range list.count {
		if binary.LittleEndian.Uint32(kinds[4*id:]) == kind {
			return id, nil
		}
	}
	return -1, nil
}

// check checks all that there is to check of a model of one of the families.
func (f *File) check(families []family) (*Facts, error) {
	kin, err := f.family(families)
	if err != nil {
		return nil, f.explain(err)
	}
	facts, err := f.facts(kin)
	if err == nil {
		err = f.checkVocabulary(facts)
	}
	if err == nil {
		err = f.checkRepeats(facts)
	}
	if err == nil {
		err = f.checkTensors(facts, kin)
	}
	if err != nil {
		return nil, f.explain(err)
	}
	return facts, nil
}

func (f *File) facts(kin family) (*Facts, error) {
	facts := &Facts{Architecture: kin.arch, Size: f.size}
	name, _ := f.String("general.name")
	facts.Name = label(name)
	licence, _ := f.String("general.license")
	facts.Licence = label(licence)
	for _, n := range []struct {
		key   string
		to    *int
		least int
		most  int
	}{
		{kin.key("block_count"), &facts.Layers, 1, maxLayers},
		{kin.key("embedding_length"), &facts.Dim, 1, maxDim},
		{kin.key("attention.head_count"), &facts.Heads, 1, maxDim},
		{kin.key("feed_forward_length"), &facts.FeedForward, 1, maxForward},
		{kin.key("context_length"), &facts.Context, 3, maxContext},
		{"tokenizer.ggml.token_type_count", &facts.TokenTypes, 1, maxTokenTypes},
	} {
		v, ok := f.Uint(n.key)
		if !ok {
			return nil, damaged("key %s is missing or not a number", n.key)
		}
		if v < uint64(n.least) || v > uint64(n.most) {
			return nil, damaged("key %s has the value %d, which is out of range (%d to %d)", n.key, v, n.least, n.most)
		}
		*n.to = int(v)
	}
	if facts.Dim%facts.Heads != 0 {
		return nil, damaged("the number of attention heads (%d) does not divide the number of dimensions (%d)",
			facts.Heads, facts.Dim)
	}
	return facts, f.kind(facts, kin)
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

// kind checks the keys that say which sort of model it is.
func (f *File) kind(facts *Facts, kin family) error {
	key := kin.key("attention.layer_norm_epsilon")
	epsilon, _ := f.Float(key)
	if facts.Epsilon = float32(epsilon); !(facts.Epsilon > 0 && facts.Epsilon <= maxEpsilon) {
		return damaged("key %s must be a number greater than 0 and at most %g", key, maxEpsilon)
	}
	key = kin.key("attention.causal")
	if causal, _ := f.Bool(key); causal {
		return unfit("key %s is true, so the model generates text instead of embeddings", key)
	}
	key = kin.key("pooling_type")
	pooling, ok := f.Uint(key)
	switch facts.Pooling = Pooling(min(pooling, math.MaxUint32)); {
	case !ok:
		return unfit("key %s is missing, so the pooling method for embeddings is unknown", key)
	case facts.Pooling == rank:
		return unfit("key %s is %d, so the model ranks texts instead of embedding them", key, pooling)
	case facts.Pooling != Mean && facts.Pooling != CLS && facts.Pooling != Last:
		return unfit("key %s is %d; supported values are 1 (mean), 2 (cls) and 3 (last)", key, pooling)
	}
	return nil
}

// checkVocabulary checks the tokens, and the ids that the tokenizer needs.
func (f *File) checkVocabulary(facts *Facts) error {
	if facts.Tokenizer, _ = f.String("tokenizer.ggml.model"); facts.Tokenizer == "" {
		return damaged("key tokenizer.ggml.model is missing")
	}
	tokens, ok := f.Strings(tokensKey)
	if !ok || len(tokens) == 0 || len(tokens) > maxVocabulary {
		return damaged("key %s is not a list of 1 to %d tokens", tokensKey, maxVocabulary)
	}
	facts.Vocabulary = len(tokens)
	seen := make(map[string]int, len(tokens))
	for id, token := range tokens {
		before, twice := seen[token]
		switch {
		case token == "":
			return damaged("token %d is empty", id)
		case strings.ContainsRune(token, 0): // where llama.cpp ends it
			return damaged("token %d contains a zero byte", id)
		case len(token) > maxToken:
			return damaged("token %d has %d bytes (limit %d)", id, len(token), maxToken)
		case twice:
			return damaged("tokens %d and %d have the same text %s", before, id, shown(token))
		}
		seen[token] = id
	}
	return f.specials(facts)
}

// A special is a token that stands for something, with the keys that may have its id.
type special struct {
	keys []string
	or   uint64 // where the file does not say, as in llama.cpp
	to   *int32
}

const none = math.MaxUint64 // no token

// specials finds the ids of the special tokens. Converters before 2025 wrote that of the
// beginning of BERT's texts as cls_token_id alone.
func (f *File) specials(facts *Facts) error {
	const unknown = "tokenizer.ggml.unknown_token_id"
	if facts.Tokenizer != unigram {
		lower, told := f.Bool("tokenizer.ggml.normalizer.lowercase")
		facts.Cased = told && !lower
		strip, told := f.Bool("tokenizer.ggml.normalizer.strip_accents")
		facts.Accented = told && !strip || !told && facts.Cased
		return f.find(facts, []special{
			{[]string{beginKey, "tokenizer.ggml.cls_token_id"}, beginOfBERT, &facts.Begin},
			{[]string{"tokenizer.ggml.seperator_token_id"}, 102, &facts.End}, // spelled as the format spells it
			{[]string{unknown}, 100, &facts.Unknown},
		})
	}
	facts.Begin, facts.End = -1, -1
	list := []special{{[]string{unknown}, 2, &facts.Unknown}}
	if add, _ := f.Bool("tokenizer.ggml.add_bos_token"); add {
		list = append(list, special{[]string{beginKey}, none, &facts.Begin})
	}
	if add, told := f.Bool("tokenizer.ggml.add_eos_token"); add || !told {
		list = append(list, special{[]string{"tokenizer.ggml.eos_token_id"}, 1, &facts.End})
	}
	return f.find(facts, list)
}

// find fills in ids, each that of a token.
func (f *File) find(facts *Facts, list []special) error {
	for _, special := range list {
		key, id, ok := special.keys[0], special.or, true
		for _, k := range slices.Backward(special.keys) {
			if _, told := f.meta[k]; told {
				key = k
				id, ok = f.Uint(k)
			}
		}
		if !ok || id >= uint64(facts.Vocabulary) {
			return damaged("key %s is not the index of one of the %d tokens", key, facts.Vocabulary)
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
		{facts.key("vocab_size"), facts.Vocabulary},
		{facts.key("attention.head_count_kv"), facts.Heads},
		{facts.key("attention.key_length"), facts.Dim / facts.Heads},
		{facts.key("attention.value_length"), facts.Dim / facts.Heads},
	} {
		_, told := f.meta[repeat.key]
		if n, ok := f.Uint(repeat.key); told && (!ok || n != uint64(repeat.want)) {
			return damaged("key %s is not %d, the value that other keys require", repeat.key, repeat.want)
		}
	}
	for key, kind := range map[string]uint32{kindsKey: typeInt32, "tokenizer.ggml.scores": typeFloat32} {
		value, told := f.meta[key]
		if list, ok := value.(array); told && (!ok || list.kind != kind || list.count != facts.Vocabulary) {
			return damaged("key %s does not contain one number for each of the %d tokens", key, facts.Vocabulary)
		}
	}
	return nil
}
