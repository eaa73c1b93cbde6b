// Command model writes the embedding model of the homes beside it: weights drawn from a
// seed, of the smallest shape that tells texts apart by the words they share. From the root
// of the repository: go run ./testdata/homes/model testdata/homes/model.gguf
package main

import (
	"fmt"
	"os"

	"emberd/internal/tinybert"
)

func main() {
	shape := tinybert.Tiny()
	shape.Layers, shape.FeedForward, shape.Type = 1, 32, tinybert.Q8_0
	if err := tinybert.New(shape).WriteFile(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
