//go:build !purego && amd64

package dot

// coefficients are those of curves.go as assembly takes them, each as often as a register
// has lanes. They never change.
var coefficients = [...][8]float32{
	eight(-expLimit), eight(expLimit), eight(log2E), eight(ln2High), eight(ln2Low),
	eight(expP0), eight(expP1), eight(expP2), eight(expP3), eight(expP4), eight(expP5),
	eight(1), eight(geluLinear), eight(geluCubic),
}

func eight(v float32) [8]float32 { return [8]float32{v, v, v, v, v, v, v, v} }
