//go:build purego || !(amd64 || arm64)

package dot

const accelerated = false

func sumFloat32(a, b []float32) float32 { return plainFloat32(a, b) }

func sumInt8(a, b []int8) int32 { return plainInt8(a, b) }
