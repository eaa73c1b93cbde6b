//go:build !arm64

package llama

import (
	"runtime"
	"unsafe"
)

// parameterBytes are on the stack of the function that is called, and this is the most that purego
// puts there. A function reads only the part that it knows of.
const parameterBytes = 208

// sizeReturned is how many bytes a function without arguments returns, to the next multiple
// of 8: those that are the same afterwards whatever was there before. It is called as the
// System V ABI has it for amd64, with the address to write to as a hidden argument.
func sizeReturned(function uintptr) int {
	var one, other [maxReturned]byte
	for i := range one {
		one[i], other[i] = 0xa5, 0x5a
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&one)
	pin.Pin(&other)
	call(function, uintptr(unsafe.Pointer(&one)))
	call(function, uintptr(unsafe.Pointer(&other)))
	for i := maxReturned; i > 0; i-- {
		if one[i-1] == other[i-1] {
			return (i + 7) / 8 * 8
		}
	}
	return 0
}
