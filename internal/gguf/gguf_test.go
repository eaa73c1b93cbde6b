package gguf_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/internal/gguf"
	"emberd/internal/tinybert"
)

func open(t *testing.T, path string) *gguf.File {
	t.Helper()
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func TestFactsOfTheTinyModel(t *testing.T) {
	contents := contents(t, tinybert.New(tinybert.Tiny()))
	got, err := gguf.Preflight(file(t, contents))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(contents)
	want := gguf.Facts{
		Architecture: "bert", Name: "tinybert", Tokenizer: "bert", Weights: gguf.F32, Pooling: gguf.Mean,
		Dim: 32, Layers: 2, Heads: 2, FeedForward: 64, Context: 128, Vocabulary: 197, TokenTypes: 2, Epsilon: 1e-12,
		Begin: 2, End: 3, Unknown: 1, Size: 116_864, SHA256: hex.EncodeToString(sum[:]),
	}
	if *got != want {
		t.Errorf("\n got %+v\nwant %+v", *got, want)
	}
}

func TestNamesAreFitToBeShown(t *testing.T) {
	for given, want := range map[string]string{
		"all-MiniLM-L6-v2":        "all-MiniLM-L6-v2",
		"\x1b[31mred\n\xff\u202e": "[31mred",
		strings.Repeat("é", 101):  strings.Repeat("é", 100),
		"":                        "",
	} {
		m := small()
		set(m, "general.name", given)
		facts, err := gguf.Preflight(file(t, contents(t, m)))
		if err != nil {
			t.Fatal(err)
		}
		if facts.Name != want {
			t.Errorf("%q: got %q, want %q", given, facts.Name, want)
		}
	}
}

func TestKeysOfEveryType(t *testing.T) {
	m := small()
	m.Meta = append(m.Meta, tinybert.Meta{Key: "uint64", Value: uint64(math.MaxUint64)}, tinybert.Meta{Key: "int32", Value: int32(7)},
		tinybert.Meta{Key: "negative", Value: int32(-7)}, tinybert.Meta{Key: "true", Value: true}, tinybert.Meta{Key: "no words", Value: []string{}})
	f := open(t, file(t, contents(t, m)))

	if got, ok := f.String("general.name"); got != "tinybert" || !ok {
		t.Errorf("string: got %q, %v", got, ok)
	}
	for key, want := range map[string]uint64{"uint64": math.MaxUint64, "int32": 7, "bert.block_count": 2} {
		if got, ok := f.Uint(key); got != want || !ok {
			t.Errorf("%s: got %d, %v, want %d", key, got, ok, want)
		}
	}
	if got, ok := f.Float("bert.attention.layer_norm_epsilon"); float32(got) != 1e-12 || !ok {
		t.Errorf("float: got %g, %v", got, ok)
	}
	if got, ok := f.Bool("true"); !got || !ok {
		t.Errorf("bool: got %v, %v", got, ok)
	}
	if got, ok := f.Strings("tokenizer.ggml.tokens"); !slices.Equal(got, tinybert.Tokens()) || !ok {
		t.Errorf("strings: got %q, %v", got, ok)
	}
	if got, ok := f.Strings("no words"); len(got) != 0 || !ok {
		t.Errorf("no strings: got %q, %v", got, ok)
	}
}

// A key that is missing or of another type has no value, and so does a negative number.
func TestKeysThatAreNotThere(t *testing.T) {
	m := small()
	set(m, "negative", int32(-7))
	f := open(t, file(t, contents(t, m)))
	if _, ok := f.String("bert.block_count"); ok {
		t.Error("a number is a string")
	}
	if _, ok := f.Uint("general.name"); ok {
		t.Error("a string is a number")
	}
	if _, ok := f.Uint("negative"); ok {
		t.Error("a negative number is a Uint")
	}
	if _, ok := f.Float("missing"); ok {
		t.Error("a missing key is a float")
	}
	if _, ok := f.Bool("missing"); ok {
		t.Error("a missing key is a bool")
	}
	if _, ok := f.Strings("tokenizer.ggml.token_type"); ok {
		t.Error("numbers are strings")
	}
	if _, ok := f.Tensor("missing"); ok {
		t.Error("a missing tensor is there")
	}
}

// What a tensor is read as is what it was made of, but for what its type rounds away.
func TestTensorsAreReadAsTheyWereWritten(t *testing.T) {
	for _, test := range []struct {
		as      tinybert.Type
		is      gguf.Type
		rounded float64 // share of the largest number of a block
		bytes   int
	}{
		{tinybert.F32, gguf.F32, 0, 197 * 32 * 4},
		{tinybert.F16, gguf.F16, 1.0 / 2048, 197 * 32 * 2},
		{tinybert.Q8_0, gguf.Q8_0, 0.5/127 + 1.0/2048, 197 * 34},
	} {
		spec := tinybert.Tiny()
		spec.Type = test.as
		m := tinybert.New(spec)
		got, ok := open(t, file(t, contents(t, m))).Tensor("token_embd.weight")
		if !ok || got.Type != test.is || got.Size != test.bytes || !slices.Equal(got.Dims, []int{32, 197}) {
			t.Fatalf("%v: got %+v", test.is, got)
		}
		numbers, err := got.ReadFloat32()
		if err != nil {
			t.Fatal(err)
		}
		wantNear(t, test.is, numbers, tensor(m, "token_embd.weight").Value, test.rounded)
	}
}

// wantNear compares numbers in blocks of 32.
func wantNear(t *testing.T, as gguf.Type, numbers []float32, want func(int) float32, rounded float64) {
	t.Helper()
	for from := 0; from < len(numbers); from += 32 {
		var most float64
		for i := from; i < from+32; i++ {
			most = max(most, math.Abs(float64(want(i))))
		}
		for i := from; i < from+32; i++ {
			if off := math.Abs(float64(numbers[i] - want(i))); off > most*rounded {
				t.Fatalf("%v: number %d is %g, want %g but for %g", as, i, numbers[i], want(i), most*rounded)
			}
		}
	}
}

func TestRawTensorsAreTheBytesOfTheFile(t *testing.T) {
	m := small()
	embedding, _ := open(t, file(t, contents(t, m))).Tensor("token_embd.weight")
	raw, err := embedding.ReadRaw()
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) != embedding.Size || !bytes.Contains(contents(t, m), raw) {
		t.Errorf("got %d bytes that are not those of the file", len(raw))
	}
}

// alone is a file with one tensor of that type, with those bytes.
func alone(t *testing.T, as gguf.Type, numbers int, raw []byte) gguf.Tensor {
	t.Helper()
	h := tensors(1).string("a").uint32(1).uint64(uint64(numbers)).uint32(uint32(as)).uint64(0)
	h = append(h.room((32-len(h)%32)%32), raw...)
	tensor, ok := open(t, file(t, h)).Tensor("a")
	if !ok {
		t.Fatal("the tensor is not there")
	}
	return tensor
}

// Every number that 16 bits stand for, by the definition of IEEE 754.
func TestF16(t *testing.T) {
	var raw header
	for bits := range uint32(1 << 16) {
		raw = append(raw, byte(bits), byte(bits>>8))
	}
	numbers, err := alone(t, gguf.F16, 1<<16, raw).ReadFloat32()
	if err != nil {
		t.Fatal(err)
	}
	for bits, got := range numbers {
		exponent, fraction := bits>>10&31, float64(bits&1023)
		want := math.Ldexp(1024+fraction, exponent-25)
		switch {
		case exponent == 0:
			want = math.Ldexp(fraction, -24)
		case exponent == 31 && fraction == 0:
			want = math.Inf(1)
		case exponent == 31:
			want = math.NaN()
		}
		if bits>>15 == 1 {
			want = math.Copysign(want, -1)
		}
		if math.Float64bits(float64(got)) != math.Float64bits(want) && !(math.IsNaN(want) && got != got) {
			t.Errorf("%04x: got %g, want %g", bits, got, want)
		}
	}
}

func TestQ8(t *testing.T) {
	raw := []byte{0x00, 0xc0} // a scale of -2
	for i := range 32 {
		raw = append(raw, byte(i*8-128)) // -128, -120 … 120
	}
	numbers, err := alone(t, gguf.Q8_0, 32, raw).ReadFloat32()
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range numbers {
		if want := -2 * float32(i*8-128); got != want {
			t.Errorf("number %d: got %g, want %g", i, got, want)
		}
	}
}

// The other types can be measured, and so checked, but not read as numbers.
func TestTypesThatAreNotRead(t *testing.T) {
	got := alone(t, 12, 256, make([]byte, 144))
	if got.Size != 144 || got.Type.String() != "Q4_K" {
		t.Fatalf("got %+v, want 144 bytes of Q4_K", got)
	}
	_, err := got.ReadFloat32()
	const want = `: tensor "a" has the type Q4_K; only F32, F16 and Q8_0 are supported; use the file of this model in the format Q8_0, F16 or F32`
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
}

func TestAlignmentThatTheFileTells(t *testing.T) {
	for _, align := range []uint32{8, 32, 64, 4096} {
		m := small()
		set(m, "general.alignment", align)
		f := open(t, file(t, contents(t, m)))
		if _, err := f.BERT(); err != nil {
			t.Error(err)
		}
		ones, _ := f.Tensor("token_embd_norm.weight")
		if numbers, err := ones.ReadFloat32(); err != nil || numbers[0] != 1 || numbers[31] != 1 {
			t.Errorf("alignment %d: got %v, %v, want ones", align, numbers, err)
		}
	}
}

func TestVersion2IsReadAsVersion3(t *testing.T) {
	b := contents(t, small())
	b[4] = 2
	if _, err := gguf.Preflight(file(t, b)); err != nil {
		t.Error(err)
	}
}

func TestFilesThatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	if _, err := gguf.Open(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: got %v, want fs.ErrNotExist", err)
	}
	for _, path := range []string{dir, os.DevNull} {
		wantRefused(t, path, "not a regular file; use the path of the model file")
	}
}

// A file that is cut or closed while it is in use is an error where a mapping would kill.
func TestFilesThatAreCutWhileInUse(t *testing.T) {
	data := contents(t, small())
	path := file(t, data)
	f := open(t, path)
	last, _ := f.Tensor("blk.1.layer_output_norm.bias")
	if err := os.Truncate(path, int64(len(data))-1); err != nil {
		t.Fatal(err)
	}
	const cut = `the file was truncated inside tensor "blk.1.layer_output_norm.bias" while emberd used the file; download the file again`
	if _, err := last.ReadFloat32(); err == nil || err.Error() != "model file "+path+": "+cut {
		t.Errorf("numbers: got %v, want %s", err, cut)
	}
	if _, err := last.ReadRaw(); err == nil || err.Error() != "model file "+path+": "+cut {
		t.Errorf("bytes: got %v, want %s", err, cut)
	}
	if _, err := f.SHA256(); err == nil {
		t.Error("a file that was cut has a digest")
	}
}

func TestClosedFiles(t *testing.T) {
	f, err := gguf.Open(file(t, contents(t, small())))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	first, _ := f.Tensor("token_embd.weight")
	if _, err := first.ReadRaw(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("got %v, want fs.ErrClosed", err)
	}
}
