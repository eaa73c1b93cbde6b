//go:build purego || !(amd64 || arm64)

package dot

const accelerated = false

func sumFloat32(a, b []float32) float32 { return plainFloat32(a, b) }

func sumInt8(a, b []int8) int32 { return plainInt8(a, b) }

func (s *strip) multiply() { panic("dot: strip.multiply requires assembly code") }

func widenFloat16(dst []float32, src []byte) { plainFloat16(dst, src) }

func widenQ8(dst []float32, src []byte) { plainQ8(dst, src) }

func softmax(x []float32) { plainSoftmax(x) }

func gelu(x []float32) { plainGELU(x) }
