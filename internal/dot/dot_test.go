package dot

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestFloat32AtEveryLengthAndAlignment(t *testing.T) {
	t.Logf("assembly in use: %t", accelerated)
	random := rand.New(rand.NewPCG(1, 2))
	a, b := float32s(random, 320), float32s(random, 320)
	for n := range 301 {
		for offset := range 8 {
			checkFloat32(t, a[offset:offset+n], b[(5*offset)%8:][:n])
		}
	}
}

func TestFloat32KeepsItsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(rapid.Float32Range(-1e15, 1e15), 0, 2000).Draw(t, "a")
		b := rapid.SliceOfN(rapid.Float32Range(-1e15, 1e15), len(a), len(a)).Draw(t, "b")
		checkFloat32(t, a, b)
	})
}

// What is not finite does not get lost, wherever it is.
func TestFloat32PassesOnWhatIsNotFinite(t *testing.T) {
	for n := 1; n <= 70; n++ {
		for at := range n {
			a, b := make([]float32, n), make([]float32, n)
			for i := range a {
				a[i], b[i] = 1, 1
			}
			a[at] = float32(math.NaN())
			for name, got := range bothFloat32(a, b) {
				if got == got {
					t.Fatalf("%s of %d ones with a NaN at %d = %v, want NaN", name, n, at, got)
				}
			}
			a[at] = float32(math.Inf(-1))
			for name, got := range bothFloat32(a, b) {
				if !math.IsInf(float64(got), -1) {
					t.Fatalf("%s of %d ones with -Inf at %d = %v, want -Inf", name, n, at, got)
				}
			}
		}
	}
}

func TestInt8AtEveryLengthAndAlignment(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	a, b := int8s(random, 400), int8s(random, 400)
	for n := range 301 {
		for offset := range 64 {
			checkInt8(t, a[offset:offset+n], b[(11*offset)%64:][:n])
		}
	}
}

// Every product at its largest, up to the length that is promised to be exact and beyond.
func TestInt8AtTheExtremes(t *testing.T) {
	const exact = 131_071
	for _, v := range [][2]int8{{-128, -128}, {-128, 127}, {127, 127}, {-1, -128}} {
		for _, n := range []int{64, 1024, exact, exact + 1, 1 << 20} {
			a, b := make([]int8, n), make([]int8, n)
			for i := range a {
				a[i], b[i] = v[0], v[1]
			}
			checkInt8(t, a, b)
			want := int64(n) * int64(v[0]) * int64(v[1])
			if got := Int8(a, b); n <= exact && int64(got) != want {
				t.Errorf("Int8 of %d times %d*%d = %d, want %d", n, v[0], v[1], got, want)
			}
		}
	}
}

func TestAShorterSecondSliceIsRefused(t *testing.T) {
	for name, call := range map[string]func(){
		"Float32": func() { Float32(make([]float32, 9), make([]float32, 8, 16)) },
		"Int8":    func() { Int8(make([]int8, 9), make([]int8, 8, 16)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s took 9 elements of a slice of 8", name)
				}
			}()
			call()
		}()
	}
}

func FuzzInt8(f *testing.F) {
	f.Add([]byte{0x80, 0x80, 0x7f, 0x80, 1, 2}, uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, offset uint8) {
		values := make([]int8, len(data))
		for i, c := range data {
			values[i] = int8(c)
		}
		values = values[min(int(offset), len(values)):]
		half := len(values) / 2
		checkInt8(t, values[:half], values[half:])
	})
}

func FuzzFloat32(f *testing.F) {
	f.Add([]byte{0x80, 0x80, 0x7f, 0x80, 1, 2}, uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, offset uint8) {
		values := make([]float32, len(data)/2)
		for i := range values { // 16 bits spread over signs and sizes that cannot overflow
			values[i] = float32(math.Ldexp(float64(int8(data[2*i])), int(int8(data[2*i+1]))/4))
		}
		values = values[min(int(offset), len(values)):]
		half := len(values) / 2
		checkFloat32(t, values[:half], values[half:2*half])
	})
}

func bothFloat32(a, b []float32) map[string]float32 {
	return map[string]float32{"Float32": Float32(a, b), "plainFloat32": plainFloat32(a, b)}
}

// fataler is what tests, fuzz targets and rapid have in common.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkFloat32 compares both ways to compute with float64, whose own error is 2^29 times
// smaller than the bound.
func checkFloat32(t fataler, a, b []float32) {
	t.Helper()
	var exact, size float64
	for i := range a {
		exact += float64(a[i]) * float64(b[i])
		size += math.Abs(float64(a[i]) * float64(b[i]))
	}
	const tiny = 0x1p-149 // what a product may lose when it is too small for 24 bits
	bound := gamma(len(a))*size + float64(len(a))*tiny
	for name, got := range bothFloat32(a, b) {
		if diff := math.Abs(float64(got) - exact); !(diff <= bound) {
			t.Fatalf("%s of %d elements = %v, want %v within %g, is off by %g", name, len(a), got, exact, bound, diff)
		}
	}
	elsewhere := append(make([]float32, 1, 1+len(a)), a...)[1:]
	if got, want := Float32(elsewhere, b), Float32(a, b); got != want {
		t.Fatalf("Float32 of the same %d elements elsewhere = %v, want %v", len(a), got, want)
	}
}

// gamma is the bound of the package's doc.
func gamma(n int) float64 {
	nu := float64(n) * 0x1p-24
	return nu / (1 - nu)
}

func checkInt8(t fataler, a, b []int8) {
	t.Helper()
	var exact int64
	for i := range a {
		exact += int64(a[i]) * int64(b[i])
	}
	if got := plainInt8(a, b); got != int32(exact) {
		t.Fatalf("plainInt8 of %d elements = %d, want %d", len(a), got, int32(exact))
	}
	if got := Int8(a, b); got != int32(exact) {
		t.Fatalf("Int8 of %d elements = %d, want %d", len(a), got, int32(exact))
	}
}

func float32s(random *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(random.NormFloat64())
	}
	return v
}

func int8s(random *rand.Rand, n int) []int8 {
	v := make([]int8, n)
	for i := range v {
		v[i] = int8(random.Uint32())
	}
	return v
}
