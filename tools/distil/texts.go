package main

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/mat"

	"emberd/internal/bert"
	"emberd/internal/wordpiece"
)

// tokenVectors has each token go through the model alone.
func tokenVectors(model *bert.Model, ids []int32) ([][]float32, error) {
	return each(len(ids), func(i int) ([]float32, error) { return model.TokenVector(context.Background(), ids[i]) })
}

// textVectors has each text go through the model.
func textVectors(model *bert.Model, texts []string) ([][]float32, error) {
	return each(len(texts), func(i int) ([]float32, error) {
		v, _, err := model.Embed(context.Background(), texts[i])
		return v, err
	})
}

// each makes n vectors of length 1 on all processors.
func each(n int, vector func(i int) ([]float32, error)) ([][]float32, error) {
	out, workers := make([][]float32, n), runtime.GOMAXPROCS(0)
	errs := make([]error, workers)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := w; i < n && errs[w] == nil; i += workers {
				if out[i], errs[w] = vector(i); errs[w] == nil {
					scaleBy(out[i], 1/length(out[i]))
				}
			}
		})
	}
	wait.Wait()
	return out, errors.Join(errs...)
}

// A basis has the directions in which vectors differ most.
type basis struct{ directions *mat.Dense }

// components returns the first principal components of vectors, which are not centred: cosines are kept by that.
func components(vectors [][]float32) (basis, error) {
	all := dense(vectors)
	_, d := all.Dims()
	var products mat.SymDense
	products.SymOuterK(1, all.T())
	var eigen mat.EigenSym
	if !eigen.Factorize(&products, true) {
		return basis{}, errors.New("the principal components could not be found")
	}
	var directions mat.Dense
	eigen.VectorsTo(&directions) // the greatest last
	return basis{mat.DenseCopyOf(directions.Slice(0, d, d-dim, d))}, nil
}

// project returns the vectors in the directions of the basis, scaled to length 1, one behind the other.
func (b basis) project(vectors [][]float32) []float32 {
	var projected mat.Dense
	projected.Mul(dense(vectors), b.directions)
	out := make([]float32, 0, len(vectors)*dim)
	for i := range vectors {
		for _, x := range projected.RawRowView(i) {
			out = append(out, float32(x))
		}
		row := out[i*dim:]
		scaleBy(row, 1/length(row))
	}
	return out
}

func dense(vectors [][]float32) *mat.Dense {
	out := mat.NewDense(len(vectors), len(vectors[0]), nil)
	for i, v := range vectors {
		for j, x := range v {
			out.Set(i, j, float64(x))
		}
	}
	return out
}

// texts pairs each sentence's tokens with its vector. Sentences without a known token are left out.
func (s *source) texts(sentences []string, wants []float32) (out []text) {
	tokenizer := wordpiece.Of(s.tokens)
	for i, sentence := range sentences {
		tokens := tokenizer.Tokens(sentence, 0)
		x := text{want: wants[i*dim:][:dim], weight: 1}
		for _, token := range tokens[1 : len(tokens)-1] { // without the marks at the ends
			if token != wordpiece.None {
				x.tokens = append(x.tokens, token)
			}
		}
		if len(x.tokens) > 0 {
			out = append(out, x)
		}
	}
	return out
}

// tokensAlone has each token as a text, so that a token that no sentence has keeps its meaning.
func tokensAlone(table []float32) (out []text) {
	wants := append([]float32(nil), table...)
	for i := range len(table) / dim {
		out = append(out, text{tokens: []int32{int32(i)}, want: wants[i*dim:][:dim], weight: aloneWeight})
	}
	return out
}
