package backup

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"emberd/stm/content"
)

// The example in the package comment is what [Create] writes.
func TestExampleOfAManifest(t *testing.T) {
	source, err := os.ReadFile("backup.go")
	if err != nil {
		t.Fatal(err)
	}
	m := Manifest{Format: format, Emberd: "1.2.0", Created: time.Date(2024, 11, 3, 12, 0, 0, 0, time.UTC),
		Device: "k7q2mzxa", Seq: 7, Stamp: "0192f3a1b2c3-0004-k7q2mzxa", Memories: 1,
		Holds:      content.Summary{"active": {Memories: 1, Digest: "3b1f09c2"}},
		TrashSince: time.Date(2024, 10, 4, 12, 0, 0, 0, time.UTC),
		Files:      []File{{Name: "stm/k7q2mzxa/s-00000042.jsonl", Size: 512, SHA256: "5f70bf18"}}}
	text, err := json.MarshalIndent(m, "//\t", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if want := "//\t" + string(text) + "\n"; !strings.Contains(string(source), want) {
		t.Errorf("the package comment does not have\n%s", want)
	}
}
