package bert

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/internal/gguf"
	"emberd/internal/tinybert"
)

// Models of random shapes embed random texts as the formulas say, whichever kernels their
// sizes fall to.
func TestEmbedAgreesWithTheFormulas(t *testing.T) {
	words := ordinary()
	rapid.Check(t, func(r *rapid.T) {
		spec := drawnSpec(r)
		model := tinybert.New(spec)
		model.Tensors = slices.DeleteFunc(model.Tensors, func(tensor tinybert.Tensor) bool {
			return optional(tensor.Name) && rapid.IntRange(0, 3).Draw(r, "leave out "+tensor.Name) == 0
		})
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 25).Draw(r, "text"), " ")
		path := written(t, model)
		m, err := Open(path, nil)
		if err != nil {
			r.Fatal(err)
		}
		tokens := m.content.Load().tokenizer.Tokens(text, m.MaxTokens())
		got, want := embedded(t, m, text), newOracle(t, path).embed(tokens)
		var off float64
		for i := range want {
			off += math.Pow(float64(got[i])-want[i], 2)
		}
		if off = math.Sqrt(off); !(off <= 1e-5) {
			r.Fatalf("%d tokens: the vector is off by %g, beginning %v, want %v", len(tokens), off, got[:1], want[:1])
		}
	})
}

// ordinary are the words of the vocabulary.
func ordinary() []string {
	var words []string
	for _, token := range tinybert.Tokens() {
		if word, ok := strings.CutPrefix(token, "\u2581"); ok && len(word) > 1 {
			words = append(words, word)
		}
	}
	return words
}

func drawnSpec(r *rapid.T) tinybert.Spec {
	spec := tinybert.Tiny()
	spec.Seed = rapid.Uint64().Draw(r, "seed")
	spec.Layers = rapid.IntRange(1, 3).Draw(r, "layers")
	spec.Heads = rapid.IntRange(1, 4).Draw(r, "heads")
	spec.Pooling = rapid.Uint32Range(1, 2).Draw(r, "pooling")
	spec.Type = rapid.SampledFrom([]tinybert.Type{tinybert.F32, tinybert.F16, tinybert.Q8_0}).Draw(r, "type")
	unit := 1
	if spec.Type == tinybert.Q8_0 {
		unit = 32
	}
	spec.Dim = unit * spec.Heads * rapid.IntRange(1, max(1, 24/unit)).Draw(r, "dimensions of a head")
	spec.Dim = max(spec.Dim, 4*spec.Heads) // a norm of one or two numbers is 0 or 1, whatever they are
	spec.FeedForward = unit * rapid.IntRange(1, 4+60/unit).Draw(r, "inner dimensions")
	return spec
}

func optional(tensor string) bool {
	return tensor == "token_types.weight" || strings.HasSuffix(tensor, ".bias") && !strings.Contains(tensor, "norm")
}

// oracle is a forward pass in float64, one number after the other.
type oracle struct {
	t     *testing.T
	file  *gguf.File
	facts *gguf.Facts
}

func newOracle(t *testing.T, path string) *oracle {
	t.Helper()
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	facts, err := f.BERT()
	if err != nil {
		t.Fatal(err)
	}
	return &oracle{t: t, file: f, facts: facts}
}

// table returns the rows of a tensor; one row of zeros, n long, where it is not there.
func (o *oracle) table(name string, n int) [][]float64 {
	tensor, ok := o.file.Tensor(name)
	if !ok {
		return [][]float64{make([]float64, n)}
	}
	numbers, err := tensor.ReadFloat32()
	if err != nil {
		o.t.Fatal(err)
	}
	var rows [][]float64
	for row := range slices.Chunk(numbers, tensor.Dims[0]) {
		wide := make([]float64, len(row))
		for i, v := range row {
			wide[i] = float64(v)
		}
		rows = append(rows, wide)
	}
	return rows
}

func (o *oracle) embed(tokens []int32) []float64 {
	dim := o.facts.Dim
	words, places, kinds := o.table("token_embd.weight", dim), o.table("position_embd.weight", dim), o.table("token_types.weight", dim)
	var x [][]float64
	for i, id := range tokens {
		x = append(x, plus(plus(words[id], places[i]), kinds[0]))
	}
	x = o.normed(x, "token_embd_norm")
	for i := range o.facts.Layers {
		x = o.layer(x, fmt.Sprintf("blk.%d.", i))
	}
	sum := x[0]
	if o.facts.Pooling == gguf.Mean {
		for _, row := range x[1:] {
			sum = plus(sum, row)
		}
	}
	length := math.Sqrt(inner(sum, sum))
	for i := range sum {
		sum[i] /= length
	}
	return sum
}

func (o *oracle) layer(x [][]float64, name string) [][]float64 {
	q, k, v := o.linear(x, name+"attn_q"), o.linear(x, name+"attn_k"), o.linear(x, name+"attn_v")
	seen := make([][]float64, len(x))
	size := o.facts.Dim / o.facts.Heads
	for i := range x {
		for from := 0; from < o.facts.Dim; from += size {
			seen[i] = append(seen[i], look(q[i], k, v, from, from+size)...)
		}
	}
	x = o.normed(added(x, o.linear(seen, name+"attn_output")), name+"attn_output_norm")
	up := o.linear(x, name+"ffn_up")
	for _, row := range up {
		for i, u := range row {
			row[i] = u / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(u+0.044715*u*u*u)))
		}
	}
	return o.normed(added(x, o.linear(up, name+"ffn_down")), name+"layer_output_norm")
}

// look is what a query takes over from all values, in the elements of one head.
func look(q []float64, k, v [][]float64, from, to int) []float64 {
	var weights []float64
	var total float64
	for _, key := range k {
		weights = append(weights, math.Exp(inner(q[from:to], key[from:to])/math.Sqrt(float64(to-from))))
		total += weights[len(weights)-1]
	}
	seen := make([]float64, to-from)
	for i, value := range v {
		for j := range seen {
			seen[j] += weights[i] / total * value[from+j]
		}
	}
	return seen
}

func (o *oracle) linear(x [][]float64, name string) [][]float64 {
	matrix := o.table(name+".weight", 0)
	bias := o.table(name+".bias", len(matrix))[0]
	var y [][]float64
	for _, row := range x {
		out := slices.Clone(bias)
		for i, weights := range matrix {
			out[i] += inner(weights, row)
		}
		y = append(y, out)
	}
	return y
}

func (o *oracle) normed(x [][]float64, name string) [][]float64 {
	weight, bias := o.table(name+".weight", 0)[0], o.table(name+".bias", 0)[0]
	var y [][]float64
	for _, row := range x {
		n := float64(len(row))
		var mean, variance float64
		for _, v := range row {
			mean += v / n
		}
		for _, v := range row {
			variance += (v - mean) * (v - mean) / n
		}
		out := slices.Clone(bias)
		for i, v := range row {
			out[i] += weight[i] * (v - mean) / math.Sqrt(variance+float64(o.facts.Epsilon))
		}
		y = append(y, out)
	}
	return y
}

func inner(a, b []float64) float64 {
	var sum float64
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

func plus(a, b []float64) []float64 {
	sum := slices.Clone(a)
	for i, v := range b {
		sum[i] += v
	}
	return sum
}

func added(a, b [][]float64) [][]float64 {
	var sum [][]float64
	for i := range a {
		sum = append(sum, plus(a[i], b[i]))
	}
	return sum
}
