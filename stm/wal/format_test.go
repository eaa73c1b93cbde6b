package wal

import (
	"os"
	"strings"
	"testing"
	"time"

	"emberd/stm/record"
)

// The examples beside the encoders are what these write.
func TestExamplesOfTheFiles(t *testing.T) {
	comment := func(file, line string) {
		t.Helper()
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(source), "//\t"+line) {
			t.Errorf("%s has no comment with\n%s", file, line)
		}
	}
	d := decision{Line: "5f70bf18…", Name: "s-00000042.jsonl@1234", Was: "dropped",
		At: time.Date(2024, 11, 3, 12, 0, 0, 0, time.UTC)}
	comment("quarantine.go", string(record.Encode(d))+"\n")
}
