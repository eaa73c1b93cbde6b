package bert

import (
	"fmt"

	"emberd/internal/dot"
	"emberd/internal/gguf"
)

// weights are the tensors of a model, by what they do.
type weights struct {
	heads               int
	epsilon             float64
	token, place, kinds *matrix // kinds is nil where the model has none
	norm                layerNorm
	layers              []layer
}

type layer struct {
	query, key, value, output linear
	attended                  layerNorm
	up, down                  linear
	fed                       layerNorm
}

// linear is a matrix whose rows each make one number, to which one of bias is added.
type linear struct {
	*matrix
	bias []float32 // nil where the model has none
}

type layerNorm struct{ weight, bias []float32 }

// A matrix is a tensor of rows, as numbers of 32 bits or as it is in the file.
type matrix struct {
	rows, cols int
	kind       gguf.Type
	numbers    []float32
	raw        []byte // where numbers is nil
}

// tileBytes is what of a matrix is widened and used at a time: it stays in the second-level
// cache of a processor, together with the tokens it is multiplied with.
const tileBytes = 128 << 10

// most is how many rows make a tile.
func (m *matrix) most() int { return max(1, tileBytes/4/m.cols) }

// tile returns n rows from one on, widened into buf if they are not numbers already.
func (m *matrix) tile(buf []float32, from, n int) dot.Rows {
	tile := dot.Rows{N: n, Len: m.cols, Stride: m.cols}
	if m.numbers != nil {
		tile.Data = m.numbers[from*m.cols : (from+n)*m.cols]
		return tile
	}
	tile.Data = buf[:n*m.cols]
	if m.kind == gguf.F16 {
		dot.Float16(tile.Data, m.raw[2*from*m.cols:])
	} else {
		dot.Q8(tile.Data, m.raw[from*m.cols/dot.Q8Elements*dot.Q8Bytes:])
	}
	return tile
}

// reader reads tensors until one cannot be read.
type reader struct {
	file *gguf.File
	err  error
}

func readWeights(f *gguf.File, facts *gguf.Facts) (*weights, error) {
	r := &reader{file: f}
	w := &weights{
		heads:   facts.Heads,
		epsilon: float64(facts.Epsilon),
		token:   r.matrix("token_embd.weight"),
		place:   r.matrix("position_embd.weight"),
		norm:    r.norm("token_embd_norm"),
	}
	if _, ok := f.Tensor("token_types.weight"); ok {
		w.kinds = r.matrix("token_types.weight")
	}
	for i := range facts.Layers {
		name := fmt.Sprintf("blk.%d.", i)
		w.layers = append(w.layers, layer{
			query:    r.linear(name + "attn_q"),
			key:      r.linear(name + "attn_k"),
			value:    r.linear(name + "attn_v"),
			output:   r.linear(name + "attn_output"),
			attended: r.norm(name + "attn_output_norm"),
			up:       r.linear(name + "ffn_up"),
			down:     r.linear(name + "ffn_down"),
			fed:      r.norm(name + "layer_output_norm"),
		})
	}
	return w, r.err
}

func (r *reader) matrix(name string) *matrix {
	t, ok := r.file.Tensor(name)
	if r.err != nil || !ok {
		return nil // checked by BERT to be there
	}
	m := &matrix{rows: t.Len() / t.Dims[0], cols: t.Dims[0], kind: t.Type}
	if t.Type == gguf.F16 || t.Type == gguf.Q8_0 {
		m.raw, r.err = t.ReadRaw()
	} else {
		m.numbers, r.err = t.ReadFloat32()
	}
	return m
}

func (r *reader) linear(name string) linear {
	return linear{matrix: r.matrix(name + ".weight"), bias: r.vector(name + ".bias")}
}

func (r *reader) norm(name string) layerNorm {
	return layerNorm{weight: r.vector(name + ".weight"), bias: r.vector(name + ".bias")}
}

// vector is nil where there is no such tensor.
func (r *reader) vector(name string) []float32 {
	t, ok := r.file.Tensor(name)
	if r.err != nil || !ok {
		return nil
	}
	var v []float32
	v, r.err = t.ReadFloat32()
	return v
}
