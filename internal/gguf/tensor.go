package gguf

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"emberd/internal/dot"
)

// A Type is how the numbers of a tensor are written, by the number that ggml has for it.
type Type uint32

// The types that tensors can be read as numbers of.
const (
	F32  Type = 0
	F16  Type = 1
	Q8_0 Type = 8 // blocks of 32: the scale as F16, then 32 times int8
)

// A layout is how many numbers make a block, and how many bytes one takes.
type layout struct {
	name         string
	block, bytes int
}

// layout returns how one of the types of ggml.h that weights are written in is laid out.
// Q8_1, Q8_K and the integers are left out: they are for numbers on their way, and llama.cpp
// ends its process where a model's weights are written so.
func (t Type) layout() (layout, bool) {
	l, ok := map[Type]layout{
		F32: {"F32", 1, 4}, F16: {"F16", 1, 2}, 2: {"Q4_0", 32, 18}, 3: {"Q4_1", 32, 20},
		6: {"Q5_0", 32, 22}, 7: {"Q5_1", 32, 24}, Q8_0: {"Q8_0", 32, 34},
		10: {"Q2_K", 256, 84}, 11: {"Q3_K", 256, 110}, 12: {"Q4_K", 256, 144},
		13: {"Q5_K", 256, 176}, 14: {"Q6_K", 256, 210},
		16: {"IQ2_XXS", 256, 66}, 17: {"IQ2_XS", 256, 74}, 18: {"IQ3_XXS", 256, 98}, 19: {"IQ1_S", 256, 50},
		20: {"IQ4_NL", 32, 18}, 21: {"IQ3_S", 256, 110}, 22: {"IQ2_S", 256, 82}, 23: {"IQ4_XS", 256, 136},
		29: {"IQ1_M", 256, 56}, 30: {"BF16", 1, 2},
		34: {"TQ1_0", 256, 54}, 35: {"TQ2_0", 256, 66}, 39: {"MXFP4", 32, 17}, 40: {"NVFP4", 64, 36},
	}[t]
	return l, ok
}

func (t Type) String() string {
	if l, ok := t.layout(); ok {
		return l.name
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// A Tensor is a named table of numbers in a file. It is a small value; the numbers stay in the
// file until they are read.
type Tensor struct {
	Name string
	Type Type
	Dims []int // one to four; the first is the length of a row, whose numbers are neighbours
	Size int   // bytes in the file

	offset int64 // in the file
	file   *File
}

// Len is how many numbers the tensor has.
func (t Tensor) Len() int {
	n := 1
	for _, d := range t.Dims {
		n *= d
	}
	return n
}

// ReadRaw reads the tensor as it is in the file.
func (t Tensor) ReadRaw() ([]byte, error) {
	b := make([]byte, t.Size)
	return b, t.read(b, 0)
}

// ReadFloat32 reads the tensor as numbers, the rows one after the other. Types other than
// F32, F16 and Q8_0 are a [RefusedError].
func (t Tensor) ReadFloat32() ([]float32, error) {
	widen, err := t.widen()
	if err != nil {
		return nil, err
	}
	const most = 1 << 14 // blocks at a time, so that little more than the numbers is held
	l, _ := t.Type.layout()
	numbers := make([]float32, t.Len())
	buf := make([]byte, min(t.Size, most*l.bytes))
	for done, to := 0, numbers; done < t.Size; {
		part := buf[:min(len(buf), t.Size-done)]
		if err := t.read(part, done); err != nil {
			return nil, err
		}
		n := len(part) / l.bytes * l.block
		widen(to[:n], part)
		done, to = done+len(part), to[n:]
	}
	return numbers, nil
}

// Readable returns nil if the numbers of all tensors can be read, else a [RefusedError] of
// the first by name that is written as another type than F32, F16 and Q8_0.
func (f *File) Readable() error {
	for _, name := range slices.Sorted(maps.Keys(f.tensors)) {
		if _, err := f.tensors[name].widen(); err != nil {
			return f.orNative(err)
		}
	}
	return nil
}

func (t Tensor) widen() (func([]float32, []byte), error) {
	switch t.Type {
	case F32:
		return widenF32, nil
	case F16:
		return dot.Float16, nil
	case Q8_0:
		return dot.Q8, nil
	default:
		return nil, t.file.explain(rounded("tensor %s has the type %s; only F32, F16 and Q8_0 are supported",
			shown(t.Name), t.Type))
	}
}

func (t Tensor) read(b []byte, from int) error {
	_, err := t.file.file.ReadAt(b, t.offset+int64(from))
	if errors.Is(err, io.EOF) {
		return t.file.explain(damaged("the file was truncated inside tensor %s while emberd used the file",
			shown(t.Name)))
	}
	if err != nil {
		return fmt.Errorf("cannot read tensor %s of model file %s: %w", shown(t.Name), t.file.path, err)
	}
	return nil
}

func widenF32(to []float32, from []byte) {
	for i := range to {
		to[i] = math.Float32frombits(binary.LittleEndian.Uint32(from[4*i:]))
	}
}

// tensors reads the descriptions of the tensors, with offsets from the start of the data.
func (d *decoder) tensors(count uint64) []Tensor {
	list := make([]Tensor, 0, count)
	for i := range count {
		d.what = fmt.Sprintf("tensor %d of %d", i+1, count)
		t := Tensor{Name: d.string(maxName)}
		d.what = "tensor " + shown(t.Name)
		rank := d.uint32()
		if d.err == nil && (rank == 0 || rank > maxDims) {
			d.fail(damaged("%s has %d dimensions, which is out of range (1 to %d)", d.what, rank, maxDims))
		}
		for range min(rank, maxDims) {
			t.Dims = append(t.Dims, d.dim())
		}
		t.Type = Type(d.uint32())
		t.Size = d.measure(t)
		t.offset = int64(d.uint64())
		if d.err != nil {
			return nil
		}
		list = append(list, t)
	}
	return list
}

// dim is a dimension: no more than the numbers that the file could hold, at two a byte.
func (d *decoder) dim() int {
	n := d.uint64()
	if d.err == nil && (n == 0 || n > 2*uint64(d.size)) {
		d.fail(damaged("%s has a dimension of %d, which is invalid in a file of %d bytes", d.what, n, d.size))
		return 0
	}
	return int(n)
}

// measure is how many bytes a tensor takes, which the file must have.
func (d *decoder) measure(t Tensor) int {
	if d.err != nil {
		return 0
	}
	l, ok := t.Type.layout()
	if !ok {
		d.fail(rounded("%s has the unknown %s", d.what, t.Type))
		return 0
	}
	if t.Dims[0]%l.block != 0 {
		d.fail(damaged("%s has rows of %d numbers, but %s requires blocks of %d", d.what, t.Dims[0], t.Type, l.block))
		return 0
	}
	size := uint64(t.Dims[0]/l.block) * uint64(l.bytes)
	for _, n := range t.Dims[1:] {
		if size > uint64(d.size)/uint64(n) {
			size = math.MaxUint64
			break
		}
		size *= uint64(n)
	}
	if size > uint64(d.size) {
		d.fail(damaged("%s does not fit into the %d bytes of the file", d.what, d.size))
		return 0
	}
	return int(size)
}

// place finds the tensors in the file, whose data begins at data.
func (f *File) place(list []Tensor, data, align int64) (map[string]Tensor, error) {
	byName := make(map[string]Tensor, len(list))
	for i, t := range list {
		if strings.ContainsRune(t.Name, 0) {
			return nil, damaged("the tensor name %s contains a zero byte", shown(t.Name))
		}
		if _, twice := byName[t.Name]; twice || t.Name == "" {
			return nil, damaged("two tensors have the name %s, or a tensor has no name", shown(t.Name))
		}
		if t.offset < 0 || t.offset%align != 0 {
			return nil, damaged("tensor %s begins at offset %d, which is not a multiple of %d", shown(t.Name),
				uint64(t.offset), align)
		}
		if t.offset > f.size-data-int64(t.Size) {
			return nil, damaged("tensor %s ends after the end of the file, which has %d bytes", shown(t.Name), f.size)
		}
		t.offset, t.file = data+t.offset, f
		list[i], byName[t.Name] = t, t
	}
	slices.SortFunc(list, func(a, b Tensor) int { return cmp.Compare(a.offset, b.offset) })
	for i := 1; i < len(list); i++ {
		before, t := list[i-1], list[i]
		if before.offset+int64(before.Size) > t.offset {
			return nil, damaged("tensors %s and %s overlap", shown(before.Name), shown(t.Name))
		}
	}
	return byName, nil
}
