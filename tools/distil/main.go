// Distil computes the table of static embeddings of package staticmodel from a BERT model:
//
//	go run . MODEL.gguf TABLE
//
// MODEL is a file that "emberd model convert --type f32" made. The same file gives the same table,
// byte by byte, on processors that round alike.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"unicode"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"emberd/internal/bert"
	"emberd/internal/gguf"
	"emberd/internal/staticmodel"
)

const (
	dim       = 256  // principal components that are kept
	common    = 1    // principal components before these that are left out
	smoothing = 3e-4 // the a of the smooth inverse frequency a / (a + p)
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "distil:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("name the model's file and the table's")
	}
	source, err := readSource(args[0])
	if err != nil {
		return err
	}
	model, err := bert.Open(args[0], nil)
	if err != nil {
		return err
	}
	defer model.Close() // only read from
	vectors, err := tokenVectors(model, source.ids)
	if err != nil {
		return err
	}
	table, err := components(vectors)
	if err != nil {
		return err
	}
	source.weigh(table)
	return source.write(args[1], table)
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

// tokenVectors has each token go through the model, on all processors.
func tokenVectors(model *bert.Model, ids []int32) (*mat.Dense, error) {
	out := mat.NewDense(len(ids), model.Dim(), nil)
	workers := runtime.GOMAXPROCS(0)
	errs := make([]error, workers)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := w; i < len(ids) && errs[w] == nil; i += workers {
				var v []float32
				if v, errs[w] = model.TokenVector(context.Background(), ids[i]); errs[w] == nil {
					setRow(out, i, v)
				}
			}
		})
	}
	wait.Wait()
	return out, errors.Join(errs...)
}

func setRow(m *mat.Dense, i int, v []float32) {
	for j, x := range v {
		m.Set(i, j, float64(x))
	}
}

// components projects the centred rows on their principal components, without the first, which
// nearly all tokens have in common.
func components(rows *mat.Dense) (*mat.Dense, error) {
	n, d := rows.Dims()
	for j := range d {
		mean := stat.Mean(mat.Col(nil, j, rows), nil)
		for i := range n {
			rows.Set(i, j, rows.At(i, j)-mean)
		}
	}
	var covariance mat.SymDense
	stat.CovarianceMatrix(&covariance, rows, nil)
	var eigen mat.EigenSym
	if !eigen.Factorize(&covariance, true) {
		return nil, errors.New("the principal components could not be found")
	}
	var directions, table mat.Dense
	eigen.VectorsTo(&directions) // in ascending order of variance
	table.Mul(rows, directions.Slice(0, d, d-common-dim, d-common))
	return &table, nil
}

// weigh scales the vector of each token by its smooth inverse frequency. The vocabulary is in the
// order of frequency, which is taken to fall as Zipf and Mandelbrot have it: 1 / (rank + 2.7).
func (s *source) weigh(table *mat.Dense) {
	const shift = 2.7
	total := 0.0
	for i := range s.tokens {
		total += 1 / (float64(i+1) + shift)
	}
	for i := range s.tokens {
		p := 1 / (float64(i+1) + shift) / total
		row := table.RawRowView(i)
		for j := range row {
			row[j] *= smoothing / (smoothing + p)
		}
	}
}

func (s *source) write(path string, table *mat.Dense) error {
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
	scales, rows := rounded(table)
	err = errors.Join(binary.Write(w, binary.LittleEndian, scales), binary.Write(w, binary.LittleEndian, rows))
	return errors.Join(err, w.Flush(), f.Close())
}

// rounded brings each row to bytes and a scale.
func rounded(table *mat.Dense) (scales []float32, rows []int8) {
	n, _ := table.Dims()
	for i := range n {
		row, most := table.RawRowView(i), 0.0
		for _, x := range row {
			most = max(most, math.Abs(x))
		}
		scale := float32(most / math.MaxInt8)
		scales = append(scales, scale)
		for _, x := range row {
			rows = append(rows, int8(math.RoundToEven(x/float64(scale))))
		}
	}
	return scales, rows
}
