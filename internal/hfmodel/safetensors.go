package hfmodel

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"emberd/internal/dot"
	"emberd/internal/durable"
)

// maxHeader bounds the header of a safetensors file in bytes, as the format does.
const maxHeader = 100 << 20

// weightFile is a safetensors file: the length of a JSON header, that header, and the numbers of each
// tensor, little-endian, a row behind the other (https://github.com/huggingface/safetensors).
type weightFile struct {
	file    *os.File
	data    int64 // where the numbers begin
	tensors map[string]tensorInfo
}

// tensorInfo is what the header says of a tensor.
type tensorInfo struct {
	Type    string   `json:"dtype"`
	Shape   []int    `json:"shape"` // the last is the length of a row
	Offsets [2]int64 `json:"data_offsets"`
}

// widths are the bytes of a number of each type that can be read.
var widths = map[string]int{"F32": 4, "F16": 2, "BF16": 2}

// len is how many numbers the tensor has, -1 if they are more than a model has.
func (t *tensorInfo) len() int {
	n := 1
	for _, d := range t.Shape {
		if d < 0 || d > 0 && n > math.MaxInt32/d {
			return -1
		}
		n *= d
	}
	return n
}

func openWeights(folder string) (*weightFile, error) {
	name := filepath.Join(folder, "model.safetensors")
	f, err := durable.OpenGiven(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read the weights: %w; emberd reads them only from "+
			"one model.safetensors file, not from .bin or .onnx files", err)
	}
	w := &weightFile{file: f}
	if err := w.readHeader(); err != nil {
		f.Close() // only read from
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return w, nil
}

func (w *weightFile) readHeader() error {
	info, err := w.file.Stat()
	if err != nil {
		return err
	}
	var size [8]byte
	if _, err := w.file.ReadAt(size[:], 0); err != nil {
		return fmt.Errorf("cannot read the size of the header: %w", err)
	}
	n := binary.LittleEndian.Uint64(size[:])
	if n > maxHeader || int64(n) > info.Size()-8 {
		return fmt.Errorf("the size of the header is %d bytes, which is invalid for a file of %d bytes", n, info.Size())
	}
	header := map[string]json.RawMessage{}
	w.data = 8 + int64(n)
	if err := json.NewDecoder(io.NewSectionReader(w.file, 8, int64(n))).Decode(&header); err != nil {
		return fmt.Errorf("cannot read the header: %w", err)
	}
	delete(header, "__metadata__")
	w.tensors = make(map[string]tensorInfo, len(header))
	for name, raw := range header {
		var t tensorInfo
		if err := json.Unmarshal(raw, &t); err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		w.tensors[name] = t
	}
	return nil
}

// read returns the numbers of a tensor, which has the shape.
func (w *weightFile) read(name string, shape ...int) ([]float32, error) {
	t, ok := w.tensors[name]
	if !ok {
		return nil, fmt.Errorf("tensor %s not found in the weights", name)
	}
	width := widths[t.Type]
	if width == 0 {
		return nil, fmt.Errorf("tensor %s has the type %q; only F32, F16 and BF16 are supported", name, t.Type)
	}
	if !slices.Equal(t.Shape, shape) {
		return nil, fmt.Errorf("tensor %s has the shape %v, but config.json requires %v", name, t.Shape, shape)
	}
	if t.Offsets[0] < 0 || t.Offsets[1]-t.Offsets[0] != int64(t.len()*width) {
		return nil, fmt.Errorf("tensor %s has the offsets %d to %d, which do not match its %d numbers", name,
			t.Offsets[0], t.Offsets[1], t.len())
	}
	b := make([]byte, t.len()*width)
	if _, err := w.file.ReadAt(b, w.data+t.Offsets[0]); err != nil {
		return nil, fmt.Errorf("tensor %s: %w", name, err)
	}
	return widened(t.Type, b), nil
}

// widened returns numbers of a type as float32.
func widened(as string, b []byte) []float32 {
	out := make([]float32, len(b)/widths[as])
	switch as {
	case "F16":
		dot.Float16(out, b)
	case "BF16":
		for i := range out {
			out[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(b[2*i:])) << 16)
		}
	default:
		for i := range out {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
	}
	return out
}
