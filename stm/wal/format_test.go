package wal

import (
	"bytes"
	"encoding/hex"
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
	data, state := t.TempDir(), t.TempDir()
	o := (*Options)(nil).WithDefaults()
	l, _, err := OpenLog(data, state, &o)
	if err != nil {
		t.Fatal(err)
	}
	l.Start()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(l.SnapshotPath())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sealed(b); err != nil {
		t.Error(err)
	}
	spaced := func(b []byte) string {
		var digits []string
		for _, c := range b {
			digits = append(digits, hex.EncodeToString([]byte{c}))
		}
		return strings.Join(digits, " ")
	}
	comment("snapshot.go", spaced(b[:8])+"  "+spaced(b[8:9])+"  …")
	e := record.Encoder{B: []byte{}}
	e.Text(l.Words.Analyzer.Identity())
	e.Text(l.Device.String())
	if !bytes.HasPrefix(b[9:], e.B) {
		t.Errorf("a snapshot has % x behind its version, want % x", b[9:60], e.B)
	}
	e.B = nil
	e.Text("k7q2mzxa")
	comment("snapshot.go", spaced(e.B)+" ")
}
