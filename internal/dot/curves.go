package dot

import "math"

// Softmax makes of x its exponentials' shares in their sum, which is 1 then. An element
// more than 80 below the largest gets the share of one that is 80 below it, some 1e-35.
// With a NaN or +Inf in it, all of x becomes NaN. It is fastest when 8 divides the length.
func Softmax(x []float32) {
	if len(x) > 0 {
		softmax(x)
	}
}

// GELU replaces each element by x * Phi(x), in the form with tanh that BERT models are
// run with (Hendrycks and Gimpel, "Gaussian Error Linear Units", section 2):
// x/2 * (1 + tanh(u)) with u = sqrt(2/pi) * (x + 0.044715*x^3), here as x / (1 + e^-2u).
// It is fastest when 8 divides the length.
func GELU(x []float32) {
	gelu(x)
}

func plainSoftmax(x []float32) {
	largest := float32(math.Inf(-1))
	for _, v := range x {
		largest = max(largest, v)
	}
	var sum float32
	for i, v := range x {
		x[i] = exp(v - largest)
		sum += x[i]
	}
	share := 1 / sum
	for i := range x {
		x[i] *= share
	}
}

func plainGELU(x []float32) {
	for i, v := range x {
		x[i] = v / (1 + exp(v*(geluLinear+geluCubic*(v*v))))
	}
}

// The two terms of -2u.
const (
	geluLinear = -2 * math.Sqrt2 / sqrtPi
	geluCubic  = 0.044715 * geluLinear
	sqrtPi     = 1.772453850905516027298167483341145182798
)

// The coefficients of exp are those of expf in Cephes (Moshier, "Methods and Programs for
// Mathematical Functions", 1989): ln 2 in two parts, of which the first has few enough
// bits for its multiples to be exact, and a polynomial for (e^r-1-r)/r^2.
const (
	expLimit = 80
	log2E    = 1.44269504088896341
	ln2High  = 0.693359375
	ln2Low   = -2.12194440e-4
	expP0    = 1.9875691500e-4
	expP1    = 1.3981999507e-3
	expP2    = 8.3334519073e-3
	expP3    = 4.1665795894e-2
	expP4    = 1.6666665459e-1
	expP5    = 5.0000001201e-1
)

// exp is e^x within 3e-7 of itself, of x kept between -80 and 80: results and their
// inverses stay far from what processors are slow with, numbers of fewer than 24 bits.
func exp(x float32) float32 {
	if x != x {
		return x
	}
	x = min(max(x, -expLimit), expLimit)
	n := float32(math.RoundToEven(float64(x * log2E)))
	r := x - n*ln2High - n*ln2Low
	p := ((((expP0*r+expP1)*r+expP2)*r+expP3)*r+expP4)*r + expP5
	return (p*(r*r) + r + 1) * math.Float32frombits(uint32(int32(n)+127)<<23)
}
