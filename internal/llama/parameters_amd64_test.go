//go:build linux || darwin

package llama

import "testing"

// Whatever a function returns into memory of its caller is measured, to the next multiple
// of 8, and may be as much as can be passed on.
func TestSizeReturned(t *testing.T) {
	for _, test := range []struct {
		bytes, want int
		fits        bool
	}{
		{72, 72, true}, {157, 160, true}, {parameterBytes, parameterBytes, true}, {parameterBytes + 1, parameterBytes + 8, false}, {maxReturned, maxReturned, false},
	} {
		function := callback(func(to *[maxReturned]byte) uintptr {
			for i := range test.bytes {
				to[i] = byte(i)
			}
			return 0
		})
		got := sizeReturned(function)
		if got != test.want {
			t.Errorf("a function that returns %d bytes: got %d, want %d", test.bytes, got, test.want)
		}
		if err := passable("it", got); (err == nil) != test.fits {
			t.Errorf("%d bytes: got %v, want it to fit: %v", got, err, test.fits)
		}
	}
}
