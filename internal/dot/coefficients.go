//go:build !purego && (amd64 || arm64)

package dot

// table has the coefficients of curves.go as assembly takes them, each as often as the widest
// register has lanes.
type table [14][lanes]float32

// coefficients never change. Their order is known to curves_amd64.s and curves_arm64.s.
var coefficients = table{
	each(-expLimit), each(expLimit), each(log2E), each(ln2High), each(ln2Low),
	each(expP0), each(expP1), each(expP2), each(expP3), each(expP4), each(expP5),
	each(1), each(geluLinear), each(geluCubic),
}

func each(v float32) (lane [lanes]float32) {
	for i := range lane {
		lane[i] = v
	}
	return lane
}
