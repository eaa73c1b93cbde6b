package embedding

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"emberd/internal/dedupe/similarity"
)

// Identity says whose vectors these are, and how to make more of them. It is stored
// beside the vectors, as JSON.
type Identity struct {
	Provider string `json:"provider"`
	// Model is what people call it: the name in its file or at its server.
	Model string `json:"model"`

	// SHA256 is of the model file, in hex. Of a server's model, which emberd cannot read,
	// it is of the first vector that it made of a text of ours; see Probe.
	SHA256 string `json:"sha256"`
	Path   string `json:"path,omitempty"`   // where the model file was
	Server string `json:"server,omitempty"` // the server's URL
	// Probe is that first vector of a server's model. The same model makes nearly the
	// same one again, on whatever processor.
	Probe []float32 `json:"probe,omitempty"`

	Pooling   string `json:"pooling,omitempty"` // mean or cls; "" where the server decides
	MaxTokens int    `json:"max_tokens"`        // of a text count, the beginning
	Dim       int    `json:"dim"`
	Prefix    string `json:"prefix,omitempty"`  // of passages
	Lexical   bool   `json:"lexical,omitempty"` // near is what is spelt alike

	// QueryPrefix is no part of what the vectors are, but of how they are asked for.
	QueryPrefix string `json:"query_prefix,omitempty"`
}

// Key is 16 hexadecimal digits that are the same for vectors that may be compared, and
// may name a folder. Neither the provider nor the place of the model counts, and nothing
// that concerns queries alone. All vectors have length one.
func (id Identity) Key() string {
	model := id.SHA256
	if id.Server != "" {
		model = "server " + strconv.Quote(id.Server) + strconv.Quote(id.Model) + id.SHA256
	}
	version := 1
	if id.Pooling != "" { // a model file, whose texts are cut into tokens otherwise since the second version
		version = 2
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "vectors %d\n%s\n%s\n%d\n%d\n%q\n", version, model, id.Pooling, id.MaxTokens,
		id.Dim, id.Prefix))
	return hex.EncodeToString(sum[:8])
}

// sameModel is the least cosine of two vectors that one model makes of one text on
// different processors and by different releases of a server: 0.9997 was measured for
// Q8_0 beside F32. Two models that were trained apart do not come near it.
const sameModel = 0.98

// cosine is 0 for vectors of different lengths.
func cosine(a, b []float32) float64 {
	near, _ := similarity.Cosine(a, b)
	return near
}

// normalize brings a vector to length one, and reports whether it can be: it holds
// finite numbers that are not all zero.
func normalize(v []float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(sum > 0) || math.IsInf(sum, 0) { // a NaN is not greater
		return false
	}
	scale := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
	return true
}
