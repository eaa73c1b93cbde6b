// Distil computes the table of static embeddings of package staticmodel from a BERT model:
//
//	go run . MODEL.gguf WORDNET TABLE
//
// MODEL is a file that "emberd model convert --type f32" made, WORDNET the folder of WordNet's database, whose
// definitions and examples the table is trained with. The same files give the same table, byte by byte, on
// processors that round alike.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"unicode"

	"emberd/internal/bert"
	"emberd/internal/gguf"
	"emberd/internal/staticmodel"
)

const (
	dim       = 256  // principal components that are kept
	smoothing = 3e-4 // the a of the smooth inverse frequency a / (a + p)
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "distil:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return errors.New("name the model's file, WordNet's folder and the table's file")
	}
	source, err := readSource(args[0])
	if err != nil {
		return err
	}
	sentences, err := readWordNet(args[1])
	if err != nil {
		return err
	}
	model, err := bert.Open(args[0], nil)
	if err != nil {
		return err
	}
	defer model.Close() // only read from
	table, err := source.table(model, sentences)
	if err != nil {
		return err
	}
	return source.write(args[2], table)
}

// source is what the table takes from the model's file besides numbers.
type source struct {
	header staticmodel.Header
	tokens []string // that the table has
	ids    []int32  // of these in the model
}

func readSource(path string) (*source, error) {
	f, err := gguf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	all, ok := f.Strings("tokenizer.ggml.tokens")
	if !ok {
		return nil, errors.New("the model's file has no vocabulary")
	}
	s := &source{header: staticmodel.Header{Dim: dim}}
	s.header.Name, _ = f.String("general.name")
	s.header.Licence, _ = f.String("general.license")
	s.header.Source, _ = f.String("general.source.sha256")
	for id, token := range all {
		if latin(token) {
			s.tokens, s.ids = append(s.tokens, token), append(s.ids, int32(id))
		}
	}
	s.header.Tokens = len(s.tokens)
	return s, nil
}

// latin reports whether all letters of a token are Latin and the token is part of a text: marks
// like [CLS] and [unused1] are not.
func latin(token string) bool {
	if strings.HasPrefix(token, "[") && len(token) > 1 {
		return false
	}
	for _, r := range strings.TrimPrefix(token, "\u2581") {
		if r > unicode.MaxASCII && !(unicode.Is(unicode.Latin, r) || unicode.IsPunct(r) || unicode.IsSymbol(r)) {
			return false
		}
	}
	return true
}

// table returns the vector of each token, a row each. Training begins with those of the tokens alone.
func (s *source) table(model *bert.Model, sentences []string) ([]float32, error) {
	alone, err := tokenVectors(model, s.ids)
	if err != nil {
		return nil, err
	}
	vectors, err := textVectors(model, sentences)
	if err != nil {
		return nil, err
	}
	base, err := components(vectors)
	if err != nil {
		return nil, err
	}
	wants, table := base.project(vectors), base.project(alone)
	texts := append(s.texts(sentences, wants), tokensAlone(table)...)
	s.weigh(table)
	train(table, dim, texts)
	return table, nil
}

// weigh scales the vector of each token by its smooth inverse frequency. The vocabulary is in the
// order of frequency, which is taken to fall as Zipf and Mandelbrot have it: 1 / (rank + 2.7).
func (s *source) weigh(table []float32) {
	const shift = 2.7
	total := 0.0
	for i := range s.tokens {
		total += 1 / (float64(i+1) + shift)
	}
	for i := range s.tokens {
		p := 1 / (float64(i+1) + shift) / total
		scaleBy(table[i*dim:][:dim], float32(smoothing/(smoothing+p)))
	}
}

func (s *source) write(path string, table []float32) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	header, err := json.Marshal(s.header)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "emberd static embeddings 1\n%s\n%s\n", header, strings.Join(s.tokens, "\n"))
	scales, bytes := rounded(table)
	err = errors.Join(binary.Write(w, binary.LittleEndian, scales), binary.Write(w, binary.LittleEndian, bytes))
	return errors.Join(err, w.Flush(), f.Close())
}

// rounded brings each row to bytes and a scale.
func rounded(table []float32) (scales []float32, bytes []int8) {
	for from := 0; from < len(table); from += dim {
		row, most := table[from:][:dim], 0.0
		for _, x := range row {
			most = max(most, math.Abs(float64(x)))
		}
		scale := float32(most / math.MaxInt8)
		scales = append(scales, scale)
		for _, x := range row {
			bytes = append(bytes, int8(math.RoundToEven(float64(x)/float64(scale))))
		}
	}
	return scales, bytes
}
