package model

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"emberd/internal/cli"
	"emberd/op"
)

// What people see of vectors, on a terminal of 80 columns.
func TestEmbeddedIsForPeople(t *testing.T) {
	res := &op.EmbedResult{Provider: "llama", Model: "minilm", Dim: 384, MaxTokens: 256, Tokens: []int{4, 300},
		Vectors:  [][]float32{{0.01906, 0.24115, -0.02762, 0, 1, 0.5, 0.25}, nil},
		Cosines:  [][]float64{{1, 0.6431}, {0.6431, 1}},
		Meanings: [][]float64{{1, 0.21}, {0.21, 1}}}
	var out strings.Builder
	s := cli.New()
	s.Stdout, s.Stderr, s.Screen = bufio.NewWriter(&out), io.Discard, cli.Screen{Width: 80}
	printEmbedded(s, []string{"car insurance", strings.Repeat("van ", 100)}, res)
	s.Stdout.Flush()
	want := `
model      minilm, by llama, 384 dimensions
text 1     car insurance
           4 tokens: +0.0191 +0.2412 -0.0276 +0.0000 +1.0000 +0.5000 …
text 2     van van van van van van van van van van van van van van van van van …
           300 tokens, 256 of them used: the model cannot embed the text

cosine          1      2
text 1      1.000  0.643
text 2      0.643  1.000

meaning         1      2
text 1      1.000  0.210
text 2      0.210  1.000
`
	if got := "\n" + out.String(); got != want {
		t.Errorf("got:%s\nwant:%s", got, want)
	}
}
