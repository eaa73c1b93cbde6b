package dot

// plainFloat32 has four sums, so that an addition need not wait for the one before it.
func plainFloat32(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	for len(a) >= 4 && len(b) >= 4 {
		x, y := (*[4]float32)(a), (*[4]float32)(b)
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		a, b = a[4:], b[4:]
	}
	for i, x := range a {
		s0 += x * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

func plainInt8(a, b []int8) int32 {
	b = b[:len(a)]
	var sum int32
	for i, x := range a {
		sum += int32(x) * int32(b[i])
	}
	return sum
}

// plainProducts multiplies three rows with two at a time for the reason that strips do, as
// far as the compiler finds registers. At an edge, the last row stands in for those beyond
// it, so that every product is added up in the same way.
func plainProducts(dst, a, b Rows) {
	for i := 0; i < a.N; i += 3 {
		var three [3][]float32
		for k := range three {
			three[k] = a.Row(min(i+k, a.N-1))
		}
		for j := 0; j < b.N; j += 2 {
			next := min(j+1, b.N-1)
			withX, withY := plainSix(&three, b.Row(j), b.Row(next))
			for k := range min(3, a.N-i) {
				row := dst.Row(i + k)
				row[next], row[j] = withY[k], withX[k]
			}
		}
	}
}

// plainSix returns the products of three rows with x and with y.
func plainSix(rows *[3][]float32, x, y []float32) (withX, withY [3]float32) {
	n := len(x)
	a, b, c := rows[0][:n], rows[1][:n], rows[2][:n]
	y = y[:n]
	var ax, ay, bx, by, cx, cy float32
	for i, v := range x {
		w := y[i]
		ax += a[i] * v
		ay += a[i] * w
		bx += b[i] * v
		by += b[i] * w
		cx += c[i] * v
		cy += c[i] * w
	}
	return [3]float32{ax, bx, cx}, [3]float32{ay, by, cy}
}
