package gguf_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"emberd/internal/gguf"
	"emberd/internal/tinybert"
)

// check is Preflight and a look at all numbers: the file is fine, or refused, and nothing else
// happens, and memory is only taken for what the file has.
func check(t *testing.T, path string) (sound bool) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	before := allocated()
	err = readAll(path)
	took, most := allocated()-before, uint64(1<<20+16*info.Size())
	if took > most {
		t.Errorf("%d bytes were taken for a file of %d, want %d at most", took, info.Size(), most)
	}
	if _, refused := errors.AsType[*gguf.RefusedError](err); err != nil && !refused {
		t.Errorf("got %v, want a file that is fine or refused", err)
	}
	return err == nil
}

// allocated is how many bytes this process has taken so far.
func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

func readAll(path string) error {
	facts, err := gguf.Preflight(path)
	if err != nil {
		return err
	}
	f, err := gguf.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, name := range []string{"token_embd.weight", "position_embd.weight", "token_embd_norm.bias"} {
		tensor, _ := f.Tensor(name)
		numbers, err := tensor.ReadFloat32()
		if err != nil {
			return err
		}
		if len(numbers) != tensor.Len() || len(numbers)%facts.Dim != 0 {
			return errors.New(name + " has more or fewer numbers than its shape")
		}
	}
	return nil
}

// headerSize is how many bytes of a file come before its tensors.
func headerSize(contents []byte, m *tinybert.Model) int {
	size := len(contents)
	for _, t := range m.Tensors {
		n := 4
		for _, d := range t.Dims {
			n *= d
		}
		if t.Type == tinybert.Q8_0 {
			n = n / 4 / 32 * 34
		}
		size -= (n + 31) / 32 * 32
	}
	return size
}

// A download may end anywhere.
func TestFilesThatAreCut(t *testing.T) {
	m := small()
	whole := contents(t, m)
	path := file(t, whole)
	head := headerSize(whole, m)
	for size := len(whole); size >= 0; size-- {
		if err := os.Truncate(path, int64(size)); err != nil {
			t.Fatal(err)
		}
		switch {
		case size > head && size%97 != 0 && size < len(whole)-64:
			continue // the data is one stretch
		case size < head && size%5 != 0:
			continue // strings and numbers are cut at each of their bytes somewhere
		}
		if sound, want := check(t, path), size == len(whole); sound != want {
			t.Fatalf("with %d of %d bytes: sound is %v, want %v", size, len(whole), sound, want)
		}
	}
}

// Bits of the header change: some changes are harmless, as in a name, and none does harm.
func TestHeadersWithFlippedBytes(t *testing.T) {
	const rounds = 600
	m := small()
	whole := contents(t, m)
	head := headerSize(whole, m)
	random := rand.New(rand.NewPCG(42, 9))
	path := file(t, whole)
	sound := 0
	for range rounds {
		changed := append([]byte(nil), whole...)
		for range 1 + random.IntN(4) {
			changed[random.IntN(head)] = byte(random.Uint32())
		}
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		if check(t, path) {
			sound++
		}
	}
	t.Logf("%d of %d changed headers were harmless, the others were refused", sound, rounds)
	if sound == 0 || sound == rounds {
		t.Errorf("%d of %d changed headers are sound: the test changes nothing, or everything", sound, rounds)
	}
}

// A length in place of every eight bytes of a header: none is taken at its word.
func TestHeadersWithHugeNumbers(t *testing.T) {
	m := small()
	whole := contents(t, m)
	path := file(t, whole)
	for _, huge := range []uint64{1 << 63, 1 << 40, 1<<26 - 1} {
		for at := 8; at+8 <= headerSize(whole, m); at += 29 {
			changed := append([]byte(nil), whole...)
			copy(changed[at:], header(nil).uint64(huge))
			if err := os.WriteFile(path, changed, 0o600); err != nil {
				t.Fatal(err)
			}
			check(t, path)
		}
	}
}
