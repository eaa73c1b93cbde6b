package gguf

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
)

// What a file and its header may hold. Models come nowhere near: the vocabulary of
// XLM-RoBERTa, with 250,002 tokens, takes a few MB of a header with some 400 tensors.
const (
	maxFile    = 8 << 30  // bytes
	maxHeader  = 64 << 20 // bytes
	maxKeys    = 4096
	maxTensors = 16384
	maxStrings = 1 << 21 // of an array
	maxKey     = 65535   // bytes, as the format says
	maxName    = 64      // bytes, as the format says
	maxDims    = 4       // as the format says
)

// The least a key and a tensor take in a header, so that a count can be told from the bytes
// there are: a name of one byte, and what follows it.
const (
	minKey    = 8 + 1 + 4 + 1
	minTensor = 8 + 1 + 4 + 8 + 4 + 8
)

const (
	magic        = "GGUF"
	alignmentKey = "general.alignment"
	alignment    = 32 // bytes, where the file does not say
	maxAlignment = 1 << 20
)

// The types of values, as they are written.
const (
	typeUint8 uint32 = iota
	typeInt8
	typeUint16
	typeInt16
	typeUint32
	typeInt32
	typeFloat32
	typeBool
	typeString
	typeArray
	typeUint64
	typeInt64
	typeFloat64
)

// array stands for an array of anything but strings, which stays in the file.
type array struct {
	kind  uint32
	count int
	at    int64 // in the file
}

// A decoder reads a header front to back. After its first error it reads zeros, so that a
// caller may look at err once per round.
type decoder struct {
	r    *bufio.Reader
	at   int64  // bytes read
	size int64  // bytes there are
	what string // being read, for errors
	err  error
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// take checks n bytes against what is left, before anybody makes room for them.
func (d *decoder) take(n uint64) bool {
	switch {
	case d.err != nil:
		return false
	case n > uint64(d.size-d.at):
		d.fail(damaged("the file ends too early, in %s, after %d bytes", d.what, d.size))
		return false
	case n > uint64(maxHeader-min(d.at, maxHeader)):
		d.fail(damaged("the header is longer than %d MiB", maxHeader>>20))
		return false
	}
	d.at += int64(n)
	return true
}

func (d *decoder) bytes(n uint64) []byte {
	if !d.take(n) {
		return nil
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(d.r, b); err != nil {
		d.fail(fmt.Errorf("read %s: %w", d.what, err))
		return nil
	}
	return b
}

func (d *decoder) skip(n uint64) {
	if !d.take(n) {
		return
	}
	if _, err := d.r.Discard(int(n)); err != nil {
		d.fail(fmt.Errorf("read %s: %w", d.what, err))
	}
}

// uint is a little-endian number of one to eight bytes.
func (d *decoder) uint(width int) uint64 {
	var b [8]byte
	if !d.take(uint64(width)) {
		return 0
	}
	if _, err := io.ReadFull(d.r, b[:width]); err != nil {
		d.fail(fmt.Errorf("read %s: %w", d.what, err))
		return 0
	}
	return binary.LittleEndian.Uint64(b[:])
}

func (d *decoder) uint32() uint32 { return uint32(d.uint(4)) }
func (d *decoder) uint64() uint64 { return d.uint(8) }

func (d *decoder) string(most uint64) string {
	n := d.uint64()
	if n > most {
		d.fail(damaged("%s is a string of %d bytes (limit %d)", d.what, n, most))
		return ""
	}
	return string(d.bytes(n))
}

// count is a number of things that take at least so many bytes each.
func (d *decoder) count(most, least uint64) uint64 {
	n := d.uint64()
	switch {
	case d.err != nil:
		return 0
	case n > most:
		d.fail(damaged("%s has %d entries (limit %d)", d.what, n, most))
		return 0
	case n > uint64(d.size-d.at)/least:
		d.fail(damaged("%s has %d entries, which do not fit into the %d bytes of the file", d.what, n, d.size))
		return 0
	}
	return n
}

// readHeader fills in what the header says.
func (f *File) readHeader() error {
	d := &decoder{r: bufio.NewReaderSize(io.NewSectionReader(f.file, 0, f.size), 1<<16), size: f.size}
	if err := d.begin(); err != nil {
		return err
	}
	d.what = "the list of tensors"
	tensors := d.count(maxTensors, minTensor)
	d.what = "the list of keys"
	keys := d.count(maxKeys, minKey)
	f.readKeys(d, keys)
	infos := d.tensors(tensors)
	if d.err != nil {
		return d.err
	}
	align, err := f.alignment()
	if err != nil {
		return err
	}
	data := (d.at + align - 1) / align * align
	f.tensors, err = f.place(infos, data, align)
	return err
}

// begin reads the magic and the version, and knows what is often found in their place.
func (d *decoder) begin() error {
	if d.size == 0 {
		return damaged("it is empty")
	}
	if d.size > maxFile {
		return unfit("the file has %d bytes (limit %d GiB)", d.size, maxFile>>30)
	}
	start, err := d.r.Peek(int(min(d.size, 64)))
	if err != nil {
		return fmt.Errorf("cannot read the first bytes of the file: %w", err)
	}
	switch text := strings.ToLower(strings.TrimSpace(string(start))); {
	case strings.HasPrefix(string(start), magic):
	case strings.HasPrefix(text, "<!doctype") || strings.HasPrefix(text, "<html") || strings.HasPrefix(text, "<?xml"):
		return damaged("the file is a web page, not a GGUF file")
	case strings.HasPrefix(text, "version https://git-lfs"):
		return damaged("the file is a Git LFS pointer, not a GGUF file")
	default:
		return damaged("the file begins with %s instead of %q", shown(string(start[:min(len(start), 4)])), magic)
	}
	d.what = "the version"
	d.skip(uint64(len(magic)))
	version := d.uint32()
	switch {
	case d.err != nil:
		return d.err
	case version == 2 || version == 3:
		return nil
	case version != 0 && version&0xffff == 0:
		return unfit("the file is big-endian; only little-endian files are supported")
	default:
		return unfit("the file has GGUF version %d; only versions 2 and 3 are supported", version)
	}
}

func (f *File) readKeys(d *decoder, count uint64) {
	f.meta = make(map[string]any, count)
	for i := range count {
		d.what = fmt.Sprintf("key %d of %d", i+1, count)
		key := d.string(maxKey)
		d.what = "key " + shown(key)
		kind := d.uint32()
		value := d.value(kind)
		if key == alignmentKey && kind != typeUint32 {
			d.fail(damaged("%s does not have the type uint32", d.what)) // which llama.cpp ends for
		}
		if d.err != nil {
			return
		}
		if key == "" || strings.ContainsRune(key, 0) {
			d.fail(damaged("key %d of %d has no name, or its name contains a zero byte", i+1, count))
			return
		}
		if _, twice := f.meta[key]; twice {
			d.fail(damaged("%s occurs twice", d.what))
			return
		}
		f.meta[key] = value
	}
}

func (d *decoder) value(kind uint32) any {
	switch kind {
	case typeString:
		return d.string(maxHeader)
	case typeArray:
		return d.array()
	}
	width, ok := widths(kind)
	if !ok {
		d.fail(damaged("%s has the unknown type %d", d.what, kind))
		return nil
	}
	return d.scalar(kind, d.uint(width))
}

// scalar makes a value of a known type of its bits.
func (d *decoder) scalar(kind uint32, bits uint64) any {
	switch kind {
	case typeInt8:
		return int64(int8(bits))
	case typeInt16:
		return int64(int16(bits))
	case typeInt32:
		return int64(int32(bits))
	case typeInt64:
		return int64(bits)
	case typeFloat32:
		return float64(math.Float32frombits(uint32(bits)))
	case typeFloat64:
		return math.Float64frombits(bits)
	case typeBool:
		if bits > 1 {
			d.fail(damaged("%s is %d; it must be 1 (true) or 0 (false)", d.what, bits))
		}
		return bits == 1
	default:
		return bits
	}
}

// array reads an array of strings and passes over any other.
func (d *decoder) array() any {
	kind := d.uint32()
	if kind == typeString {
		return d.strings()
	}
	width, ok := widths(kind)
	if !ok {
		d.fail(damaged("%s is an array of the unknown type %d", d.what, kind))
		return nil
	}
	count := d.count(maxHeader, uint64(width))
	at := d.at
	d.skip(count * uint64(width))
	return array{kind, int(count), at}
}

func (d *decoder) strings() []string {
	list := make([]string, d.count(maxStrings, 8))
	for i := range list {
		list[i] = d.string(maxHeader)
		if d.err != nil {
			return nil
		}
	}
	return list
}

// widths are the bytes that a number of a type takes.
func widths(kind uint32) (int, bool) {
	switch kind {
	case typeUint8, typeInt8, typeBool:
		return 1, true
	case typeUint16, typeInt16:
		return 2, true
	case typeUint32, typeInt32, typeFloat32:
		return 4, true
	case typeUint64, typeInt64, typeFloat64:
		return 8, true
	default:
		return 0, false
	}
}

// alignment is what the offsets of tensors are multiples of, in bytes.
func (f *File) alignment() (int64, error) {
	if _, told := f.meta[alignmentKey]; !told {
		return alignment, nil
	}
	n, ok := f.Uint(alignmentKey)
	if !ok || n == 0 || n > maxAlignment || n&(n-1) != 0 {
		return 0, damaged("key %q must be a power of two of at most %d", alignmentKey, maxAlignment)
	}
	return int64(n), nil
}
