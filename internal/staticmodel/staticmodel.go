// Package staticmodel makes vectors of texts by looking up a vector for each of their tokens and
// adding these up. The tokens' vectors were computed once by a language model, so words that mean
// about the same are near each other, and a text takes microseconds. What a word means beside
// others, and the order of words, is lost. The method is that of Model2Vec (Tulkens and van
// Dongen, "Model2Vec: Fast State-of-the-Art Static Embeddings", 2024): each token through the
// model alone, principal components, a lower weight for frequent tokens, by the smooth inverse
// frequency of Arora, Liang and Ma ("A Simple but Tough-to-Beat Baseline for Sentence
// Embeddings", ICLR 2017), and training with the model's vectors of texts.
//
// # The file
//
// A line with the name of the format, a line with a [Header] as JSON, the vocabulary with a
// token a line, a float32 (little-endian) for each token that scales its vector, and the
// vectors, with a signed byte for each number.
//
// # The table in this program
//
// [Default] is made of all-MiniLM-L6-v2 by tools/distil; ORIGIN.md says how and with what
// licence. It knows English and the letters of other languages in Latin script. Words in other
// scripts are unknown to it.
package staticmodel

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"

	"emberd/internal/wordpiece"
)

// A Header describes a file.
type Header struct {
	Name    string `json:"name"`    // of the model that the vectors were computed by
	Source  string `json:"source"`  // SHA-256 of that model's weights, in hex
	Licence string `json:"licence"` // of that model, by its SPDX name
	Dim     int    `json:"dim"`
	Tokens  int    `json:"tokens"`
}

// magic is the first line of a file. Its number changes with the form or with how tokens are cut.
const magic = "emberd static embeddings 1\n"

// A Table has the vectors. It never changes and may be used by any number of goroutines.
type Table struct {
	Header
	digest    string
	tokenizer *wordpiece.Tokenizer
	scales    []float32
	rows      []byte // signed
}

//go:embed minilm.bin
var embedded []byte

// Default is the table that is part of this program.
var Default = sync.OnceValue(func() *Table {
	t, err := Parse(embedded)
	if err != nil {
		panic(fmt.Sprintf("the table of static embeddings in this program: %v", err))
	}
	return t
})

// maxTokenBytes is more than any token takes of a text, but for words without end.
const maxTokenBytes = 64

// The bounds of a file. A table of more would be another kind of model.
const (
	maxDim    = 4096
	maxTokens = 1 << 20
)

// Parse reads a file, of which the table keeps parts.
func Parse(file []byte) (*Table, error) {
	rest, ok := bytes.CutPrefix(file, []byte(magic))
	line, rest, ended := bytes.Cut(rest, []byte("\n"))
	if !ok || !ended {
		return nil, fmt.Errorf("it does not begin with %q and a description line", strings.TrimSpace(magic))
	}
	sum := sha256.Sum256(file)
	t := &Table{digest: hex.EncodeToString(sum[:])}
	if err := json.Unmarshal(line, &t.Header); err != nil {
		return nil, fmt.Errorf("its description cannot be read: %w", err)
	}
	if t.Dim < 1 || t.Dim > maxDim || t.Tokens < 1 || t.Tokens > maxTokens {
		return nil, fmt.Errorf("it has %d tokens of %d dimensions (limits %d and %d)", t.Tokens, t.Dim, maxTokens,
			maxDim)
	}
	rest, err := t.vocabulary(rest)
	if err != nil {
		return nil, err
	}
	return t, t.numbers(rest)
}

// vocabulary reads the tokens and returns what follows them.
func (t *Table) vocabulary(rest []byte) ([]byte, error) {
	tokens := make([]string, t.Tokens)
	for i := range tokens {
		token, after, ok := bytes.Cut(rest, []byte("\n"))
		if !ok || len(token) == 0 {
			return nil, fmt.Errorf("token %d of %d is missing", i, t.Tokens)
		}
		tokens[i], rest = string(token), after
	}
	t.tokenizer = wordpiece.Of(tokens)
	return rest, nil
}

const scaleBytes = 4

func (t *Table) numbers(rest []byte) error {
	if want := t.Tokens * (scaleBytes + t.Dim); len(rest) != want {
		return fmt.Errorf("it has %d bytes of vectors instead of %d", len(rest), want)
	}
	t.scales, t.rows = make([]float32, t.Tokens), rest[t.Tokens*scaleBytes:]
	for i := range t.scales {
		t.scales[i] = math.Float32frombits(binary.LittleEndian.Uint32(rest[i*scaleBytes:]))
		if scale := float64(t.scales[i]); !(scale >= 0) || math.IsInf(scale, 0) {
			return fmt.Errorf("the scale of token %d is negative or not finite", i)
		}
	}
	return nil
}

// SHA256 is the digest of the file in lower-case hex.
func (t *Table) SHA256() string { return t.digest }

// Count returns how many tokens a text has.
func (t *Table) Count(text string) int { return len(t.tokenizer.Tokens(text, 0)) - ends }

// Knows reports whether the vocabulary has a word as one token, as it has some 23,000 frequent English words and
// names.
func (t *Table) Knows(word string) bool { return t.Place(word) >= 0 }

// Place returns the place of a word in the vocabulary, or -1 if it is no single token. The vocabulary has words
// in the order of their frequency in English, after some 300 signs and letters.
func (t *Table) Place(word string) int {
	tokens := t.tokenizer.Tokens(word, 0)
	if len(tokens) != 1+ends || tokens[1] == wordpiece.None {
		return -1
	}
	return int(tokens[1])
}

// ends are the marks that the tokenizer sets around a text.
const ends = 2

// Embed returns the vector of a text's first limit tokens, of length 1. It is nil for a text of
// which the vocabulary does not know three quarters, such as one in Chinese with a few English words.
func (t *Table) Embed(text string, limit int) []float32 {
	tokens := t.tokenizer.Tokens(text[:min(len(text), limit*maxTokenBytes)], limit+ends)
	tokens = tokens[1 : len(tokens)-1]
	sum, known := make([]float32, t.Dim), 0
	for _, token := range tokens {
		if token != wordpiece.None {
			t.add(sum, int(token))
			known++
		}
	}
	if 4*known < 3*len(tokens) || !unit(sum) {
		return nil
	}
	return sum
}

func (t *Table) add(sum []float32, token int) {
	row, scale := t.rows[token*t.Dim:][:len(sum)], t.scales[token]
	for i, b := range row {
		sum[i] += scale * float32(int8(b))
	}
}

// unit scales a vector to the length 1, and reports whether it has a direction.
func unit(v []float32) bool {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if !(square > 0) || math.IsInf(square, 1) {
		return false
	}
	scale := float32(1 / math.Sqrt(square))
	for i := range v {
		v[i] *= scale
	}
	return true
}
