package device_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"emberd/stm/device"
	"emberd/stm/record"
)

// The examples in the package comment are what the encoders write.
func TestExamplesOfTheFiles(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{
		&device.Identity{ID: "k7q2mzxa", Machine: "0", Data: 7, Segment: 42,
			Heads: map[uint32]string{42: "0192f3a1b2c3-0000-k7q2mzxa"}},
		&device.Peer{Device: "k7q2mzxa", Name: "laptop", Format: record.FormatVersion,
			At: time.Date(2024, 11, 3, 12, 0, 0, 0, time.UTC), Last: 7, Seen: map[string]uint64{"b3k9w2pq": 12}},
	} {
		if line := "//\t" + string(record.Encode(v)) + "\n"; !strings.Contains(string(doc), line) {
			t.Errorf("the package comment does not have %s", line)
		}
	}
}
