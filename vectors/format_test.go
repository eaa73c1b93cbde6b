package vectors

import (
	"encoding/hex"
	"hash/crc32"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The example in the package comment is what the encoders write.
func TestExampleOfAFile(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(doc), "of the key 00 01 … 0f:")
	example, _, ended := strings.Cut(rest, "A file begins with a header")
	if !found || !ended {
		t.Fatal("the package comment has no example")
	}
	var digits strings.Builder
	for _, line := range regexp.MustCompile(`(?m)^//\t((?: *[0-9a-f]{2}\b)+)`).FindAllStringSubmatch(example, -1) {
		digits.WriteString(strings.ReplaceAll(line[1], " ", ""))
	}
	h := header{dim: 2, identity: "m", device: "a"}
	h.seed = crc32.Checksum(h.body(), castagnoli)
	var key Key
	for i := range key {
		key[i] = byte(i)
	}
	want := appendSynced(appendVector(h.encode(), h.seed, Entry{key, []float32{0.6, 0.8}}), h.seed)
	if digits.String() != hex.EncodeToString(want) {
		t.Errorf("the package comment has\n%s\nand a file is\n% x", digits.String(), want)
	}
}
