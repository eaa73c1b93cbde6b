package llama

import (
	"slices"
	"testing"
	"unsafe"
)

// llama.cpp finds them there.
func TestLayouts(t *testing.T) {
	var h head
	var b batch
	got := []uintptr{
		unsafe.Offsetof(h.Tokens), unsafe.Offsetof(h.Batch), unsafe.Offsetof(h.Microbatch), unsafe.Offsetof(h.Sequences),
		unsafe.Offsetof(b.Count), unsafe.Offsetof(b.Tokens), unsafe.Offsetof(b.Positions), unsafe.Offsetof(b.Counts),
		unsafe.Offsetof(b.Sequences), unsafe.Offsetof(b.Outputs), unsafe.Sizeof(b), unsafe.Sizeof(parameters{}),
	}
	want := []uintptr{0, 4, 8, 12, 0, 8, 24, 32, 40, 48, 128, parameterBytes}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestWithoutFlash(t *testing.T) {
	for name, test := range map[string]struct{ numbers, want []int32 }{
		"flash attention is automatic": {[]int32{512, 2048, 512, 1, -1, -1, -1, -1, 0, 7}, []int32{512, 2048, 512, 1, -1, -1, -1, 0, 0, 7}},
		"it is on or off":              {[]int32{512, 2048, 512, 1, -1, -1, -1, 0, 7}, []int32{512, 2048, 512, 1, -1, -1, -1, 0, 7}},
		"a layout that is not known":   {[]int32{512, 2048, 512, 1, -1, -1, -1, -1, -1, 7}, []int32{512, 2048, 512, 1, -1, -1, -1, -1, -1, 7}},
		"only the first run":           {[]int32{512, -1, 3, -1, -1, -1, -1, 7}, []int32{512, -1, 3, -1, -1, -1, -1, 7}},
	} {
		var p parameters
		numbers := unsafe.Slice((*int32)(unsafe.Pointer(&p)), parameterBytes/4)
		copy(numbers, test.numbers)
		p.withoutFlash()
		if got := numbers[:len(test.want)]; !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

// A text and what fills it up are two sequences, each with positions of its own.
func TestBatch(t *testing.T) {
	a := newArrays(8)
	defer a.pin.Unpin()
	b := a.batch([]int32{2, 133, 135, 3}, 3)
	if want := []int32{2, 133, 135, 3, 2, 2, 2, 0}; b.Count != 7 || !slices.Equal(a.tokens, want) {
		t.Errorf("%d tokens, %v, want 7 of %v", b.Count, a.tokens, want)
	}
	if want := []int32{0, 1, 2, 3, 0, 1, 2, 0}; !slices.Equal(a.positions, want) {
		t.Errorf("positions %v, want %v", a.positions, want)
	}
	var sequences []int32
	for _, owner := range a.owners[:7] {
		for i := range a.sequences {
			if owner == uintptr(unsafe.Pointer(&a.sequences[i])) {
				sequences = append(sequences, a.sequences[i])
			}
		}
	}
	if want := []int32{0, 0, 0, 0, 1, 1, 1}; !slices.Equal(sequences, want) {
		t.Errorf("sequences %v, want %v", sequences, want)
	}
	if slices.Contains(a.counts, 0) || slices.Contains(a.outputs, 0) {
		t.Errorf("counts %v and outputs %v, want no 0", a.counts, a.outputs)
	}
}
