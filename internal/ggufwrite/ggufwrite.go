// Package ggufwrite writes model files in GGUF, version 3, as llama.cpp reads it: keys with their values, and
// tensors as F32, F16 or Q8_0. The format is that of docs/gguf.md of ggml.
//
// A [File] is what a file will hold, as a list that may be changed before it is written. It is for one
// goroutine.
package ggufwrite

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// A Type is how the numbers of a tensor are written, by ggml's number.
type Type uint32

// The types that numbers can be written in.
const (
	F32  Type = 0
	F16  Type = 1
	Q8_0 Type = 8 // blocks of 32 numbers with a scale
)

// FileType is what general.file_type calls a file whose matrices are written so.
func (t Type) FileType() uint32 {
	if t == Q8_0 {
		return 7
	}
	return uint32(t)
}

// A File is what a GGUF file holds: keys with their values, and tensors.
type File struct {
	Meta    []Meta
	Tensors []Tensor
}

// Meta is a key and its value: a uint32, uint64, int32, float32, bool or string, or a list of
// strings, int32, float32 or bytes.
type Meta struct {
	Key   string
	Value any
}

// A Tensor is a table of numbers. Value is the i-th of them, row after row.
type Tensor struct {
	Name  string
	Type  Type
	Dims  []int // the first is the length of a row
	Value func(i int) float32
}

// Size is how many bytes the file will have.
func (m *File) Size() (int64, error) {
	head, err := m.header()
	size, align := len(head)+padding(len(head), m.alignment()), m.alignment()
	for _, t := range m.Tensors {
		size += t.size() + padding(t.size(), align)
	}
	return int64(size), err
}

// alignment is what tensors begin at multiples of, in bytes.
func (m *File) alignment() int {
	for _, kv := range m.Meta {
		if n, ok := kv.Value.(uint32); ok && kv.Key == "general.alignment" {
			return int(n)
		}
	}
	return 32
}

// WriteFile writes the model as a file that is readable by all, as models are.
func (m *File) WriteFile(path string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return m.Write(f)
}

// Write writes the model in GGUF version 3.
func (m *File) Write(to io.Writer) error {
	head, err := m.header()
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(to, 1<<16)
	align := m.alignment()
	w.Write(head) // w remembers its first error for Flush
	w.Write(make([]byte, padding(len(head), align)))
	for _, t := range m.Tensors {
		if err := t.write(w); err != nil {
			return err
		}
		w.Write(make([]byte, padding(t.size(), align)))
	}
	return w.Flush()
}

func (m *File) header() ([]byte, error) {
	b := binary.LittleEndian.AppendUint32([]byte("GGUF"), 3)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(m.Tensors)))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(m.Meta)))
	for _, kv := range m.Meta {
		var err error
		if b, err = appendValue(appendString(b, kv.Key), kv.Value); err != nil {
			return nil, fmt.Errorf("key %s: %w", kv.Key, err)
		}
	}
	offset, align := 0, m.alignment()
	for _, t := range m.Tensors {
		b = appendString(b, t.Name)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(t.Dims)))
		for _, n := range t.Dims {
			b = binary.LittleEndian.AppendUint64(b, uint64(n))
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(t.Type))
		b = binary.LittleEndian.AppendUint64(b, uint64(offset))
		offset += t.size() + padding(t.size(), align)
	}
	return b, nil
}

// padding is how many bytes are missing from n to the next multiple.
func padding(n, multiple int) int { return (multiple - n%multiple) % multiple }

func appendString(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}

func appendValue(b []byte, value any) ([]byte, error) {
	le := binary.LittleEndian
	switch v := value.(type) {
	case uint32:
		return le.AppendUint32(le.AppendUint32(b, 4), v), nil
	case int32:
		return le.AppendUint32(le.AppendUint32(b, 5), uint32(v)), nil
	case float32:
		return le.AppendUint32(le.AppendUint32(b, 6), math.Float32bits(v)), nil
	case bool:
		b = append(le.AppendUint32(b, 7), 0)
		if v {
			b[len(b)-1] = 1
		}
		return b, nil
	case string:
		return appendString(le.AppendUint32(b, 8), v), nil
	case uint64:
		return le.AppendUint64(le.AppendUint32(b, 10), v), nil
	case []string:
		b = le.AppendUint64(le.AppendUint32(le.AppendUint32(b, 9), 8), uint64(len(v)))
		for _, s := range v {
			b = appendString(b, s)
		}
		return b, nil
	case []byte:
		b = le.AppendUint64(le.AppendUint32(le.AppendUint32(b, 9), 0), uint64(len(v)))
		return append(b, v...), nil
	case []float32:
		b = le.AppendUint64(le.AppendUint32(le.AppendUint32(b, 9), 6), uint64(len(v)))
		for _, x := range v {
			b = le.AppendUint32(b, math.Float32bits(x))
		}
		return b, nil
	case []int32:
		b = le.AppendUint64(le.AppendUint32(le.AppendUint32(b, 9), 5), uint64(len(v)))
		for _, n := range v {
			b = le.AppendUint32(b, uint32(n))
		}
		return b, nil
	default:
		return nil, fmt.Errorf("cannot write a value of type %T", value)
	}
}

func (t Tensor) len() int {
	n := 1
	for _, d := range t.Dims {
		n *= d
	}
	return n
}

func (t Tensor) size() int {
	switch t.Type {
	case F16:
		return 2 * t.len()
	case Q8_0:
		return t.len() / block * (2 + block)
	default:
		return 4 * t.len()
	}
}

// write writes the numbers a row at a time.
func (t Tensor) write(w *bufio.Writer) error {
	if t.Type == Q8_0 && t.Dims[0]%block != 0 {
		return fmt.Errorf("tensor %s: rows of %d numbers are not multiples of the block size %d", t.Name, t.Dims[0],
			block)
	}
	row := make([]float32, t.Dims[0])
	var buf []byte
	for from := 0; from < t.len(); from += len(row) {
		for i := range row {
			row[i] = t.Value(from + i)
		}
		buf = t.Type.append(buf[:0], row)
		w.Write(buf)
	}
	return nil
}

// block is how many numbers share a scale in Q8_0.
const block = 32

func (t Type) append(b []byte, row []float32) []byte {
	switch t {
	case F16:
		for _, x := range row {
			b = binary.LittleEndian.AppendUint16(b, half(x))
		}
	case Q8_0:
		for ; len(row) > 0; row = row[block:] {
			b = appendBlock(b, row[:block])
		}
	default:
		for _, x := range row {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
	}
	return b
}

// appendBlock quantises as ggml does: the scale takes the largest number to 127, and is kept
// as F16 only after the numbers were divided by it.
func appendBlock(b []byte, numbers []float32) []byte {
	var greatest float32
	for _, x := range numbers {
		greatest = max(greatest, x, -x)
	}
	scale := greatest / 127
	b = binary.LittleEndian.AppendUint16(b, half(scale))
	for _, x := range numbers {
		var q float64
		if scale > 0 {
			q = math.Round(float64(x * (1 / scale)))
		}
		b = append(b, byte(int8(q)))
	}
	return b
}

// half is the number of IEEE 754 binary16 that is nearest to x, the even one of two.
func half(x float32) uint16 {
	b := math.Float32bits(x)
	sign, magnitude := uint16(b>>16&0x8000), math.Float32frombits(b&0x7fffffff)
	switch {
	case magnitude != magnitude:
		return sign | 0x7e00
	case magnitude >= 65520: // halfway from the largest to the next power of two
		return sign | 0x7c00
	case magnitude < 1.0/(1<<14): // subnormal: multiples of 2^-24
		return sign | uint16(math.RoundToEven(float64(magnitude)*(1<<24)))
	}
	fraction, exponent := math.Frexp(float64(magnitude)) // fraction in [0.5, 1)
	n := uint16(math.RoundToEven(fraction * 2048))       // 1024 to 2048; the latter carries
	return sign | uint16(exponent+13)<<10 + n
}
