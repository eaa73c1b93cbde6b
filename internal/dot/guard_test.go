//go:build unix

package dot

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"
)

// A read past the end of either slice, or before its beginning, ends this test's process.
func TestNothingBesideTheSlicesIsRead(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	before, after := guarded(t), guarded(t)
	for i := range before {
		before[i], after[i] = int8(random.Uint32()), int8(random.Uint32())
	}
	for n := range 301 {
		checkInt8(t, before[len(before)-n:], after[len(after)-n:])
		checkInt8(t, before[:n], after[:n])
	}
	fa, fb := asFloats(before), asFloats(after)
	for i := range fa {
		fa[i], fb[i] = float32(random.NormFloat64()), float32(random.NormFloat64())
	}
	for n := range 301 {
		checkFloat32(t, fa[len(fa)-n:], fb[len(fb)-n:])
		checkFloat32(t, fa[:n], fb[:n])
	}
	for n := 1; n <= 100; n++ {
		for at := range 2 { // the first elements, then the last ones
			a, b := Rows{fa[at*(len(fa)-3*n):][:3*n], 3, n, n}, Rows{fb[at*(len(fb)-5*n):][:5*n], 5, n, n}
			dst := Rows{make([]float32, 15), 3, 5, 5}
			Products(dst, a, b)
			checkNear(t, "the last product", dst.Data[14], a.Row(2), b.Row(4))
		}
	}
}

// So does a write.
func TestNothingBesideTheSlicesIsWritten(t *testing.T) {
	memory := asFloats(guarded(t))
	random := rand.New(rand.NewPCG(19, 20))
	bytes := make([]byte, 2*len(memory))
	for i := range bytes {
		bytes[i] = byte(random.Uint32())
	}
	for n := range 301 {
		for _, dst := range [][]float32{memory[:n], memory[len(memory)-n:]} {
			Float16(dst, bytes[len(bytes)-2*n:])
			for i := range dst {
				dst[i] = float32(i)
			}
			GELU(dst)
			Softmax(dst)
			if n%Q8Elements == 0 {
				Q8(dst, bytes[len(bytes)-n/Q8Elements*Q8Bytes:])
			}
			if n > 0 {
				Products(Rows{dst, 1, n, n}, rows(random, 1, 8, 0), rows(random, n, 8, 0))
				Products(Rows{dst, n, 1, 1}, rows(random, n, 8, 0), rows(random, 1, 8, 0))
			}
		}
	}
}

// guarded returns some pages between two that can be neither read nor written.
func guarded(t *testing.T) []int8 {
	t.Helper()
	page := syscall.Getpagesize()
	pages, err := syscall.Mmap(-1, 0, 4*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(pages); err != nil {
			t.Error(err)
		}
	})
	for _, guard := range [][]byte{pages[:page], pages[3*page:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	inside := pages[page : 3*page]
	return unsafe.Slice((*int8)(unsafe.Pointer(&inside[0])), len(inside))
}

func asFloats(bytes []int8) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(&bytes[0])), len(bytes)/4)
}
