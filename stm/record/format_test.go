package record_test

import (
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"testing"

	"emberd/stm/record"
)

// The example in the package comment is what the encoders write.
func TestExampleOfASegment(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var comment strings.Builder // with its broken lines whole again
	for l := range strings.Lines(string(doc)) {
		comment.WriteString(strings.TrimSpace(strings.TrimPrefix(l, "//")))
	}
	at := func(text string) record.Stamp {
		s, err := record.ParseStamp(text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := record.MetaLine(record.OpSegment, at("0192f3a1b2c3-0000-k7q2mzxa"),
		record.Header{Dev: "k7q2mzxa", Segment: 42, First: 7, Format: 1, Created: "2024-11-03T12:00:00Z"})
	stamp := at("0192f3a1b2c3-0004-k7q2mzxa")
	line := record.Line{Seq: 7, Stamp: stamp, Op: record.OpSet, Tx: stamp, Verb: "edit",
		Changes: []record.Change{{Op: record.OpSet, ID: "0192f3a1-b2c3-7d4e-8f50-61728394a5b6",
			Data: []byte(`{"tags":["db"]}`)}}}
	second := line.Append(nil)
	sum := crc32.New(record.Castagnoli)
	for _, l := range [][]byte{first, second} {
		sum.Write(l[len(l)-len(`9f8e7d6c"}`)-1:][:8])
	}
	last := record.MetaLine(record.OpSeal, at("0192f3a1b2c3-0009-k7q2mzxa"),
		record.Seal{Count: 2, Last: 7, Sum: fmt.Sprintf("%08x", sum.Sum32())})
	for _, l := range [][]byte{first, second, last} {
		example := strings.TrimSuffix(string(l), "\n")
		if !strings.Contains(comment.String(), example) {
			t.Errorf("the package comment does not have\n%s", example)
		}
		if err := record.Verify([]byte(example)); err != nil {
			t.Errorf("%v in %s", err, example)
		}
	}
}
