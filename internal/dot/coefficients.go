//go:build !purego && amd64

package dot

// coefficients are those of curves.go as assembly takes them, each as often as a register
// has lanes. They never change.
var coefficients = [...][8]float32{
	lanes(-expLimit), lanes(expLimit), lanes(log2E), lanes(ln2High), lanes(ln2Low),
	lanes(expP0), lanes(expP1), lanes(expP2), lanes(expP3), lanes(expP4), lanes(expP5),
	lanes(1), lanes(geluLinear), lanes(geluCubic),
}

func lanes(v float32) [8]float32 { return [8]float32{v, v, v, v, v, v, v, v} }
