package tinybert

import (
	"slices"
	"strings"
)

// The tokens that every vocabulary begins with.
const (
	pad = iota
	unk
	cls
	sep
	mask
	specials // how many there are
)

// boundary begins a token that begins a word; a token without it continues one.
const boundary = "\u2581"

// words are the whole words, the tokens from 109 on.
const words = `the of and to in is it for on with as are this that be by from at or an not was have all
note notes memory vault file folder link search find query word text title property date time evening week
month year today project work plan task meeting person team name home house garden water tree food
bread coffee music book read write learn idea question answer code error test server data model
system cat animal`

// suffixes are continuations of words.
const suffixes = "ing ed er ly tion ness ment able less ful"

// Tokens is the vocabulary that a model begins with: five special tokens, the printable ASCII
// characters but the capital letters as words of their own, letters and digits as
// continuations, whole words and suffixes. Words outside of it are spelled in letters.
func Tokens() []string {
	tokens := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
	for c := '!'; c <= '~'; c++ {
		if c < 'A' || c > 'Z' {
			tokens = append(tokens, boundary+string(c))
		}
	}
	for _, c := range "abcdefghijklmnopqrstuvwxyz0123456789" {
		tokens = append(tokens, string(c))
	}
	for word := range strings.FieldsSeq(words) {
		tokens = append(tokens, boundary+word)
	}
	return slices.AppendSeq(tokens, strings.FieldsSeq(suffixes))
}

// tokens are those that were asked for, and words that no text has where they are too few.
func (s Spec) tokens() []string {
	tokens := slices.Clone(s.Tokens)
	switch {
	case tokens == nil && s.Tokenizer == unigram:
		tokens = Pieces()
	case tokens == nil:
		tokens = Tokens()
	}
	for n := len(tokens); n < s.Vocabulary; n++ {
		tokens = append(tokens, boundary+madeUp(n))
	}
	return tokens
}

// madeUp is the n-th of a sequence of words that differ.
func madeUp(n int) string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var word strings.Builder
	word.WriteString("q")
	for ; n > 0; n /= len(consonants) * len(vowels) {
		syllable := n % (len(consonants) * len(vowels))
		word.WriteString(consonants[syllable/len(vowels):][:1] + vowels[syllable%len(vowels):][:1])
	}
	return word.String()
}
