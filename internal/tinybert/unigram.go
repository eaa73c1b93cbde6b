package tinybert

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"
)

// The special tokens of a SentencePiece vocabulary, in the order of XLM-RoBERTa's.
const (
	beginPiece = iota
	padPiece
	endPiece
	unknownPiece
	specialPieces // how many there are
)

// Pieces is the vocabulary of a model whose tokenizer is "t5": special tokens, the space,
// the printable ASCII characters, two others, and the words and suffixes of [Tokens]. A word
// begins with a space, as SentencePiece writes it.
func Pieces() []string {
	pieces := []string{"<s>", "<pad>", "</s>", "<unk>", boundary}
	for c := '!'; c <= '~'; c++ {
		pieces = append(pieces, string(c))
	}
	pieces = append(pieces, "é", "猫")
	for word := range strings.FieldsSeq(words) {
		if len(word) > 1 {
			pieces = append(pieces, boundary+word)
		}
	}
	for suffix := range strings.FieldsSeq(suffixes) {
		pieces = append(pieces, suffix)
	}
	return append(pieces, "<mask>")
}

// unigramMeta are the keys of the tokenizer "t5", which prefers the pieces with the higher
// scores: those of several characters.
func unigramMeta(pieces []string) []Meta {
	types, scores := make([]int32, len(pieces)), make([]float32, len(pieces))
	for i, piece := range pieces {
		switch {
		case i == unknownPiece:
			types[i] = 2 // unknown
		case i < specialPieces || piece == "<mask>":
			types[i] = 3 // control
		case len([]rune(piece)) == 1:
			types[i], scores[i] = 1, -20
		default:
			types[i], scores[i] = 1, -10
		}
	}
	return []Meta{
		{Key: "tokenizer.ggml.model", Value: "t5"},
		{Key: "tokenizer.ggml.pre", Value: "default"},
		{Key: "tokenizer.ggml.token_type_count", Value: uint32(2)},
		{Key: "tokenizer.ggml.tokens", Value: pieces},
		{Key: "tokenizer.ggml.scores", Value: scores},
		{Key: "tokenizer.ggml.token_type", Value: types},
		{Key: "tokenizer.ggml.add_space_prefix", Value: true},
		{Key: "tokenizer.ggml.remove_extra_whitespaces", Value: true},
		{Key: "tokenizer.ggml.precompiled_charsmap",
			Value: Charsmap(map[string]string{"Ａ": "A", "Ｂ": "B", "ﬁ": "fi", "\t": " "})},
		{Key: "tokenizer.ggml.bos_token_id", Value: uint32(beginPiece)},
		{Key: "tokenizer.ggml.eos_token_id", Value: uint32(endPiece)},
		{Key: "tokenizer.ggml.unknown_token_id", Value: uint32(unknownPiece)},
		{Key: "tokenizer.ggml.padding_token_id", Value: uint32(padPiece)},
		{Key: "tokenizer.ggml.add_bos_token", Value: true},
		{Key: "tokenizer.ggml.add_eos_token", Value: true},
	}
}

// Charsmap is what SentencePiece normalises characters by: a double array, and the strings
// that its leaves lead to. Here every node of the trie has 256 places of its own.
func Charsmap(to map[string]string) []byte {
	const size = 256
	nodes := make([]uint32, 2*size)
	nodes[0] = size << 10 // where the first bytes are
	var all []byte
	inner := map[string]uint32{"": size} // where the bytes after a prefix are
	for _, from := range slices.Sorted(maps.Keys(to)) {
		at := uint32(size)
		for i := range len(from) {
			prefix, place := from[:i+1], at^uint32(from[i])
			next, known := inner[prefix]
			if !known {
				next = uint32(len(nodes))
				inner[prefix] = next
				nodes = append(nodes, make([]uint32, size)...)
				nodes[place] = (place^next)<<10 | uint32(from[i])
			}
			if prefix == from {
				nodes[place] |= 1 << 8
				nodes[next] = 1<<31 | uint32(len(all))
			}
			at = next
		}
		all = append(append(all, to[from]...), 0)
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(4*len(nodes)))
	for _, n := range nodes {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return append(b, all...)
}
