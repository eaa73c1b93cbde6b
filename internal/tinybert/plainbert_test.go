package tinybert

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// llama.cpp v0.5.0 made these vectors of a model with the weights of Tiny, and the texts were
// these tokens to it. The forward pass is written down here once more, as plainly as can be,
// so that what an engine is compared with stands on more than the engine.
func TestWeightsAreThoseOfTheGoldenVectors(t *testing.T) {
	for text, want := range map[string][]float64{
		"note memory search": {0.01906, 0.24115, 0.02762, -0.10363},
		"":                   {-0.12320, -0.00328, -0.16570, 0.10338},
	} {
		tokens := []int{cls}
		for word := range strings.FieldsSeq(text) {
			tokens = append(tokens, slices.Index(Tokens(), boundary+word))
		}
		got := plainBERT{New(Tiny())}.embed(append(tokens, sep))
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-4 {
				t.Errorf("%q: got %.5f, want %v", text, got[:4], want)
				break
			}
		}
	}
}

// plainBERT is a forward pass in float64 over the numbers that a model is made of.
type plainBERT struct{ *Model }

const (
	plainDim   = 32
	plainHeads = 2
)

func (m plainBERT) find(name string) int {
	return slices.IndexFunc(m.Tensors, func(t Tensor) bool { return t.Name == name })
}

func (m plainBERT) row(name string, i, n int) []float64 {
	at := m.find(name)
	row := make([]float64, n)
	for j := range row {
		row[j] = float64(m.Tensors[at].Value(i*n + j))
	}
	return row
}

func (m plainBERT) linear(name string, x []float64) []float64 {
	y := m.row(name+".bias", 0, m.Tensors[m.find(name+".bias")].Dims[0])
	for i := range y {
		for j, w := range m.row(name+".weight", i, len(x)) {
			y[i] += w * x[j]
		}
	}
	return y
}

func (m plainBERT) norm(name string, x []float64) []float64 {
	var mean, variance float64
	for _, v := range x {
		mean += v / plainDim
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / plainDim
	}
	y, weight := m.row(name+".bias", 0, plainDim), m.row(name+".weight", 0, plainDim)
	for i, v := range x {
		y[i] += weight[i] * (v - mean) / math.Sqrt(variance+1e-12)
	}
	return y
}

func sum(vectors ...[]float64) []float64 {
	total := make([]float64, plainDim)
	for _, v := range vectors {
		for i := range total {
			total[i] += v[i]
		}
	}
	return total
}

func (m plainBERT) embed(tokens []int) []float64 {
	x := make([][]float64, len(tokens))
	for i, id := range tokens {
		x[i] = m.norm("token_embd_norm", sum(m.row("token_embd.weight", id, plainDim),
			m.row("token_types.weight", 0, plainDim), m.row("position_embd.weight", i, plainDim)))
	}
	for n := 0; m.find(fmt.Sprintf("blk.%d.attn_q.weight", n)) >= 0; n++ {
		x = m.layer(fmt.Sprintf("blk.%d.", n), x)
	}
	pooled := sum(x...)
	var square float64
	for _, v := range pooled {
		square += v * v
	}
	for i := range pooled {
		pooled[i] /= math.Sqrt(square)
	}
	return pooled
}

func (m plainBERT) layer(layer string, x [][]float64) [][]float64 {
	q, k, v := make([][]float64, len(x)), make([][]float64, len(x)), make([][]float64, len(x))
	for i := range x {
		q[i] = m.linear(layer+"attn_q", x[i])
		k[i] = m.linear(layer+"attn_k", x[i])
		v[i] = m.linear(layer+"attn_v", x[i])
	}
	out := make([][]float64, len(x))
	for i := range x {
		seen := m.linear(layer+"attn_output", attend(q[i], k, v))
		y := m.norm(layer+"attn_output_norm", sum(x[i], seen))
		up := m.linear(layer+"ffn_up", y)
		for j, u := range up { // GELU by tanh (Hendrycks and Gimpel, 2016)
			up[j] = u / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(u+0.044715*u*u*u)))
		}
		out[i] = m.norm(layer+"layer_output_norm", sum(y, m.linear(layer+"ffn_down", up)))
	}
	return out
}

func attend(q []float64, k, v [][]float64) []float64 {
	const size = plainDim / plainHeads
	out := make([]float64, plainDim)
	for from := 0; from < plainDim; from += size {
		var total float64
		shares := make([]float64, len(k))
		for i := range k {
			var dot float64
			for j := from; j < from+size; j++ {
				dot += q[j] * k[i][j]
			}
			shares[i] = math.Exp(dot / math.Sqrt(size))
			total += shares[i]
		}
		for i := range v {
			for j := from; j < from+size; j++ {
				out[j] += shares[i] / total * v[i][j]
			}
		}
	}
	return out
}
