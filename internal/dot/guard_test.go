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
